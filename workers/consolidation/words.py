"""Words that decide whether two statements say the same, in both languages.

English words count as stems, as `index.tokenize.stem` gives them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from index.tokenize import stem


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in text.split())


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.VERBOSE | re.IGNORECASE)


FUNCTION_WORDS = _stems("""
a an the and or but so if then than that this these those there here it its i me my we us our you
your he him his she her they them their who whom whose which what when where why how is am are was
were be been being do does did done have has had having will would shall can could may might must
should ought of to in on at by for with from into onto over under about as up out off per via
also too very just only really quite much more most less least such same other some any each every
all both either neither own yes please let lets
""")

LIGHT = _stems("""
use used using choose chose chosen pick picked go going went decide decided decision agree agreed
settle settled adopt adopted take took make made get got want prefer preferred preference like keep
kept set put run stay need always usually generally normally basically simply finally now today
currently again already still time way thing thank ok okay well good sure fine project team rule
principle policy choice let let's say said mean think believe know note remember everyone everybody
使 使用 利用 採用 選 選択 決 決定 決断 方針 今後 今 今日 時 事 方 物 為 必要 思 考 言 話 私 僕 俺
自分 我々 基本 基本的 結局 最終的 毎回 常 全部 進 件 形 上 中 内 行 出 置 持 付 当面 原則
主義 好 好き 感
ルール コト モノ 達 結論 最近 現在 現状 以上 以下 未満 以内 予 場合 主 皆 一応 改 再度 再 守 派 変
""")
"""Carry no fact of their own: two statements may differ in them."""

NEGATING = _stems("""
no not never none nobody nothing cannot without avoid stop stopped refuse forbidden prohibited
banned unnecessary nor neither don't doesn't won't can't isn't longer anymore instead rather because
since reason
禁止 不要 止 廃止 撤廃 中止 不可 避 嫌 無 代 理由 変更 切 替 移行 辞
""")
"""Counted by `NEGATION`, or as a change or a reason; no content words."""

_SYNONYMS = """
db:database config:configuration repo:repository prs:pr docs:documentation env:environment
prod:production dev:development auth:authentication dependencies:dependency deployment:deploy
licence:license written:write wrote:write taken:take postgres:postgresql k8s:kubernetes
colour:color プルリク:pr プルリクエスト:pr データベース:database ドキュメント:文書 書類:文書
サーバー:サーバ ユーザー:ユーザ デプロイメント:デプロイ
"""
SYNONYMS: Mapping[str, str] = {
    stem(one): stem(other) for one, _, other in (pair.partition(":") for pair in _SYNONYMS.split())
}

_COUNTED = "zero one two three four five six seven eight nine ten eleven twelve"
NUMBER_WORDS: Mapping[str, str] = {
    **{stem(word): str(value) for value, word in enumerate(_COUNTED.split())},
    stem("once"): "1",
    stem("twice"): "2",
    stem("hundred"): "100",
    stem("thousand"): "1000",
}

_OPPOSITES = """
allow permit | forbid prohibit ban disallow
enable on | disable off
before | after
increase grow rise | decrease shrink drop fall
morning | evening night afternoon
start begin | stop end quit
open | close
fast quick | slow
safe | unsafe dangerous
include | exclude
add | remove delete
upgrade | downgrade
accept approve | reject refuse decline
public | private internal
early | late
first | last
high | low
sync synchronous | async
manual manually | automatic automatically
tabs | spaces
like | dislike
internal | external
large big long | small short
success | failure
possible | impossible
light | dark
read | write
work | fail break
mandatory required | optional
許可 | 禁止 不可
有効 | 無効
前 | 後
増 | 減
朝 | 夜 夕方 晩 夕
開始 始 | 停止 終了 終 止
追加 足 | 削除 消
可能 | 不可能
賛成 | 反対
公開 | 非公開
手動 | 自動
必須 | 任意
同期 | 非同期
早 速 | 遅
多 | 少
高 | 低 安
午前 | 午後
内部 社内 | 外部 社外
承認 | 却下 拒否
成功 | 失敗
大 | 小
長 | 短
得意 | 苦手
静的 | 動的
安全 | 危険
読 | 書
"""
OPPOSITES: tuple[tuple[frozenset[str], frozenset[str]], ...] = tuple(
    (_stems(one), _stems(other))
    for one, _, other in (line.partition("|") for line in _OPPOSITES.strip().splitlines())
)

QUALIFIERS = _stems(
    "public private internal external large small 公開 非公開 内部 外部 社内 社外 大 小"
)
"""Tell one thing from another more often than they say something of it."""

DONE = _stems("""
done finished complete completed ship shipped resolved fixed live
完了 終 済 解決 直 公開済 リリース済 稼働 完成
""")
PENDING = _stems("""
wait waiting waits pending blocked todo planned ongoing started starting stuck paused delayed
待 停止 未着手 未完了 進行中 着手 保留 途中 止 予定 遅延 対応中 中断
""")

NEGATION = _pattern(r"""
    \b(?:not|never|no|none|nobody|nothing|cannot|without|avoid|stop|stopped|refuse|neither|nor)\b
  | n't\b | \b(?:forbidden|prohibited|banned|unnecessary)\b
  | (?<!少)(?<!危)(?<!汚)(?<!幼)(?<!しょうが)(?<!仕方)(?:ない|なく|なかっ)
        (?!て(?:は|も)?(?:いけ|なら))
  | ません | (?<=[わかしさえけせてねべれらりいきちみ])ず(?=に|、|。|$) | ぬよう | まい(?:。|$)
  | 禁止|不要|やめ|止め|廃止|撤廃|中止|不可|嫌|避け|なしで|無しで
""")
NOT_NEGATION = _pattern(r"""
    なければ(?:なら|いけ)(?:ない|ません) | なくては?(?:なら|いけ)ない
  | ないと(?:いけ|だめ|ダメ|駄目|なら)(?:ない|ません)?
  | しかない|かもしれない|かもしれません|に違いない|間違いない|問題ない|ほかない|他ない|ざるを得ない
  | ではなくて?|じゃなくて?|(?:の)?代わりに
  | \b(?:not\sonly|no\sdoubt|no\sproblem|why\snot|not\sbad|instead\sof|rather\sthan
       |no\slater\sthan|no\smore\sthan)\b
""")
"""Look like a negation and are none."""

CHANGE = _pattern(r"""
    \b(?:no\slonger|any\s?more|instead\sof|rather\sthan|switch(?:ed|ing)?|migrat(?:e|ed|ing)
       |mov(?:e|ed|ing)\s(?:\w+\s){0,4}?(?:from|to|off|away)|replac(?:e|ed|ing|es)
       |chang(?:e|ed|ing)|from\snow\son|revert(?:ed|ing)?|drop(?:ped|ping)?|abandon(?:ed)?
       |gave\sup|given\sup|turn(?:s|ed)\sout|actually|in\sthe\send|new\srule|after\sall|used\sto
       |as\sof\s|superseded?|deprecat\w+|rais(?:e|ed)|lower(?:ed)?|increas(?:e|ed)|reduc(?:e|ed)
       |now)\b
  | ではなく|じゃなく|代わりに|をやめ|はやめ|やめて|やめた|やめる|変更|変える|変えた|に変わ|切り替え
  | 移行|置き換え|乗り換え|これから|今後|今日から|今回から|来月から|来週から|もう|やっぱり?|結局
  | 撤回|見直|改め|廃止|戻す|戻した|戻し|引き上げ|引き下げ|延期|前倒し|延び
  | になった|になりました|実は|に統一
""")

DROPPED = _pattern(r"""
    \b(?:from|instead\sof|rather\sthan|no\slonger(?:\s\w+)?|over|off|away\sfrom
       |replac(?:e|ed|es|ing)|drop(?:ped|ping)?|abandon(?:ed)?|left|stopped\s\w+|not
       |used\sto\s(?:\w+\s){0,2}?)\s(?:the\s|our\s|a\s|using\s)?(?P<en>[\w.+#-]+)
  | (?P<ja>[一-龥々ァ-ヶーA-Za-z0-9.+#-]+)
        (?:ではなく|じゃなく|の代わりに|をやめ|はやめ|から(?=[^。]{0,20}?(?:へ|に))
          |を(?:廃止|捨て|外し))
""")

REASON = _pattern(r"""
    (?:^|[\s,;])(?:because|since|as\sit|so\sthat|due\sto|thanks\sto|the\sreason|reason:
                  |in\sorder\sto)\b
  | (?:理由は|なぜなら|というのも)
""")
REASON_END = _pattern(r"""
    (?:ので|ため|ために|からだ|からです|から|が理由だ?|が理由です|理由から)(?:[、。]|$)
""")

AFFIRMING = _stems("allow allowed permit permitted 許可 有効 可")
"""Say yes: what a denial of the same has no word for."""

REQUIRED = _pattern(r"""
    \b(?:must|always|required|mandatory|have\sto|has\sto)\b
  | 必ず|必須|べき|なければ|ねばならない|絶対
""")
OPTIONAL = _pattern(r"""
    \b(?:(?-i:may)|might|could|optional|optionally|sometimes|if\syou\slike)\b
  | 任意|てもよい|てもいい|ても構わない|可能|時々|たまに|かもしれない
""")
CONDITION = _pattern(r"""
    \b(?:only|except|unless|at\sleast|at\smost|up\sto|until|if|when)\b
  | だけ|のみ|以外|以上|以下|未満|まで|限り|なら(?!な)|場合|とき|時は
""")
"""Conditions and bounds: statements that differ in them are not the same."""

CHOOSING = _stems("use using used choose chose chosen pick picked adopt adopted prefer take")
CHOOSING_PHRASE = _pattern(r"""
    \b(?:go(?:ing)?|went)\swith\s
  | \b(?:switch|switched|moved?|migrated?)\s(?:\w+\s){0,3}?to\s
""")
CHOSEN_JA = _pattern(r"""
    に(?:する|した|しよう|します|しました|決|統一|変更|切り替|移行|置き換|戻)
  | を(?:使|採用|選|推) | で(?:行|いく|いこう)
""")

ADJUSTING = _stems("""
raise raised lower lowered increase increased reduce reduced extend extended cut change changed move
moved update updated postpone postponed delayed new
変更 引上 引下 延長 短縮 延期 前倒 延 変 新 引 増 減 更新
""")
"""Say that a value was changed, not what it is."""

NAMING = _pattern(r"""
    (?:第|号|版|バージョン|ステップ|フェーズ|ノード|ポート|\#
      |\b(?:build|version|v|ticket|issue|pr|step|phase|sprint|chapter|part|room|port|q|week|node
         |server|host|shard|level|release|line|error|http|python|java|android|ios|windows
         |ubuntu)[ -]?)\Z
""")
"""What stands before a number that is a name and no value."""

PREPOSITIONS = frozenset(
    [
        "for",
        "to",
        "from",
        "with",
        "in",
        "on",
        "at",
        "by",
        "than",
        "before",
        "after",
        "of",
        "into",
        "as",
        "over",
        "against",
        "behind",
        "via",
    ]
)
ARTICLES = frozenset(
    [
        "the",
        "a",
        "an",
        "our",
        "my",
        "your",
        "its",
        "this",
        "that",
        "new",
        "old",
        "all",
        "each",
        "every",
    ]
)
TELLING_ROLES = frozenset(
    ["from", "before", "after", "without", "against", "than", "から", "より", "まで"]
)
"""Prepositions and particles that make another statement where only one of two has them."""

"""Which words announce which kind of insight, in Japanese and English.

Every list is a plain alternation of short, bounded pieces: matching is linear. `STRONG` cues name
the kind outright, `WEAK` ones only suggest it and are asked after all strong ones.
"""

from __future__ import annotations

import re

from context_engine.insights import Kind

_I = re.IGNORECASE | re.VERBOSE

_DECISION_STRONG = r"""
    \b(?:decided|agreed|settled|opted|resolved)\s(?:to|on|for|against|that|not|with|in\sfavou?r)\b
  | \bdecision\s?(?:is|was|made)?\s?:|\b(?:the|our|my|final)\s(?:final\s)?(?:decision|verdict
      |call)\s(?:is|was)\b
  | \b(?:let's|lets|we'll|i'll|we\swill|i\swill|we're|i'm|we\sare|i\sam|we|i|and|then)?\s?
        \b(?:go|going|went|stick|sticking|stay|staying|run|running)\s(?:with|to|on)\s(?!this|that
            |it\sin\b|me\b|the\sflow)
  | ^\W*(?:ok(?:ay)?|right|fine|alright|yes|yeah|so|then|good)?[,.\s]*going\s(?:with|for)\b
  | \b(?:ended|end|ending)\sup\s(?:choosing|going|picking|using|with|buying|switching|staying
      |keeping|dropping)\b
  | \b(?:we|i|we've|i've|team)\s(?:have\s|both\s|all\s|finally\s|just\s)?(?:chose|chosen|picked
      |selected|adopted|standardi[sz]ed|approved|rejected|ruled\sout|dropped|ditched|scrapped
      |cancelled|canceled)\b
  | \b(?:let's|lets|we'll|we\swill)\s(?:use|keep|drop|adopt|ship|skip|move\sto|switch\sto
      |standardi[sz]e|replace|remove|make|do|call)\b
  | \b(?:we|i)(?:'re|\sare|'m|\sam|'ll|\swill)\s(?:switching|moving|migrating|switch|move
      |migrate)\s(?:to|over|from|away)\b
  | \b(?:we|i)(?:\swon't|'ll\snot|\swill\snot|'re\snot\sgoing\sto|\sare\snot\sgoing\sto)\b
  | \bweekly\sit\sis\b|\b\w+\sit\sis[.,!]|\bsigned\soff\son\b|\binstead\sof\b.{0,60}\b(?:because
      |since|as)\b
  | \b(?:is|are)\s(?:out|off\sthe\stable)\b[.,]|\bwe(?:'ll|\swill)\s\w+\sinstead\b
"""
_DECISION_JA = r"""
    (?:こと|方針|方向|案|形|路線|予定)(?:に|で)(?:した|します|する|しました|しよう|しましょう|なった|なりました|決ま|決め|決定|行|い[くきこ]|進め|確定)
  | に(?:決めた|決めました|決めます|決めよう|決まった|決まりました|決定|確定|一本化|統一|切り替え(?:る|た|ます|ました|よう)|移行(?:する|します|した|しました)
      |落ち着い)
  | で(?:決まり|決定|確定|統一|固定|合意|いく|行く|いきます|行きます|いこう|行こう|いきましょう|行きましょう|進める|進めます|進めよう|進めましょう|決着)
  | (?<!参考)(?<!大事)(?<!大切)(?<!一緒)(?<!無駄)(?<!静か)(?<![気口手目耳前後先])
        (?<=[ァ-ヶーA-Za-z0-9一-龥＞）)」〓])に(?:する|します|しよう|しましょう|した|しました)(?:[。！!、\s]|よ|ね|わ|から|ので|けど|$)
  | (?:を|は|も)?(?:採用|不採用|却下|見送り|見送る|見送った|見送ります|廃止|撤廃|凍結|中止|導入)(?:[。、！!]|です|だ|で|に|する|します|した|しました|しよう
      |決定|とする|$)
  | (?:は|を|も)(?:やめる|やめた|やめます|やめました|やめよう|辞め|使わない|使いません|入れない|作らない|対応しない|触りません|触らない|残す|残します|続ける|続けます)
  | (?:継続|続行|維持|延期|前倒し|中止)(?:に|と)?(?:する|します|した|しました|で|です|だ|。|$)
  | 合意(?:した|しました|済|でき)|と(?:判断|決断)(?:した|しました|し)|を(?:選んだ|選びました|選択した|選択しました|選ぶ)|結論(?:は|として|から|だ|で)
  | (?:その|この|その案|それ)(?:方針|案|線)で|決定(?:事項)?[:：]
"""
_LEARNING_STRONG = r"""
    \broot\scause\b|\bturns?\sout\b|\bturned\sout\b|\bculprit\b|\bthe\sreal\s(?:cause|reason
        |problem|issue)\b
  | \b(?:the|actual|main|whole)\s(?:problem|issue|cause|reason|bug|trick|fix|solution|workaround
      |catch|key)\s(?:is|was|were|here\s(?:is|was)|turned)\b
  | \b(?:was|were|is|got|being)\s(?:caused|triggered|broken|blocked)\sby\b|\bcaused\sby\b
  | \b(?:found|figured)\s(?:it|out)\b|\bfound\sthe\s(?:bug|problem|cause|issue)\b|\b(?:discovered
      |reali[sz]ed|learned|learnt|noticed)\b
  | \b(?:fixed|solved|resolved)\s(?:it\s|this\s|that\s)?by\b|\bfix(?:es|ed)?\s(?:it|that|this
      |the\sproblem)\b
  | \bwhich\s(?:is|was)\swhy\b|\bthat(?:'s|\sis|\swas)\swhy\b|\bTIL\b|\blesson\b|\bgotcha\b
  | \b(?:it\swas|it's|it\sis|was)\s(?:because|due\sto|down\sto)\b|\bdue\sto\b
      |\bbrings?\sit\sback\b
"""
_LEARNING_JA = r"""
    原因|真因|真相|犯人|根本|引き金|起因|のせい(?:で|だ|です)|せいだ
  | 判明|(?:と|こと|の|理由)(?:が|に|は|も)?(?:分かっ|わかっ|判っ|気づい|気付い|気がつい)|(?:だ|た|い|る)って(?:分かっ|わかっ|気づい)
  | (?:たら|すれば|すると|して|れば|ことで|だけで|にしたら|したところ|たところ).{0,24}?(?:直った|直りました|治った|解決|解消|動いた|動きました|通った|通りました
      |改善|速くな|早くな|軽くな|落ち着い|下がる|下がった|減った|上がった|うまくい)
  | (?:って|ってい|てい|になって|なって)(?:た|ました)(?:ため|ので|せい|から)|(?:なかった|ていた|てた)(?:ので|ため|せい)
  | ハマっ|ハマり|嵌ま|はまった|の罠|落とし穴|学び[:：はが]|教訓|知見|コツ(?:は|が)|(?:良|よ)かった(?:のは|点)|実は|どうやら.{0,30}(?:った|てた|ていた
      |ない)
  | ちょうど(?:良|よ|い)|どうりで|道理で
"""
_VALUE_STRONG = r"""
    \b(?:i|we|i'd|we'd)\s(?:really\s|much\s|usually\s|generally\s|strongly\s|still\s|would\s
        |personally\s)?(?:prefer|favou?r|value|believe\sin|insist)\b
  | \bi(?:'d|\swould)\s(?:much\s|always\s)?rather\b|\b(?:we|i)(?:'d|\swould)\srather\b
      |\bmy\s(?:preference|rule|principle|policy|philosophy|style)\b
  | \b(?:i|we)\s(?:really\s|just\s)?(?:hate|dislike|can't\sstand|don't\slike|do\snot\slike
      |don't\swant|don't\sdo|don't\saccept)\b
  | \b(?:must|should|shall|have\sto|has\sto)\s(?:always|never)\b|\b(?:must\snot|mustn't)\b
      |\bno\sexceptions?\b|\bnon[-\s]negotiable\b
  | (?:^|[.;:,]\s|\b(?:please|and|but|so|also|then|we|i)\s)(?:always|never)\s(?!mind|been|seen|had
      |got|heard|knew|thought|again|happened|a\b|the\b|saw|did|was|were|tried|used\sto|managed
      |worked|failed)
  | \b(?:rule\sof\sthumb|as\sa\srule|our\srule|(?:house|code|coding|team)\s(?:style|rule)
      |ground\srule|guideline|convention|policy|principle)s?\b\s?(?:is|are|:|here|for|says|,)
  | \bfrom\snow\son\b|\bgoing\sforward\b|\bin\s(?:the\s)?future,|\bevery\stime\b.{0,40}\bplease\b
  | \bplease\s(?:don't|do\snot|avoid|stop)\b|\bi\s(?:strongly\s)?believe\b|\bmatters?\s(?:more
      |most)\b|\bover\s\w+\sany\sday\b
"""
_VALUE_JA = r"""
    好み|(?:が|は|の方が|ほうが)好き|嫌い|派(?:です|だ|な|。|$)|主義|ポリシー|信条|モットー|こだわり|こだわって|心がけ
  | 必ず|(?<![ァ-ヶ])絶対(?:に|、|だ|です|守|条件)|これは絶対|一切|常に(?!失敗|落ち|エラー)|禁止|厳守|NG(?:で|です|。|$)|御法度
  | (?:し|さ|出|書|使|入れ|触ら|せ|か|わ|ら|や|べ)ないで(?:ほしい|欲しい|ください|下さい|くれ|ね|。|$)
  | べき(?:だ|です|で|じゃ|では|と|。|、|$)|(?:今後|これから|次から|以後|今度から|毎回|いつも)(?:は|も)?.{0,50}?(?:て|する|します|で|ない|こと
      |方針|ください|ほしい|欲しい|統一|お願い|徹底|たい)
  | ルール(?:です|だ|は|に|で|。|$|として)|原則|鉄則|方針(?:です|だ|は|として|。|でいく|で行く)|基本(?:は|的に|方針)
  | (?:を|が|は)(?:優先|重視|最優先|大事|大切)|大事(?:だ|です|に)|大切(?:だ|です|に)|第一(?:で|に|です|だ|。)|譲れない
  | (?:の|方|ほう)が(?:いい|良い|よい|好き|楽|望ましい|助かる|嬉しい|集中でき|見やす|読みやす|安心)(?:です|と思|。|、|から|ので|し|$|な|！)
  | 避けたい|したくない|たくない(?:です|。|ので|から|$)|苦手|(?:が|は|のは|とか)(?:嫌|いや)(?:だ|です|な|。|$)|(?:タイプ|性格|体質)(?:な|で|だ)
  | (?:で|に|と)(?:決まって|決めて)(?:い)?る|って決まって|(?:は|を)省略しない|なしで(?:よろしく|お願い|いい)
  | と(?:思って|考えて|信じて)(?:い)?(?:る|ます)(?:。|ので|から|$)
"""
_PROJECT_STRONG = r"""
    \bnext\s(?:steps?|up|task|milestone)\b|^\W*next(?:\s(?:is|i|we|comes)\b|:)|\b(?:is|are|am|i'm
        |we're|we\sare|currently|still|being)\s(?:blocked|stuck)\b|\bblocked\s(?:by|on)\b
        |\bblocker\b
  | \b(?:waiting|wait)\s(?:for|on)\b|\bstatus(?:\supdate)?\b\s?(?::|on|of|is|summary)
      |\bprogress\b\s?(?::|on|update|so\sfar|is)
  | \bstill\s(?:open|missing|to\sdo|need|needs|left|pending|outstanding)\b|\b(?:remaining
      |outstanding)\s(?:work|tasks?|items?|is|are|:)|\bleft\sto\sdo\b|\bto-?do\s?:
  | \b(?:the|our|my|this|main|overall)\s(?:goal|target|aim|objective|deadline|milestone|plan
      |roadmap)\b|^\W*(?:goal|target|plan|deadline|milestone|roadmap|eta|update|status
      |progress)\b\s?(?::|is|on|for)
  | \b(?:is|are)\s(?:now\s)?(?:done|finished|complete|completed|in\sprogress|on\shold|paused
      |half\s?way|shipped|live|merged|deployed|migrated|not\sstarted|delayed|on\strack
      |behind\sschedule|at\srisk)\b
  | \b\d{1,3}\s?%\s(?:done|there|complete|finished|through)\b|\b(?:due|launch(?:es)?|ships?
      |releases?|goes\slive)\s(?:on|by|next|in|at)\b|\bdeadline\b|\bnot\sstarted\b
      |\bmoves?\sto\s(?:mon|tues|wednes|thurs|fri|satur|sun|next|the\s\d|\w+\s\d)
"""
_PROJECT_JA = r"""
    次(?:は|に|の(?:ステップ|タスク|作業|課題|目標|マイルストーン))|ネクスト|残(?:り|タスク|作業|課題|件)(?:は|の|\d|:|：|が|、)
        |残って(?:い)?る(?:の|タスク|作業)
  | 進捗|状況(?:は|です|を共有|を報告|共有|報告)|現状(?:は|です|、)|(?:が|は|まで|も)?(?:完了(?!し?たら|後)|未完了|未着手|着手|未対応|対応中|作業中
      |実装中|開発中|調整中|進行中|レビュー中)(?:です|し|、|。|で|だ|済|$|の)
  | 待ち(?:です|で|。|、|の|$|だ)|ブロックされ|ブロッカー|止まって(?:い)?(?:る|ます)|詰まって(?:い)?(?:る|ます)|行き詰ま
  | 予定(?:です|だ|。|で|は|$)|目標(?:は|を|が|です)|ゴール(?:は|です)|締(?:め)?切(?:り)?(?:は|が)|期限(?:は|が)|納期(?:は|が)
      |マイルストーン|スケジュール(?:は|が)
  | (?:\d+|半分|[一二三四五六七八九]割)(?:%|％|割|件|くらい|ほど)?(?:まで)?(?:終わ|完了|済|できた|でき[まて]|解消|進ん)|リリース(?:は|日は|が
      |予定)|(?:来週|今週|来月|今月|明日|月末|年内)(?:中|末|まで|やる|に(?:は)?(?:やる|出|リリース|終))
  | までに(?:終|完|出|や|仕上|提出|リリ|間に合)
"""
_PERSON_ROLE = r"""(?:person|people|lead|leader|manager|boss|owner|engineer|designer|expert|contact|pm|cto|ceo|cfo|admin|maintainer|reviewer|tester|accountant|architect|mentor|doctor|teacher|guy|specialist|counterpart|stakeholder)"""
NAME = r"(?-i:(?!(?:I|It|He|She|We|They|This|That|The|There|You|What|Who|Which|If|But|And|So|Or|Also|Then|Now|Not|No|Yes|My|Our|Your|His|Her|Its|Their|Everyone|Everybody|Nobody|Someone|Somebody|People|One|Here|When|While|Ok|OK|Okay|Yeah|A|An|As|At|In|On|To|For|From|With|Please|Still|Just)\b)[A-Z][a-z]+(?:-[A-Z][a-z]+)?(?:\s[A-Z][a-z]+)?)"
_PERSON_STRONG = r"""
    \b__NAME__,?\s(?:really\s|always\s|usually\s|only\s|never\s|also\s|generally\s|often\s
        |strongly\s)?
        (?:prefers|likes|dislikes|hates|loves|wants|expects|insists|cares|appreciates|hated
            |doesn't\slike|does\snot\slike|can't\sstand|reads|reviews|skips|reports\sto
            |is\sallergic|speaks|lives|answers|responds)\b
  | \b__NAME__\s(?:\w+\s){0,3}?(?:is|was|will\sbe|becomes|remains)\s(?:now\s)?(?:the|our|my|a|an
      |their|your|new)\s(?:[\w-]+\s){0,3}?__ROLE__\b
  | \b__NAME__\s(?:is|are|will\sbe)\s(?:in\scharge|responsible|on\sleave|on\svacation|the\sone
      |away|allergic|my|our)\b
  | \b__NAME__\s(?:owns|handles|leads|manages|maintains|takes\scare|looks\safter|signs\soff
      |approves|works\s(?:on|from|at|in)|takes\sover)\b
  | \bmy\s(?:manager|boss|lead|colleague|wife|husband|partner|son|daughter|mother|father|mom|mum
      |dad|client|teacher|mentor|doctor|team\slead|sister|brother|landlord
      |coach)\b(?:\s[A-Z][a-z]+)?\s(?:\w+\s)?(?:prefers|likes|hates|wants|expects|is|gets|cares
      |needs|can't|doesn't|won't|skips|reads|has)\b
  | \b(?:ask|ping|contact|talk\sto|escalate\sto|goes?\sto|cc)\s__NAME__\s(?:for|about|on|regarding
      |when|if|first)\b
  | \bdo(?:es)?\s__NAME__\slike\b
""".replace("__NAME__", NAME).replace("__ROLE__", _PERSON_ROLE)
_PERSON_JA = r"""
    (?:さん|くん|君|ちゃん|様|氏|先輩|部長|課長|社長|専務|常務|先生|マネージャー|リーダー|上司|母|父|妻|夫|娘|息子|嫁|旦那|同僚|後輩|PM|CTO|社長)(?:は
        |が|も|って|には|へは|の)
        .{0,40}?(?:担当|好き|好む|好み|嫌い|嫌が|嫌う|苦手|得意|重視|気にする|気にし|こだわ|てほしい|責任者|リーダー|窓口|詳し|強い|専門|ない(?:と|人
            |タイプ)|てくれない|派(?:だ|です|な|。|$)|タイプ|求め|期待|厳し|担って|任せ|必ず|常に|アレルギー|役割|決裁|承認者|役$|役。|膝|通院)
  | (?:担当|窓口|責任者|リーダー|オーナー|レビュアー|承認者|主担当|PM)(?:は|が).{1,20}?(?:さん|くん|君|氏|先輩|部長|課長|先生|です|。|$)
  | (?:さん|くん|先輩|部長|課長|先生)に(?:聞く|聞いて|聞けば|相談|頼む|頼んで|お願い|確認|回して|任せ).{0,10}?(?:のが|と|こと|ルール|ください|早い|確実
      |。|$)
"""

_DECISION_WEAK = r"""
    \b(?:getting|buying|booking|taking|choosing|picking|keeping|dropping|skipping|using)\sthe\b
        |\bwins\b|\bmake\sit\sthe\b|\b(?:keep|leave)\s.{1,40}\sas\s(?:it\sis|they\sare|is)\b
  | \b(?:we|i)(?:'ll|\swill)\s(?:verify|use|keep|drop|skip|store|round|ship|start|split|put|write
      |run|take|buy|build|host|limit|only)\b
  | \b(?:we|i)\s(?:are|'re)\s(?:using|keeping|dropping|staying)\b|\b(?:applies|effective)\sfrom\b
      |\binstead\sof\b
  | (?:入れ|使い|使|変え|や|作|進め|分け|まとめ|揃え|寄せ|任せ|そうし)(?:よう|おう|ろう|ましょう)(?:[。！!か]|$|ね|と思)
  | (?:にして|でお願い|で確定|で決まり|でいい|で頼む)(?:[。！!]|$|ね|よ)
"""
_LEARNING_WEAK = r"""
    \bbecause\b|\bnot\s\w+,\s(?:but|it)\b|\bthe\s(?:reason|cause)\b|\bworks?\s(?:now|only|fine)\b
        |\bdoes(?:n't|\snot)\swork\b|\bneeds?\s\d|\bdropped\s(?:to|from)\b|\bhad\s(?:the\s)?(?:old
        |wrong|stale)\b
  | (?:調べ|試し|測っ|やってみ|変え)(?:た|て)(?:ら|み)|(?:し|使え|入れ|足し|書い|変え|付け|つけ)(?:たら|れば|ると)|(?:ms|秒|分|倍|度|%
      |％)(?:に|まで)?(?:落ち|下が|上が|縮|減|改善|なっ)
"""
_VALUE_WEAK = r"""
    \b(?:always|never)\b|\bavoid\b|\bmake\ssure\b|\bmust\b|\bno\s\w+,\sno\b
        |\bdon't\s(?:ever\s)?(?:use|add|commit|touch|mock|log|put|push|send)\b|\bonly\sever\b
        |\bkeep\s(?:it|the|raw|all|every)\b
  | \bnot\s["“〓]|\b(?:i|we)\s(?:like|love|care)\b|\bwe(?:'re|\sare)\s\w+\shere\b|\bplease\s(?:keep
      |use|make|write|answer|reply|be)\b|\b(?:in|with)\s\w+\splease\b|\bis\s\w+\sonly\b
      |\bi\sonly\b|\b(?:hopeless|allergic)\b
  | てほしい|て欲しい|てもらいたい|ようにしてください|にして(?:ほしい|ください)|でよろしく|(?:が|方が|ほうが)(?:いい|良い)|好き|嫌|大事|優先
"""
_PROJECT_WEAK = r"""
    \b(?:by|until|before)\s(?:the\s)?(?:end\sof|monday|tuesday|wednesday|thursday|friday|next
        |tomorrow|january|february|march|april|may|june|july|august|september|october|november
        |december)\b|\bplan(?:ning)?\s(?:is|to)\b|\bso\sfar\b|\b(?:finished|shipped|merged
        |released|started|launched)\b.{0,40}\b(?:today|yesterday|this|last)\b|\bi(?:'ll
        |\swill)\s(?:take|own|do)\s(?:the|it|that)\b
  | 来週|今週|月末|金曜|月曜|までに|途中|あと\d+|着手|試す|回してみる|書きます|やります
"""


def _table(*pairs: tuple[Kind, str]) -> tuple[tuple[Kind, re.Pattern[str]], ...]:
    return tuple((kind, re.compile(pattern, _I)) for kind, pattern in pairs)


STRONG = _table(
    (Kind.DECISION, _DECISION_STRONG),
    (Kind.LEARNING, _LEARNING_STRONG),
    (Kind.PERSON, _PERSON_STRONG),
    (Kind.VALUE, _VALUE_STRONG),
    (Kind.LEARNING, _LEARNING_JA),
    (Kind.PERSON, _PERSON_JA),
    (Kind.VALUE, _VALUE_JA),
    (Kind.DECISION, _DECISION_JA),
    (Kind.PROJECT, _PROJECT_STRONG),
    (Kind.PROJECT, _PROJECT_JA),
)
WEAK = _table(
    (Kind.DECISION, _DECISION_WEAK),
    (Kind.LEARNING, _LEARNING_WEAK),
    (Kind.VALUE, _VALUE_WEAK),
    (Kind.PROJECT, _PROJECT_WEAK),
)
REASON = re.compile(
    r"""
    ^\W*(?:because|since|the\sreason|reason:|as\s(?:it|we|they|the)|otherwise|that\sway)\b
  | ^(?:なぜなら|というのも|理由は|なので|だって|でないと|そうしないと|じゃないと|〜だと)
  | (?:から|ので|ため|ためです|からです|からだ|んで|だから|が理由|が理由です)[。！!]?$
    """,
    _I,
)

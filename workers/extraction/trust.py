"""Who vouches for a sentence: poisoned text, hearsay, questions and guesses, by rule."""

from __future__ import annotations

import re

_OVERRIDE = re.compile(
    r"""
    (?<!\bwe\s)(?<!\bi\s)\b(?:ignore|disregard|forget|override|bypass|discard)\b.{0,30}?
        \b(?:previous|prior|above|earlier|preceding|your|system|all|any|every|these|those)\b
        .{0,30}?\b(?:instructions?|prompts?|rules?|guidelines?|directions?|messages?|training)\b
  | \b(?:ignore|disregard|forget)\s(?:everything|all)\b.{0,20}\b(?:above|before|previous|said|told)
  | \b(?:new|updated|real)\s(?:system\s)?instructions?\s*:
  | \byou\sare\snow\b.{0,40}\b(?:mode|assistant|ai|agent|admin|dan|jailbroken|unrestricted)\b
  | \bsystem\soverride\b|(?:^|\n)\W{0,4}(?:system|システム)\W{0,3}[:：]
  | \b(?:notes?|messages?|instructions?|attention)\s(?:to|for)\s(?:the\s|any\s|all\s)?
        (?:ai|assistants?|llms?|(?:language\s)?models?|agents?)\b
  | (?:AI|アシスタント|LLM|エージェント)(?:へ|への|宛)の?(?:指示|メモ|注意|お願い|命令|連絡|[:：])
  | (?:指示|命令|ルール|プロンプト|制約|指令|ガイドライン|設定).{0,10}?
        (?:無視(?:して(?![いるた])|しろ|せよ|しなさい|し、)|忘れ(?:て(?![いるた])|ろ|なさい)
          |(?:破棄|上書き|無効に)して(?![いるた])|従わないで)
  | (?:無視|忘れ).{0,6}?(?:指示|命令|プロンプト)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_TO_MEMORY = re.compile(
    r"""
    # "in memory" and "a knowledge base" are everyday words of engineers: whose memory decides
    \b(?:save|store|add|write|record|log|put|commit|register|persist)\b.{0,60}?
        \b(?:your|long[-\s]term|permanent|persistent|assistant's)\s(?:[\w-]+\s)?
        (?:memory|memories|knowledge)\b
  | \b(?:store|save|record|remember|memori[sz]e|keep)\b.{0,40}\bas\s(?:a\s|an\s)?(?:\w+\s)?
        (?:facts?|truth|preference)\b
  | \bas\s(?:a\s|an\s)?validated\b|\bconfidence\b\s*[:=]?\s*["']?validated\b
  | \bas\san?\s(?:ai|assistant|language\smodel|llm)\b,?.{0,20}\byou\b.{0,20}\b(?:must|should|will
      |have\sto)\b
  | \b(?:ai|assistants?|llms?|agents?)\b.{0,20}\b(?:must|should)\b.{0,20}\b(?:remember|memori[sz]e
      |trust)\b
  | (?:メモリー?|長期記憶|記憶|ナレッジ)(?:に|へ|として).{0,20}?(?:保存|登録|追加|書き込|記録|残)
        .{0,4}?(?:ください|下さい|おけ|おいて|しろ|せよ|なさい)
  | (?:validated|検証済み)として|(?:事実|真実|確定事項)として(?:記憶|記録|保存|覚え|登録)
  | (?:AI|アシスタント|エージェント|LLM)(?:は|へ|向け|への|なら).{0,30}?(?:覚え|記憶|保存)
        .{0,4}?(?:ください|下さい|おけ|こと|しろ|せよ|なさい)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_REMEMBER = re.compile(
    r"""
    \b(?:remember|memori[sz]e|don't\sforget|do\snot\sforget|keep\sin\smind|take\snote)\b
  | 覚えて|記憶して|忘れないで|記憶し(?:ろ|なさい)|覚え(?:ろ|なさい|ておけ)
    """,
    re.VERBOSE | re.IGNORECASE,
)


def overrides(text: str) -> re.Match[str] | None:
    """Return where `text` tries to take command of whoever reads it, or None."""
    return _OVERRIDE.search(text) or _TO_MEMORY.search(text)


def safe_length(text: str, *, owner: bool) -> int:
    """Return how much of a message, from its start, precedes any attempt to command its reader.

    What follows such a sentence belongs to the attempt, whatever it looks like.
    """
    match = overrides(text)
    if match is None and not owner:
        match = _REMEMBER.search(text)
    if match is None:
        return len(text)
    before = text[: match.start()]
    cut = max(before.rfind(sign) for sign in ("\n", "。", "．", ". ", "! ", "？", "! ", "！"))
    return cut + 1


_HEARSAY = re.compile(
    r"""
    らし(?:い|く|かった)|(?:だ|た|る|い|ない)そう(?:です|だ|で|。|$)|とのこと|だとか|という(?:話
        |噂|うわさ)
  | (?:と|って)(?:言|い)(?:って(?:い)?(?:た|ま|る)|われ)|(?:と|って)(?:話して|聞い|書いて(?:い)?た
      |主張|述べ|報告)
  | (?:みたい|って)(?:です|だ)?よ?(?:。|$)(?<=って。)|(?:によ(?:る|れば)|いわく|曰く|談)|(?:から
      |に)聞い|聞いた話|伝え聞
  | みたいです(?:よ|ね)?(?:。|$)|(?:さん|部長|課長|社長|先生|くん|君)(?:が|は)(?:言|いっ)
  | んだって|なんだって|そうな(?:ので|んで)
  | \b(?:apparently|allegedly|supposedly|reportedly|rumou?r|hearsay|i\shear(?:d)?|i've\sheard
      |heard\s(?:that|from))\b
  | \baccording\sto\b|\b(?:told|tells)\s(?:me|us|him|her|them)\b|\bword\sis\b
  | \b(?:says?|said|claims?|claimed|mentioned|suggested|thinks|believes|insists|reckons|argues?
      |reported|announced|wrote|asked)\b
        (?:,|\s)(?!i\b|we\b|done|so\b)
  | \bpeople\ssay\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NOT_REPORTED = re.compile(
    r"\b(?:i|we|i've|we've)\s(?:also\s|already\s|just\s)?(?:said|say|mentioned|suggested|announced|wrote"
    r"|reported|asked|claim|argue)\b"
    r"|\b(?:logs?|docs|documentation|error|message|profiler|trace|tests?|output|data|readme|manual)"
    r"\s(?:clearly\s)?(?:says?|said|reports?|reported)\b",
    re.IGNORECASE,
)


def is_hearsay(sentence: str) -> bool:
    """Tell whether the sentence reports what somebody else said or what is only rumoured."""
    return _HEARSAY.search(_NOT_REPORTED.sub(" ", sentence)) is not None


_QUESTION = re.compile(
    r"""
    [?？]["”」』）)]?\s*(?:[（(].{0,20}[)）])?\s*$
  | (?:です|ます|でしょう|ません|だろう|の|る|た|い)か(?:ね|な)?[。！\s]*$
  | (?:かな|かしら|だっけ|でしたっけ|っけ)[ぁあー〜。…\s]*$
  | ^\W*(?:(?:and|so|but|ok|okay|hmm|also|well)[,\s]+)?
      (?:should|shall|can|could|would|do|does|did|is|are|was|were|will|have|has|what|why|how|which
          |who|when|where|any)
      \s(?:i|we|you|it|that|this|the|there|they|he|she|anyone|someone|is|are|about|if|do|does|did
          |to|a|an|my|our)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_UNSURE = re.compile(
    r"""
    もし|仮に|としたら|だとすると|なら(?:ば)?(?:どう|、どう)|場合は?どう|かも(?:しれ|。|、|ね|な
        |$)|かもしれ|だろう|でしょう(?!か)|かな(?:[ぁあー。、…]
        |$)
  | 迷って|迷う|悩んで|悩む|検討(?:中|して|したい|する)|決めきれ|決められ|未定|保留|どうしよう
      |どうする|どっち|考え中|気がする|多分|たぶん|おそらく|恐らく
  | 決(?:めて|まって)(?:い)?(?:ない|ません)|決めかね|候補|案として|としては(?:どう|あり)
      |でもいい(?:けど|かな)
  | ^(?!.*\b(?:always|never|must)\b).{0,300}\b(?:if|unless|suppose|assuming)\s(?:we|i|you|it|they
      |that|the|this|there|he|she|someone|anyone)\b
  | ^(?:when|once|after|until|as\ssoon\sas)\b.{0,60}\b(?:is|are)\s(?:\w+\s)?(?:done|completed?
      |finished|merged|live)\b
  | \bwhether\b
  | \b(?:what|how)\s(?:if|about)\b|\b(?:might|maybe|perhaps|possibly|probably|wonder|wondering
      |undecided|hypothetically)\b
  | \b(?:not\ssure|unsure|no\sidea|can't\s(?:decide|choose)|cannot\s(?:decide|choose)
      |haven't\s(?:decided|chosen|settled|figured)|torn\sbetween|on\sthe\sfence)\b
  | \b(?:not|never|hasn't|haven't|didn't|don't|yet\sto)\s(?:yet\s)?(?:be\s|been\s
      |really\s)?(?:decided?|agreed?|settled?|chosen?|choose)\b
  | \b(?:could|would)\s(?:be|go|also|use|try|do|have)\b|\b(?:considering|thinking\s(?:about|of)
      |leaning\stowards?|toying)\b
  | \bto\sbe\s(?:decided|confirmed)\b|\btbd\b
    """,
    re.VERBOSE | re.IGNORECASE,
)


def is_question(sentence: str) -> bool:
    """Tell whether the sentence asks."""
    return _QUESTION.search(sentence) is not None


def is_unsure(sentence: str) -> bool:
    """Tell whether the sentence supposes, hesitates, or says that nothing is decided."""
    return _UNSURE.search(sentence) is not None

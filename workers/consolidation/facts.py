"""What a statement says, as far as rules can tell: terms, numbers, polarity, conditions.

Two statements are held against each other sentence by sentence. A reason that is given for a
statement is no part of what it says.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from index.tokenize import stem
from workers.consolidation.words import (
    ARTICLES,
    CHANGE,
    CHOOSING,
    CHOOSING_PHRASE,
    CHOSEN_JA,
    CONDITION,
    DONE,
    DROPPED,
    FUNCTION_WORDS,
    LIGHT,
    NEGATING,
    NEGATION,
    NOT_NEGATION,
    NUMBER_WORDS,
    OPTIONAL,
    PENDING,
    PREPOSITIONS,
    REASON,
    REASON_END,
    REQUIRED,
    SYNONYMS,
)

MAX_TEXT = 800
"""Characters; a longer statement is compared as a whole, not understood."""
_MAX_SENTENCES = 6
_COMPARED = 1_000

_SENTENCE = re.compile(r"[^。！？!?\n]+?(?:[。！？!?\n]|\.(?=\s|$)|$)")
_TOKEN = re.compile(
    r"(?P<latin>[A-Za-z][A-Za-z0-9_+#'’]*(?:[./-][A-Za-z0-9_+#]+)*)|(?P<number>\d+(?:[.,:/]\d+)*)"
    r"|(?P<katakana>[ァ-ヶー]{2,})|(?P<kanji>[一-龥々]+)"
)
_HIRAGANA_NOUN = re.compile(
    r"(?:^|(?<=[はがをにでとへもの、「・]))([ぁ-ん]{2,8}?)(?=(?:は|が|を|に|で|と|へ|も|の)(?:[^ぁ-ん]|$))"
)
_NO_NOUN = re.compile(
    r"(?:こと|もの|ため|よう|ほう|とき|ところ|まで|から|だけ|ので|これ|それ|あれ|ここ|そこ|どこ|みんな|すべて|いつ|いま"
    r"|[そこあど]の|など|ほか|うち|わけ|はず|まま|とおり|つもり|たび|くらい|ぐらい|という|として|について|にも|には|では|とも).*"
)
_KANJI_NUMBER = re.compile(
    r"([〇一二三四五六七八九十百千万]+)((?:人|回|行|日|時間|時|分|件|円|年|月|週|本|個|台|名|割|秒|つ|倍|階|社).*)"
)
_SUFFIX = re.compile(r"(待ち?|中|済|以下|以上|未満|以内|後|前)\Z")
_LENGTH_OF_TIME = re.compile(r"(?<=[日週年分秒])間")
_PARTICLE = re.compile(r"(?:さん|くん|氏|様)?(から|より|まで|が|を|に|へ|で|と|は|も|の)")
_SAME_PARTICLES = {"は": "", "が": "", "を": "", "も": "", "へ": "に"}
_STRICT_PARTICLES = frozenset(("から", "より", "まで"))
_EMPTY = FUNCTION_WORDS | LIGHT | NEGATING
_VALUES = {"〇": 0, "一": 1, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
_TENS = {"十": 10, "百": 100, "千": 1000}
_DAY_FOLLOWS = re.compile(r"\s\d")
_SPOKEN_LINES = re.compile(r"\n{2,}(?!.)")
_SPOKEN = re.compile(r"^\s*>.*$", re.MULTILINE)


@dataclass(frozen=True)
class Term:
    """A content word: `role` is its preposition or particle, `chosen` marks a choice's object."""

    text: str
    role: str
    chosen: bool
    name: bool


@dataclass(frozen=True)
class Sentence:
    """One sentence, the reason in it apart."""

    text: str
    terms: tuple[Term, ...]
    numbers: tuple[str, ...]
    is_reason: bool

    @cached_property
    def core(self) -> frozenset[str]:
        """Its content words."""
        return frozenset(term.text for term in self.terms)

    @cached_property
    def chosen(self) -> frozenset[str]:
        """What is chosen in it."""
        return frozenset(term.text for term in self.terms if term.chosen)

    @cached_property
    def negations(self) -> int:
        """How many words in it negate."""
        return len(NEGATION.findall(NOT_NEGATION.sub(" ", self.text)))

    @cached_property
    def bounds(self) -> frozenset[str]:
        """Words that restrict it."""
        return frozenset(match.group().lower() for match in CONDITION.finditer(self.text))

    @cached_property
    def modality(self) -> str:
        """`required`, `optional` or nothing."""
        if OPTIONAL.search(self.text):
            return "optional"
        return "required" if REQUIRED.search(self.text) else ""

    @cached_property
    def status(self) -> str:
        """`done`, `pending` or nothing."""
        if self.core & PENDING or "not yet" in self.text.lower() or "まだ" in self.text:
            return "pending"
        return "done" if self.core & DONE or self._light & DONE else ""

    @cached_property
    def _light(self) -> frozenset[str]:
        return frozenset(stem(word) for word in re.findall(r"[A-Za-z']+", self.text.lower()))

    @cached_property
    def changes(self) -> bool:
        """Whether it says that something is other than before."""
        return CHANGE.search(self.text) is not None

    @cached_property
    def dropped(self) -> frozenset[str]:
        """What it says was given up."""
        found = (match["en"] or match["ja"] for match in DROPPED.finditer(self.text))
        return frozenset(_normal(word) for word in found if word)

    @property
    def roles(self) -> list[str]:
        """Prepositions and particles that tell, in the order of its terms; "" for others."""
        told = (term.role for term in self.terms)
        return [role if role.isascii() or role in _STRICT_PARTICLES else "" for role in told]

    def ordered(self) -> dict[str, tuple[str, ...]]:
        """Return the content words in their order, by role."""
        roles: dict[str, tuple[str, ...]] = {}
        for term in self.terms:
            roles[term.role] = (*roles.get(term.role, ()), term.text)
        return roles


@dataclass(frozen=True)
class Facts:
    """A statement prepared for comparison. `plain` is `text` folded; quotations are left out."""

    text: str
    plain: str
    sentences: tuple[Sentence, ...]
    understood: bool
    """Whether it is short enough to be taken apart."""

    @property
    def said(self) -> tuple[Sentence, ...]:
        """Its sentences but the reasons; all when there are only reasons."""
        return tuple(s for s in self.sentences if not s.is_reason) or self.sentences

    @cached_property
    def bigrams(self) -> frozenset[str]:
        """Pairs of neighbouring characters of its beginning."""
        return bigrams(self.plain[:_COMPARED])

    @cached_property
    def numbers(self) -> frozenset[str]:
        """All numbers, those of reasons too."""
        return frozenset(number for s in self.sentences for number in s.numbers)

    @cached_property
    def terms(self) -> frozenset[str]:
        """All content words."""
        return frozenset(term.text for s in self.sentences for term in s.terms)

    @cached_property
    def names(self) -> frozenset[str]:
        """What is written as a name, or could be one at the beginning of a sentence."""
        return frozenset(term.text for s in self.sentences for term in s.terms if term.name)

    @cached_property
    def negations(self) -> int:
        """How many words negate in all."""
        return sum(sentence.negations for sentence in self.sentences)


def bigrams(text: str) -> frozenset[str]:
    """Return the pairs of neighbouring characters, space and final stops left out."""
    plain = "".join(text.casefold().split()).strip("。.!！")
    return frozenset(plain[place : place + 2] for place in range(len(plain) - 1))


@lru_cache(maxsize=4_096)
def facts_of(content: str) -> Facts:
    """Return what `content` says. Linear in its length."""
    spoken = _SPOKEN.sub("", content[: MAX_TEXT * 4])
    text = unicodedata.normalize("NFKC", " ".join(_SPOKEN_LINES.split(spoken))).strip()
    plain = "".join(text.casefold().split()).rstrip("。.!！")
    if not 0 < len(text) <= MAX_TEXT:
        return Facts(text, plain, (), understood=False)
    pieces = [piece for found in _SENTENCE.findall(text) for piece in _split_reason(found.strip())]
    return Facts(
        text,
        plain,
        tuple(_sentence(piece, is_reason=reason) for piece, reason in pieces[:_MAX_SENTENCES]),
        understood=0 < len(pieces) <= _MAX_SENTENCES,
    )


def _split_reason(sentence: str) -> Iterator[tuple[str, bool]]:
    """Yield a sentence's statement and its reason: `X because Y`, `YなのでX`."""
    if not sentence:
        return
    match = REASON.search(sentence)
    if match and match.start() > 0:
        yield sentence[: match.start()].strip(" ,、"), False
        yield sentence[match.start() :], True
        return
    ends = REASON_END.search(sentence)
    if ends is None:
        yield sentence, match is not None
        return
    rest = sentence[ends.end() :].strip("。 ")
    yield sentence[: ends.end()], True
    if rest:
        yield rest, False


def _sentence(text: str, *, is_reason: bool) -> Sentence:
    terms, numbers = _terms(text)
    return Sentence(text, tuple(terms), tuple(sorted(numbers)), is_reason)


@dataclass
class _Reading:
    """A sentence while its words are read: what a preposition or a verb means for the next one."""

    text: str
    terms: list[Term] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)
    role: str = ""
    chosen: bool = False

    def english(self, word: str) -> bool:
        """Take a Latin word; return whether it carries no content."""
        lower = word.lower().replace("’", "'").removesuffix("'s")
        root = stem(lower)
        if lower in PREPOSITIONS:
            self.role, self.chosen = lower, False
            return True
        if root in NUMBER_WORDS:
            self.numbers.append(NUMBER_WORDS[root])
            return True
        if root not in _EMPTY:
            return False
        self.chosen = root in CHOOSING or (self.chosen and lower in ARTICLES)
        self.role = self.role if lower in ARTICLES else ""
        return True

    def content(self, match: re.Match[str], *, picked: bool) -> None:
        """Take a word that carries content."""
        chosen = picked or self.chosen or CHOSEN_JA.match(self.text, match.end()) is not None
        for piece in _pieces(match, self.numbers):
            normal = _normal(piece)
            if normal and normal not in LIGHT and normal not in NEGATING:
                role, name = _role(self.text, match, self.role), _is_name(self.text, match)
                self.terms.append(Term(normal, role, chosen, name))
        self.chosen = False


def _terms(text: str) -> tuple[list[Term], list[str]]:
    reading = _Reading(text)
    phrases = {match.end() for match in CHOOSING_PHRASE.finditer(text)}
    nouns = [m for m in _HIRAGANA_NOUN.finditer(text) if not _NO_NOUN.fullmatch(m[1])]
    for match in sorted([*_TOKEN.finditer(text), *nouns], key=lambda match: match.start()):
        latin = match["latin"] if match.re is _TOKEN else None
        month = latin == "May" and _DAY_FOLLOWS.match(text, match.end()) is not None
        if month or not (latin and reading.english(latin)):
            reading.content(match, picked=match.start() in phrases)
    return reading.terms, reading.numbers


def _pieces(match: re.Match[str], numbers: list[str]) -> Iterator[str]:
    if match.re is not _TOKEN:
        yield match[1]
    elif match["number"]:
        numbers.append(match["number"].replace(",", ""))
    elif match["kanji"]:
        text_before = match.string[max(0, match.start() - 1) : match.start()]
        run = _LENGTH_OF_TIME.sub("", match["kanji"].replace("曜日", "曜"))
        counted = _KANJI_NUMBER.fullmatch(run)
        if counted is not None:
            numbers.append(str(_kanji_value(counted[1])))
            run = counted[2]
        if counted or text_before.isdigit():
            # the counter of lines is the verb "go" elsewhere
            run = re.sub("^行", "行数", run)
        suffix = _SUFFIX.search(run) if len(run) > 1 else None
        yield run[: suffix.start()] if suffix else run
        if suffix:
            yield suffix[1]
    else:
        yield match.group()


def _kanji_value(digits: str) -> int:
    total = section = 0
    digit: int | None = None
    for char in digits:
        if char == "万":
            total, section, digit = total + (section + (digit or 0) or 1) * 10_000, 0, None
        elif char in _TENS:
            section, digit = section + (1 if digit is None else digit) * _TENS[char], None
        else:
            digit = (digit or 0) * 10 + _VALUES[char]
    return total + section + (digit or 0)


def _role(text: str, match: re.Match[str], preposition: str) -> str:
    if match.group()[0].isascii() and not _PARTICLE.match(text, match.end()):
        return preposition
    found = _PARTICLE.match(text, match.end())
    return _SAME_PARTICLES.get(found[1], found[1]) if found else ""


def _is_name(text: str, match: re.Match[str]) -> bool:
    """Tell a name: an identifier, a capital inside a sentence, katakana, a person's title."""
    word = match.group()
    if match.re is not _TOKEN or match["kanji"]:
        return text.startswith(("さん", "くん", "氏", "様"), match.end())
    if not word[0].isascii():
        return True
    japanese = any("\u3041" <= char <= "\u30ff" for char in text)
    return japanese or word[0].isupper() or not word[1:].islower()


def _normal(word: str) -> str:
    lower = word.lower().replace("’", "'")
    root = stem(lower)
    return SYNONYMS.get(lower, SYNONYMS.get(root, root))

"""Payment card numbers: issuer range, length and check digit must all agree."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator

from context_engine.redaction.model import EDGE_BEHIND, Span, Subject

# Seen from behind the first digit: a search that begins with a class is fast.
_LEFT = EDGE_BEHIND + r"(?<![_./#０-９-].)(?<!\d,.)"
_GROUPED = (
    r"{d}{{3}}(?:{d}{{15}}|{d}{{10,12}}"
    r"|(?P<gap>{gap})(?:{d}{{4}}(?P=gap){d}{{4}}(?P=gap){d}{{4}}(?:(?P=gap){d}{{3}})?"
    r"|{d}{{6}}(?P=gap){d}{{4,5}}))"  # American Express, Diners Club
    r"(?![0-9０-９A-Za-z_+-]|\.[0-9])"
)
_NUMBER = re.compile("[2-6]" + _LEFT + _GROUPED.format(d="[0-9]", gap="[ \u00a0‐‑–−-]"))
_WIDE = re.compile("[２-６]" + _GROUPED.format(d="[０-９]", gap="[ \u3000‐‑–−ー－-]"))

# In this view digits are all zero: four of them and then many more are worth a closer look.
_DIGITS = bytes(
    ord("0") if chr(b) in string.digits else ord(" ") if chr(b) in " -?" else ord("a")
    for b in range(256)
)
_CANDIDATE = re.compile(rb"0000 ?0000[0 ]{4,}+")

_OTHER_NAME = re.compile(
    r"(?:id|ts|time|timestamp|offset|seq|ref|trace|hash|version|size|bytes|order|invoice|tracking|"
    r"番号|伝票|注文|追跡)[\"']?[ ]?[=:：#はが]?[ ]?[\"']?\Z",
    re.IGNORECASE,
)
_CARD_NAME = re.compile("card|カード", re.IGNORECASE)
_REACH = 24

# issuer identification numbers: first digits from, to, and the lengths issued
_ISSUERS: tuple[tuple[str, str, frozenset[int]], ...] = (
    ("4", "4", frozenset({16})),
    ("51", "55", frozenset({16})),
    ("2221", "2720", frozenset({16})),
    ("34", "34", frozenset({15})),
    ("37", "37", frozenset({15})),
    ("3528", "3589", frozenset({16, 19})),
    ("300", "305", frozenset({14})),
    ("36", "36", frozenset({14})),
    ("38", "39", frozenset({14})),
    ("6011", "6011", frozenset({16, 19})),
    ("62", "62", frozenset({16, 19})),
    ("644", "659", frozenset({16, 19})),
)


def cards(subject: Subject) -> Iterator[Span]:
    """Yield card numbers, contiguous or in the groups printed on cards, full-width too."""
    for candidate in _CANDIDATE.finditer(subject.ascii.translate(_DIGITS)):
        yield from _valid(_NUMBER.finditer(subject.text, candidate.start(), candidate.end() + 2))
    if not subject.text.isascii():
        yield from _valid(_WIDE.finditer(subject.text))


def _valid(matches: Iterator[re.Match[str]]) -> Iterator[Span]:
    for match in matches:
        digits = "".join(str(int(c)) for c in match[0] if c.isdigit())
        if _issued(digits) and _luhn(digits) and not _is_other_number(match):
            yield Span(match.start(), match.end(), "card-number")


def _is_other_number(match: re.Match[str]) -> bool:
    """Tell whether the words before say that a number is an id or a time.

    Every tenth number of a card's length passes the check digit.
    """
    before = match.string[max(0, match.start() - _REACH) : match.start()]
    named = bool(_OTHER_NAME.search(before)) and not _CARD_NAME.search(before)
    return named and not match["gap"]


def _issued(digits: str) -> bool:
    return any(
        low <= digits[: len(low)] <= high and len(digits) in lengths
        for low, high, lengths in _ISSUERS
    )


def _luhn(digits: str) -> bool:
    """Tell whether the check digit is right (ISO/IEC 7812-1, annex B)."""
    total = 0
    for position, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + position % 2)
        total += value - 9 if value > 9 else value  # noqa: PLR2004  two digits: add them up
    return total % 10 == 0

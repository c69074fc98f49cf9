"""Payment card numbers: issuer range, length and check digit must all agree."""

from __future__ import annotations

import re
from collections.abc import Iterator

from context_engine.redaction.model import Span, Subject

_NUMBER = re.compile(
    r"(?<![0-9０-９A-Za-z_.,/+=&#-])"
    r"[2-6２-６][0-9０-９]{3}"
    r"(?:[0-9０-９]{11,12}"
    r"|(?P<gap>[ \u3000\u00a0‐‑–−ー－-])"
    r"(?:[0-9０-９]{4}(?P=gap)[0-9０-９]{4}(?P=gap)[0-9０-９]{4}(?:(?P=gap)[0-9０-９]{3})?"
    r"|[0-9０-９]{6}(?P=gap)[0-9０-９]{4,5}))"
    r"(?![0-9０-９A-Za-z_/+=-]|\.[0-9])"
)

# issuer identification numbers: first digits from, to, and the lengths issued
_ISSUERS: tuple[tuple[str, str, frozenset[int]], ...] = (
    ("4", "4", frozenset({16, 19})),
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
    for match in _NUMBER.finditer(subject.text):
        digits = "".join(str(int(c)) for c in match[0] if c.isdigit())
        if _issued(digits) and _luhn(digits):
            yield Span(match.start(), match.end(), "card-number")


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

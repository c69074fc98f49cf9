"""Text from anywhere: made safe for the standard library's normalisation, held side by side."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

MAX_MARKS = 30
"""Combining marks in a row, as in Unicode's stream-safe text format (UAX #15, section 13)."""

_CLOSING = " .。．"


@cache
def _long_runs() -> re.Pattern[str]:
    marks = "".join(chr(code) for code in range(0x300, 0x20000) if unicodedata.combining(chr(code)))
    return re.compile(f"([{re.escape(marks)}]{{{MAX_MARKS}}})[{re.escape(marks)}]+")


def cap_marks(text: str) -> str:
    """Return `text` with no more than `MAX_MARKS` combining marks in a row.

    Normalising sorts each run of marks, in a time that grows with the square of its length: one
    message of a hundred thousand marks would take half a minute. No language needs so many.
    """
    return text if text.isascii() else _long_runs().sub(r"\1", text)


def says_again(text: str, *others: str) -> bool:
    """Tell whether `text` is one of `others` but for its closing mark, or nothing."""
    return text.rstrip(_CLOSING) in {"", *(other.rstrip(_CLOSING) for other in others)}

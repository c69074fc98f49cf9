"""Finding a quotation in its source after normalising space and width; case is kept."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from context_engine.text import cap_marks

_CJK_FROM = 0x2E80
_MARKS = "\uff9e\uff9f"
"""Half-width voicing marks: NFKC joins them with the letter before."""
_CLUSTER = 8
"""A letter with more marks is no language; normalising a long run of them is quadratic."""


@dataclass(frozen=True)
class Folded:
    """Comparable `text`; its character i stands at [starts[i], ends[i]) of the source."""

    text: str
    starts: list[int]
    ends: list[int]

    def find(self, quote: str) -> tuple[int, int] | None:
        """Return (start, end) of `quote` in the source, or None."""
        needle = fold(quote).text.strip()
        if not needle:
            return None
        at = self.text.find(needle)
        if at < 0:
            return None
        return self.starts[at], self.ends[at + len(needle) - 1]


def _is_cjk(char: str) -> bool:
    return ord(char) >= _CJK_FROM


def _clusters(text: str) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for index, char in enumerate(text):
        joins = char in _MARKS or unicodedata.combining(char) != 0
        if spans and joins and index - spans[-1][0] < _CLUSTER:
            spans[-1] = (spans[-1][0], index + 1)
        else:
            spans.append((index, index + 1))
    return spans


def fold(text: str) -> Folded:
    """Normalise width (NFKC) and space: runs become one, none remains beside CJK characters."""
    chars: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    gap: tuple[int, int] | None = None
    for start, end in _clusters(text):
        for char in unicodedata.normalize("NFKC", cap_marks(text[start:end])):
            if char.isspace():
                gap = gap or (start, end)
                continue
            if gap and chars and not (_is_cjk(char) or _is_cjk(chars[-1])):
                chars.append(" ")
                starts.append(gap[0])
                ends.append(gap[1])
            gap = None
            chars.append(char)
            starts.append(start)
            ends.append(end)
    return Folded("".join(chars), starts, ends)

"""Code fences of a text: which lines are code, found in linear time.

Openers in the first column mean the same to every Markdown reader. Indented ones depend on the
list around them; whoever relies on those asks `is_sound`, which asks markdown-it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_FENCE = re.compile(r"( *)(`{3,}|~{3,})(.*)")
_CLOSER_INDENT = 3
_SENTINEL = "\n\n## end"


@dataclass(frozen=True)
class Fences:
    """Closed fences as [first line, line after the last), and whether an opener was indented."""

    ranges: tuple[tuple[int, int], ...]
    indented: bool

    def code_lines(self) -> set[int]:
        """Return the lines inside fences, the fence lines themselves included."""
        return {line for start, end in self.ranges for line in range(start, end)}


@dataclass(frozen=True)
class _Line:
    number: int
    indent: int
    mark: str
    bare: bool
    opens: bool

    def closes(self, opener: _Line) -> bool:
        """Tell whether this line ends the fence that `opener` began."""
        return (
            self.bare
            and self.mark[0] == opener.mark[0]
            and len(self.mark) >= len(opener.mark)
            and (self.indent <= _CLOSER_INDENT or opener.indent > 0)
        )


def find_fences(lines: Sequence[str]) -> Fences:
    """Return the closed fences; an opener that nothing closes is no fence."""
    marks = [mark for number, line in enumerate(lines) if (mark := _mark(number, line))]
    longest = _longest_closers(marks)
    ranges: list[tuple[int, int]] = []
    indented = False
    position = 0
    while position < len(marks):
        opener = marks[position]
        closer = _closer(marks, position, longest)
        if not opener.opens or closer is None:
            position += 1
            continue
        ranges.append((opener.number, marks[closer].number + 1))
        indented = indented or opener.indent > 0
        position = closer + 1
    return Fences(tuple(ranges), indented)


def opens_fence(line: str) -> bool:
    """Tell whether `line` alone would begin a fence."""
    mark = _mark(0, line)
    return mark is not None and mark.opens


def is_sound(text: str, fences: Fences) -> bool:
    """Tell whether markdown-it sees these fences too, no HTML block, and nothing left open."""
    if not fences.indented:
        return True
    tokens = _blocks().parse(text + _SENTINEL)
    seen = {tuple(token.map or ()) for token in tokens if token.type == "fence"}
    headings = [token for token in tokens if token.type == "heading_open" and token.level == 0]
    return (
        all(pair in seen for pair in fences.ranges)
        and len(headings) == 1
        and not any(token.type == "html_block" for token in tokens)
    )


def _mark(number: int, line: str) -> _Line | None:
    # most lines hold neither: told apart faster than by the expression
    match = _FENCE.match(line) if "```" in line or "~~~" in line else None
    if not match:
        return None
    indent, mark, info = match.groups()
    opens = mark[0] == "~" or "`" not in info
    return _Line(number, len(indent), mark, bare=not info.strip(" \t"), opens=opens)


def _longest_closers(marks: Sequence[_Line]) -> list[dict[tuple[str, bool], int]]:
    """Return for each mark the longest closer behind it, by (character, indented too)."""
    longest: dict[tuple[str, bool], int] = {}
    result: list[dict[tuple[str, bool], int]] = []
    for mark in reversed(marks):
        result.append(longest)
        if mark.bare:
            keys = [(mark.mark[0], True)]
            if mark.indent <= _CLOSER_INDENT:
                keys.append((mark.mark[0], False))
            longest = longest | {key: max(longest.get(key, 0), len(mark.mark)) for key in keys}
    return result[::-1]


def _closer(
    marks: Sequence[_Line], position: int, longest: Sequence[dict[tuple[str, bool], int]]
) -> int | None:
    opener = marks[position]
    # without this look-ahead, openers that nothing closes would each search to the end
    if longest[position].get((opener.mark[0], opener.indent > 0), 0) < len(opener.mark):
        return None
    return next(
        number for number in range(position + 1, len(marks)) if marks[number].closes(opener)
    )


@cache
def _blocks() -> MarkdownIt:
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark")
    reader.core.ruler.disable(["inline", "text_join"])
    return reader

"""Markdown cut at its first two levels of headings, which are what a worklog's entries have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
_UNDERLINE = re.compile(r"^ {0,3}(=+|-+)[ \t]*$")
_NOT_PROSE = re.compile(r"^\s*(?:[-*+>|#]|\d{1,9}[.)]\s|$)")
_CUT = 2


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what follows it. `path` holds the headings above it and its own."""

    path: tuple[str, ...]
    text: str
    """Without its heading; deeper headings as bold lines."""


@dataclass(frozen=True, slots=True)
class _Line:
    level: int
    text: str


def sections(body: str) -> Iterator[Section]:
    """Yield the sections of `body` in order; the text before any heading has an empty path.

    A section without text of its own is left out; its heading is in the paths below it.
    """
    above, path = "", ()  # type: tuple[str, tuple[str, ...]]
    lines: list[str] = []
    for line in _lines(body):
        if 0 < line.level <= _CUT:
            yield from _section(path, lines)
            lines = []
            above = line.text if line.level == 1 else above
            path = (line.text,) if line.level == 1 else (above, line.text)
        else:
            lines.append(f"**{line.text}**" if line.level and line.text else line.text)
    yield from _section(path, lines)


def headings_alone(body: str) -> Iterator[Section]:
    """Yield the headings of a body that has nothing else as one section without a path."""
    yield from _section((), [line.text for line in _lines(body) if line.text])


def first_heading(body: str) -> str:
    """Return the first heading of the highest level when `body` begins with one, else ''."""
    for line in _lines(body[:20_000]):
        if line.level == 1:
            return line.text
        if line.text.strip():
            return ""
    return ""


def _section(path: tuple[str, ...], lines: list[str]) -> Iterator[Section]:
    text = "\n".join(lines).strip("\n")
    if text.strip():
        yield Section(tuple(title for title in path if title), text)


def _lines(body: str) -> Iterator[_Line]:
    """Yield lines with the level of the heading each is, 0 for text. Code holds no headings."""
    fence = ""
    held: str | None = None
    for line in body.split("\n"):
        underline = _UNDERLINE.match(line) if held is not None and not fence else None
        if underline and held is not None:
            yield _Line(1 if underline[1].startswith("=") else 2, held.strip())
            held = None
            continue
        if held is not None:
            yield _Line(0, held)
            held = None
        mark = _FENCE.match(line)
        if mark:
            fence = _after(fence, mark[1], line)
        heading = None if fence or mark else _HEADING.match(line)
        if heading:
            yield _Line(len(heading[1]), heading[2].strip())
        elif fence or mark or _NOT_PROSE.match(line):
            yield _Line(0, line)
        else:
            held = line
    if held is not None:
        yield _Line(0, held)


def _after(fence: str, mark: str, line: str) -> str:
    """Return the fence that is open behind a line with this mark."""
    if not fence:
        return mark
    closes = mark[0] == fence[0] and len(mark) >= len(fence) and not line.strip().strip(mark[0])
    return "" if closes else fence

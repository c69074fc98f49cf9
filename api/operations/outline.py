"""A note compressed: its headings and the lines that a question concerns, or one section."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from index.tokenize import tokenize
from vault.markdown import Section, sections

_MAX_LINE = 200
_LINES_PER_SECTION = 3
_MAX_SECTIONS = 2_000

T = TypeVar("T")


@dataclass(frozen=True)
class Line:
    """A line of an outline. A lower `rank` is kept longer when space is short."""

    rank: tuple[int, int]
    text: str


def outline(body: str, query: str | None) -> tuple[Line, ...]:
    """Return headings and key lines in the order of the note.

    With a query the key lines are those that share words with it; without, the first of each
    section. Headings outrank lines, unless a line answers the query.
    """
    wanted = frozenset(tokenize(query)) if query else frozenset()
    lines: list[Line] = []
    for number, section in enumerate(sections(body)[:_MAX_SECTIONS]):
        if section.level:
            lines.append(Line((1, number), f"{'#' * section.level} {_shorten(section.title)}"))
        lines.extend(
            Line((-overlap if wanted else 2, number), _shorten(text))
            for overlap, text in _key_lines(section, wanted)
        )
    return tuple(lines)


def keep(lines: Sequence[Line], count: int) -> str:
    """Return the `count` lines that matter most, in the order of the note."""
    chosen = sorted(range(len(lines)), key=lambda at: lines[at].rank)[:count]
    return "\n".join(lines[at].text for at in sorted(chosen))


def best_sections(body: str, query: str) -> tuple[Section, ...]:
    """Return the sections that share words with `query`, best first."""
    wanted = frozenset(tokenize(query))
    found = sections(body)[:_MAX_SECTIONS]
    return _by_overlap(found, wanted, lambda section: f"{section.title}\n{section.text}")


def as_markdown(section: Section) -> str:
    """Return a section with its heading."""
    heading = f"{'#' * section.level} {section.title}\n\n" if section.level else ""
    return heading + section.text


def _key_lines(section: Section, wanted: frozenset[str]) -> list[tuple[int, str]]:
    texts = [text for text in section.text.split("\n") if text.strip()]
    if not wanted:
        return [(0, text) for text in texts[:1]]
    best = _by_overlap(texts, wanted, lambda text: text)[:_LINES_PER_SECTION]
    kept = set(best)
    return [(_overlap(text, wanted), text) for text in texts if text in kept]


def _by_overlap(
    items: Sequence[T], wanted: frozenset[str], text: Callable[[T], str]
) -> tuple[T, ...]:
    scored = [(_overlap(text(item), wanted), item) for item in items]
    hits = [(score, item) for score, item in scored if score]
    return tuple(item for _, item in sorted(hits, key=lambda pair: -pair[0]))


def _overlap(text: str, wanted: frozenset[str]) -> int:
    return len(wanted.intersection(tokenize(text)))


def _shorten(text: str) -> str:
    line = text.strip()
    return line if len(line) <= _MAX_LINE else line[: _MAX_LINE - 1] + "…"

"""A note compressed: its headings and the lines that a question concerns, or the best sections."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from api.operations.relevance import Question, enough, weigh
from vault.markdown import Section, sections

_MAX_LINE = 200
_MAX_PIECE = 190
"""Characters that are shown of a longer line, ellipses aside."""
_MAX_LOOKED_AT = 20_000
"""Characters of one line."""
_LINES_PER_SECTION = 3
_MAX_SECTIONS = 2_000
_OTHER_HEADINGS = 30
"""Headings that a question does not concern are a map of the note, when they are so few."""

_SENTENCE_END = re.compile(r"(?<=[。！？])|(?<=[.!?;:] )")
_HEADING = 0
_TEXT = 1


@dataclass(frozen=True)
class Line:
    """A line of an outline. A lower `rank` is kept longer when space is short."""

    rank: tuple[float, int, int]
    text: str


@dataclass(frozen=True)
class Outline:
    """Lines in the order of the note."""

    lines: tuple[Line, ...]
    matched: bool = True
    """False when nothing in the note shares a word with the question."""
    left_out: int = 0
    """Headings that the question does not concern and that are too many to be shown."""

    def keep(self, count: int) -> str:
        """Return the `count` lines that matter most, in the order of the note."""
        chosen = sorted(range(len(self.lines)), key=lambda at: self.lines[at].rank)[:count]
        return "\n".join(self.lines[at].text for at in sorted(chosen))


def outline(body: str, query: str | None) -> Outline:
    """Return headings and key lines.

    With a query the key lines are those that concern it, with the headings above them; other
    headings are added while they are few. Without, or when nothing matches, they are the first
    line of each section.
    """
    found = sections(body)[:_MAX_SECTIONS]
    if query is None:
        return Outline(tuple(_plain(found)))
    concerned = _concerned(found, query)
    if not concerned:
        return Outline(tuple(_plain(found)), matched=False)
    others = _others(found, concerned)
    shown = concerned.keys() | others
    lines = (line for at in sorted(shown) for line in _lines(found, at, concerned.get(at)))
    headings = sum(1 for section in found if section.level)
    return Outline(tuple(lines), left_out=headings - sum(1 for at in shown if found[at].level))


def best_sections(body: str, query: str) -> tuple[str, ...]:
    """Return the sections that concern `query` as Markdown, best first.

    A heading that has nothing but sections below it brings those along.
    """
    found = sections(body)[:_MAX_SECTIONS]
    texts = [f"{section.title}\n{section.text}" for section in found]
    _, scores = weigh(query, texts)
    least = enough(scores)
    best = [at for at, score in enumerate(scores) if score >= least]
    taken: dict[int, None] = {}
    for at in sorted(best, key=lambda at: -scores[at]):
        taken.update(dict.fromkeys(_with_what_is_below(found, at)))
    return tuple(_as_markdown(found[at]) for at in taken)


@dataclass(frozen=True)
class _Match:
    """What a question concerns in one section: its best score, and the lines, in order."""

    score: float
    lines: tuple[tuple[float, str], ...]


def _plain(found: Sequence[Section]) -> Iterator[Line]:
    for number, section in enumerate(found):
        if section.level:
            yield Line((1, number, _HEADING), _heading(section))
        yield from (Line((2, number, _TEXT), _shorten(text)) for text in _texts(section)[:1])


def _lines(found: Sequence[Section], at: int, match: _Match | None) -> Iterator[Line]:
    section = found[at]
    if section.level:
        yield Line((-match.score if match else 1, at, _HEADING), _heading(section))
    if match:
        yield from (Line((-score, at, _TEXT), text) for score, text in match.lines)


def _concerned(found: Sequence[Section], query: str) -> dict[int, _Match]:
    """Return the sections that the query concerns by their number, those above them included."""
    texts = [_texts(section) for section in found]
    titles = [section.title for section in found]
    question, scores = weigh(query, [*titles, *chain.from_iterable(texts)])
    least = enough(scores)
    rest = iter(scores[len(found) :])
    scored = [[(next(rest), text) for text in each] for each in texts]
    matches = {
        at: _match(question, scored[at], scores[at], least)
        for at in range(len(found))
        if scores[at] >= least or any(score >= least for score, _ in scored[at])
    }
    return matches | _headings_above(found, matches)


def _headings_above(found: Sequence[Section], matches: dict[int, _Match]) -> dict[int, _Match]:
    """Return the sections above `matches`, each as good as the best below it."""
    raised: dict[int, _Match] = {}
    for at, above in reversed(list(enumerate(_parents(found)))):
        below = raised.get(at, matches.get(at))
        if below is not None and above is not None:
            known = raised.get(above, matches.get(above, _Match(0.0, ())))
            raised[above] = _Match(max(known.score, below.score), known.lines)
    return raised


def _match(
    question: Question, scored: Sequence[tuple[float, str]], title: float, least: float
) -> _Match:
    concerned = [at for at, (score, _) in enumerate(scored) if score >= least]
    best = sorted(concerned, key=lambda at: -scored[at][0])[:_LINES_PER_SECTION]
    # a heading that matches by itself says nothing without a line of what it is about
    shown = sorted(best) or ([0] if scored else [])
    lines = tuple((scored[at][0], _excerpt(scored[at][1], question)) for at in shown)
    return _Match(max([title, *(score for score, _ in lines)]), lines)


def _others(found: Sequence[Section], concerned: dict[int, _Match]) -> frozenset[int]:
    """Return the other headings down to the level at which they are still few."""
    rest = [at for at, section in enumerate(found) if section.level and at not in concerned]
    for level in range(6, 0, -1):
        within = frozenset(at for at in rest if found[at].level <= level)
        if len(within) <= _OTHER_HEADINGS:
            return within
    return frozenset()


def _parents(found: Sequence[Section]) -> list[int | None]:
    """Return for each section the number of the one whose heading stands above it."""
    open_: list[int] = []
    parents: list[int | None] = []
    for at, section in enumerate(found):
        while open_ and found[open_[-1]].level >= section.level:
            open_.pop()
        parents.append(open_[-1] if open_ else None)
        if section.level:
            open_.append(at)
    return parents


def _with_what_is_below(found: Sequence[Section], at: int) -> Iterator[int]:
    yield at
    if found[at].text.strip() or found[at].level <= 1:
        return
    for below in range(at + 1, len(found)):
        if found[below].level <= found[at].level:
            return
        yield below


def _texts(section: Section) -> list[str]:
    return [text for text in section.text.split("\n") if text.strip()]


def _heading(section: Section) -> str:
    return f"{'#' * section.level} {_shorten(section.title)}"


def _as_markdown(section: Section) -> str:
    heading = f"{'#' * section.level} {section.title}\n\n" if section.level else ""
    return heading + section.text


def _excerpt(line: str, question: Question) -> str:
    """Return the sentences of a long line that concern the question most, as far as they fit."""
    text = line.strip()
    if len(text) <= _MAX_LINE:
        return text
    pieces = [
        sentence[start : start + _MAX_PIECE]
        for sentence in _SENTENCE_END.split(text[:_MAX_LOOKED_AT])
        for start in range(0, len(sentence), _MAX_PIECE)
    ]
    scores = [question.score(piece) for piece in pieces]
    chosen: list[int] = []
    room = _MAX_PIECE
    for at in sorted(range(len(pieces)), key=lambda at: -scores[at]):
        if chosen and (not scores[at] or len(pieces[at]) > room):
            break
        chosen.append(at)
        room -= len(pieces[at]) + 1
    return _joined(pieces, sorted(chosen))


def _joined(pieces: Sequence[str], chosen: Sequence[int]) -> str:
    """Return the chosen pieces, with an ellipsis wherever others stood."""
    whole = "" if chosen[0] == 0 else "…"
    for at, following in zip(chosen, [*chosen[1:], len(pieces)], strict=True):
        whole += pieces[at] + ("" if following == at + 1 else "…")
    return whole


def _shorten(text: str) -> str:
    line = text.strip()
    return line if len(line) <= _MAX_LINE else line[: _MAX_LINE - 1] + "…"

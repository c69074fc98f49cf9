"""What of a message its author said: sentences outside code, logs, quotations and pasted text.

Positions are kept, so that evidence stays a verbatim slice of the message.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from workers.extraction.foreign import foreign_lines

MAX_SENTENCE = 400
"""Characters; what is longer is rarely one statement of a person."""


@dataclass(frozen=True)
class Sentence:
    """`text == message[start:end]`; `paragraph` counts blank lines before it."""

    text: str
    start: int
    end: int
    paragraph: int


_BREAK = re.compile(r"[。！？!?]+[」』）)\"”]?|(?<=[^\s.])\.+[\"”)]?(?=\s|$)")
_QUOTED = re.compile(
    r"「[^」]{0,200}」|『[^』]{0,200}』|\"[^\"\n]{0,200}\"|“[^”]{0,200}”|`[^`\n]{0,200}`"
)
_ENCLOSED = re.compile(_QUOTED.pattern + r"|（[^）]{0,200}）|\([^)\n]{0,200}\)")
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|Mr|Ms|Mrs|Dr|St|No|[A-Za-z]))$")
_WRAPPED_AT = 60
_LONGEST_ABBREVIATION = 12


def _said_lines(text: str) -> Iterator[tuple[int, str, int]]:
    """Yield (position, line, paragraph) of the lines that are the author's own."""
    position, paragraph = 0, 0
    foreign = foreign_lines(text)
    for number, line in enumerate(text.splitlines(keepends=True)):
        start, position = position, position + len(line)
        body = line.rstrip()
        if not body:
            paragraph += 1
        elif number not in foreign:
            yield start, body, paragraph


def own_sentences(text: str) -> list[Sentence]:
    """Return the sentences that the author of `text` said, in order."""
    found: list[Sentence] = []
    for start, end, paragraph in _runs(text):
        found.extend(_split(text, start, end, paragraph))
    return found


def _runs(text: str) -> Iterator[tuple[int, int, int]]:
    """Join lines that were wrapped by hand; yield (start, end, paragraph)."""
    current: tuple[int, int, int] | None = None
    width = 0
    for start, line, paragraph in _said_lines(text):
        end = start + len(line)
        if current is not None:
            follows = start == current[1] + 1 and line[:1].islower()
            if follows and width >= _WRAPPED_AT:
                current, width = (current[0], end, paragraph), len(line)
                continue
            yield current
        current, width = (start, end, paragraph), len(line)
    if current is not None:
        yield current


def _split(text: str, start: int, end: int, paragraph: int) -> Iterator[Sentence]:
    begin = start
    enclosed = deque(match.span() for match in _ENCLOSED.finditer(text, start, end))
    for match in _BREAK.finditer(text, start, end):
        while enclosed and enclosed[0][1] <= match.start():
            enclosed.popleft()
        if _is_enclosed(text, match, enclosed) or _abbreviated(text, begin, match):
            continue
        yield from _sentence(text, begin, match.end(), paragraph)
        begin = match.end()
    yield from _sentence(text, begin, end, paragraph)


def _is_enclosed(text: str, stop: re.Match[str], enclosed: deque[tuple[int, int]]) -> bool:
    """Tell whether a full stop stands in brackets or quotation marks, as in 「行く。」と言った."""
    if not enclosed or stop.start() < enclosed[0][0]:
        return False
    closes = stop.end() >= enclosed[0][1]
    return not (closes and text[enclosed[0][1] - 1] in '"”')


def _abbreviated(text: str, begin: int, stop: re.Match[str]) -> bool:
    here = stop.start()
    near = max(begin, here - _LONGEST_ABBREVIATION)
    return text[here] == "." and _ABBREVIATION.search(text, near, here) is not None


def _sentence(text: str, start: int, end: int, paragraph: int) -> Iterator[Sentence]:
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip(" \t　-*・•"))
    piece = text[start:end].rstrip()
    if piece and len(piece) <= MAX_SENTENCE:
        yield Sentence(piece, start, start + len(piece), paragraph)


def without_quotations(sentence: str) -> str:
    """Return the sentence with quoted and code spans blanked out, positions kept."""
    return _QUOTED.sub(lambda match: "〓" * len(match.group()), sentence)

"""What of a message its author said: sentences outside code, logs, quotations and pasted text.

Positions are kept, so that evidence stays a verbatim slice of the message.
"""

from __future__ import annotations

import re
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


_BREAK = re.compile(r"[。！？!?]+[」』）)\"”]?|(?<=[^\s.])\.+[\"”)]?(?=\s|$)|\n")
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|Mr|Ms|Mrs|Dr|St|No|[A-Za-z]))$")
_OPEN = "「『（("
_CLOSE = "」』）)"
_WRAPPED_AT = 60


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
    for match in _BREAK.finditer(text, start, end):
        if match.group() == "\n" or _inside(text, begin, match.start(), end):
            continue
        here = match.start()
        if match.group().startswith(".") and _ABBREVIATION.search(
            text, max(begin, here - 12), here
        ):
            continue
        yield from _sentence(text, begin, match.end(), paragraph)
        begin = match.end()
    yield from _sentence(text, begin, end, paragraph)


def _inside(text: str, begin: int, here: int, end: int) -> bool:
    """Tell whether a bracket opened since `begin` is still open, and will be closed."""
    depth = 0
    for char in text[max(begin, here - MAX_SENTENCE) : here]:
        depth += (char in _OPEN) - (char in _CLOSE)
    return depth > 0 and any(char in _CLOSE for char in text[here : min(end, here + 120)])


def _sentence(text: str, start: int, end: int, paragraph: int) -> Iterator[Sentence]:
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip(" \t　-*・•"))
    piece = text[start:end].rstrip()
    if piece and len(piece) <= MAX_SENTENCE:
        yield Sentence(piece, start, start + len(piece), paragraph)


_QUOTED = re.compile(
    r"「[^」]{0,200}」|『[^』]{0,200}』|\"[^\"\n]{0,200}\"|“[^”]{0,200}”|`[^`\n]{0,200}`"
)


def without_quotations(sentence: str) -> str:
    """Return the sentence with quoted and code spans blanked out, positions kept."""
    return _QUOTED.sub(lambda match: "〓" * len(match.group()), sentence)

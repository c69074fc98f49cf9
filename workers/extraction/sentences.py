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


_BREAK = re.compile(r"[。！？!?]+[」』）)\"”]?|(?<=[^\s.])\.+[\"”)]?(?=\s|$)")
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|Mr|Ms|Mrs|Dr|St|No|[A-Za-z]))$")
_OPEN = "「『（("
_CLOSE = "」』）)"
_WRAPPED_AT = 60
_CLOSED_WITHIN = 120
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
    begin, seen, depth = start, start, 0
    for match in _BREAK.finditer(text, start, end):
        here = match.start()
        depth += _opened(text, seen, here)
        seen = here
        if _inside_brackets(text, here, end, depth, begin) or _abbreviated(text, begin, match):
            continue
        yield from _sentence(text, begin, match.end(), paragraph)
        begin, seen, depth = match.end(), match.end(), 0
    yield from _sentence(text, begin, end, paragraph)


def _opened(text: str, start: int, end: int) -> int:
    opened = sum(text.count(sign, start, end) for sign in _OPEN)
    return opened - sum(text.count(sign, start, end) for sign in _CLOSE)


def _inside_brackets(text: str, here: int, end: int, depth: int, begin: int) -> bool:
    """Tell whether a bracket that opened since `begin` is open here and will be closed soon."""
    if depth <= 0 or here - begin > MAX_SENTENCE:
        return False
    return any(text.find(sign, here, min(end, here + _CLOSED_WITHIN)) >= 0 for sign in _CLOSE)


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


_QUOTED = re.compile(
    r"「[^」]{0,200}」|『[^』]{0,200}』|\"[^\"\n]{0,200}\"|“[^”]{0,200}”|`[^`\n]{0,200}`"
)


def without_quotations(sentence: str) -> str:
    """Return the sentence with quoted and code spans blanked out, positions kept."""
    return _QUOTED.sub(lambda match: "〓" * len(match.group()), sentence)

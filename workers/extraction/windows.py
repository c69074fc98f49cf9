"""Messages cut into windows that fit the model's context, along turns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from context_engine.events import Role, Utterance
from workers.extraction.tokens import most_tokens, reach

LABEL_TOKENS = 24
"""What the line above each message costs."""

OVERLAP_TURNS = 3
OVERLAP_SHARE = 0.2
_CUTS = ("\n\n", "\n", "。", "！", "？", ". ", "! ", "? ", "、", " ")


@dataclass(frozen=True)
class Piece:
    """A message or a stretch of it."""

    utterance: Utterance
    start: int
    end: int

    @property
    def text(self) -> str:
        """The stretch itself."""
        return self.utterance.text[self.start : self.end]

    @cached_property
    def cost(self) -> int:
        """Tokens at most, its label included."""
        return most_tokens(self.text) + LABEL_TOKENS


@dataclass(frozen=True)
class Window:
    """What the model sees at once. Evidence may come from `own` only; `context` explains it."""

    context: tuple[Piece, ...]
    own: tuple[Piece, ...]

    @property
    def messages(self) -> tuple[Utterance, ...]:
        """The messages that evidence may come from."""
        return tuple(dict.fromkeys(piece.utterance for piece in self.own))


def split_windows(
    messages: Sequence[Utterance], budget: int, preceding: Sequence[Utterance] = ()
) -> list[Window]:
    """Return windows of at most `budget` tokens, context included.

    `preceding` are older messages that only explain the first window. A window that holds
    nothing but an assistant's words is left out: they are nobody's knowledge yet.
    """
    share = int(budget * OVERLAP_SHARE)
    before = [Piece(message, 0, len(message.text)) for message in preceding if message.text.strip()]
    windows: list[Window] = []
    for group in _packed(messages, budget - share):
        windows.append(Window(_overlap(before, share), tuple(group)))
        before.extend(group)
    return [window for window in windows if _worth_reading(window)]


def halves(window: Window) -> list[Window]:
    """Return the window in two, for an answer that did not fit; one piece is cut at its middle."""
    if len(window.own) > 1:
        middle = len(window.own) // 2
        first, second = window.own[:middle], window.own[middle:]
    else:
        piece = window.own[0]
        cut = _cut(piece.utterance.text, piece.start, (piece.start + piece.end) // 2)
        if not piece.start < cut < piece.end:
            return []
        first = (Piece(piece.utterance, piece.start, cut),)
        second = (Piece(piece.utterance, cut, piece.end),)
    return [Window(window.context, first), Window((), second)]


def _worth_reading(window: Window) -> bool:
    return any(piece.utterance.role is not Role.ASSISTANT for piece in window.own)


def _overlap(before: Sequence[Piece], share: int) -> tuple[Piece, ...]:
    chosen: list[Piece] = []
    left = share
    for piece in reversed(before[-OVERLAP_TURNS:]):
        if piece.cost > left:
            chosen.extend(_tail(piece, left - LABEL_TOKENS))
            break
        left -= piece.cost
        chosen.append(piece)
    return tuple(reversed(chosen))


def _tail(piece: Piece, room: int) -> Iterator[Piece]:
    """Yield the end of a piece, from where a sentence begins, when it is worth showing."""
    if room < LABEL_TOKENS:
        return
    text = piece.utterance.text
    # a character is one token at least in the worst case, so this many fit
    start = _cut(text, max(piece.start, piece.end - room), piece.end - room // 4)
    if piece.start < start < piece.end and most_tokens(text[start : piece.end]) <= room:
        yield Piece(piece.utterance, start, piece.end)


def _packed(messages: Sequence[Utterance], room: int) -> Iterator[list[Piece]]:
    """Yield groups of pieces that fit into `room`; a turn stays whole when it can."""
    group: list[Piece] = []
    used = 0
    for unit in chain.from_iterable(_units(turn, room) for turn in _turns(messages)):
        cost = sum(piece.cost for piece in unit)
        if group and used + cost > room:
            yield group
            group, used = [], 0
        group.extend(unit)
        used += cost
    if group:
        yield group


def _turns(messages: Iterable[Utterance]) -> Iterator[list[Utterance]]:
    """Group messages so that each group begins with the owner speaking."""
    turn: list[Utterance] = []
    for message in messages:
        if not message.text.strip():
            continue
        if turn and message.role is Role.OWNER:
            yield turn
            turn = []
        turn.append(message)
    if turn:
        yield turn


def _units(turn: Sequence[Utterance], room: int) -> Iterator[list[Piece]]:
    pieces = [Piece(message, 0, len(message.text)) for message in turn]
    if sum(piece.cost for piece in pieces) <= room:
        yield pieces
        return
    for piece in pieces:
        for part in _parts(piece.utterance, room - LABEL_TOKENS):
            yield [part]


def _parts(message: Utterance, room: int) -> Iterator[Piece]:
    """Cut one message at paragraphs, lines or sentences into stretches of `room` tokens."""
    start, size = 0, len(message.text)
    while start < size:
        end = reach(message.text, start, room)
        if end < size:
            end = _cut(message.text, start, end)
        yield Piece(message, start, end)
        start = end


def _cut(text: str, start: int, end: int) -> int:
    """Return the best place to cut in the last half before `end`."""
    floor = start + max(1, (end - start) // 2)
    for mark in _CUTS:
        at = text.rfind(mark, floor, end)
        if at >= 0:
            return at + len(mark)
    return end

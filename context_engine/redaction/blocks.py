"""Secrets of many lines: what the owner fenced off as private, and private keys."""

from __future__ import annotations

import re
from collections.abc import Iterator

from context_engine.redaction.model import Span, Subject

_OPEN, _CLOSE = b"<private>", b"</private>"
_BEGIN = re.compile(
    r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}|Private-Lines: \d{1,4}"
)
_BEGINNINGS = (b"-----begin ", b"---- begin ", b"private-lines:")
_END = re.compile(r"-{4,5} ?END[A-Z0-9 ]{0,60}-{0,5}")
# Between two pieces of a key: line ends (escaped ones too), quoting, indentation, diff signs
_GAP = re.compile(r"(?:[\s>#|*\"'+,;(){}]|\\+[nrt\"'\\]|<br ?/?>|//|- )*+")
_PIECE = re.compile(r"[A-Za-z0-9+/=]++")
_HEADER = re.compile(
    r"(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|MessageID|Subject): ?[^\n\\]{1,200}"
)
_LONG = 24
"""Shorter words end a truncated key: what follows is text again."""


def private_blocks(subject: Subject) -> Iterator[Span]:
    """Yield `<private>…</private>`; one that is never closed reaches to the end of the text.

    Nested blocks are one. A tag in backticks is talk about the tag.
    """
    position = 0
    while (start := subject.lower.find(_OPEN, position)) >= 0:
        if (
            subject.ascii[start - 1 : start] == b"`"
            and subject.ascii[start + 9 : start + 10] == b"`"
        ):
            position = start + len(_OPEN)
            continue
        position = _block_end(subject.lower, start)
        yield Span(start, position, "private")


def _block_end(lower: bytes, start: int) -> int:
    depth, position = 1, start + len(_OPEN)
    while depth:
        close = lower.find(_CLOSE, position)
        if close < 0:
            return len(lower)
        depth += lower.count(_OPEN, position, close) - 1
        position = close + len(_CLOSE)
    return position


def private_keys(subject: Subject) -> Iterator[Span]:
    """Yield PEM, OpenSSH, PuTTY and PGP keys, also truncated, quoted or escaped in a string."""
    position = 0
    for start in sorted(place for literal in _BEGINNINGS for place in subject.places(literal)):
        begin = _BEGIN.match(subject.text, start) if start >= position else None
        if begin is None:
            continue
        position = _key_end(subject.text, begin.end())
        if position > begin.end():
            yield Span(start, position, "private-key")


def _key_end(text: str, position: int) -> int:
    """Return where the key's material ends; `position` itself when there is none."""
    end = position
    while piece := _piece(text, end):
        end = piece.end()
    if end == position:
        return position
    closing = _END.match(text, _skip_gap(text, end))
    return closing.end() if closing else end


def _piece(text: str, position: int) -> re.Match[str] | None:
    """Return the next header or line of the key; its last line may be short."""
    at = _skip_gap(text, position)
    header = _HEADER.match(text, at)
    if header:
        return header
    piece = _PIECE.match(text, at)
    if piece is None or len(piece[0]) >= _LONG or piece[0].startswith("="):
        return piece
    return piece if _END.match(text, _skip_gap(text, piece.end())) else None


def _skip_gap(text: str, position: int) -> int:
    gap = _GAP.match(text, position)
    return gap.end() if gap else position

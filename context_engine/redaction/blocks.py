"""Secrets of many lines: what the owner fenced off as private, and private keys."""

from __future__ import annotations

import re
from collections.abc import Iterator

from context_engine.redaction.model import Span, Subject

_OPEN, _CLOSE = b"<private>", b"</private>"
_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-{1,5}(?:END [A-Z0-9 ]{0,40}(?:PRIVATE KEY(?: BLOCK)?(?:-{1,5})?)?)?")
# What lies between two pieces of a key: line ends (escaped ones too), quoting, indentation, diff signs
_GAP = re.compile(r"(?:[\s>#|*\"'+,;(){}]|\\+[nrt\"'\\]|<br ?/?>|//|- )*+")
_PIECE = re.compile(r"[A-Za-z0-9+/=]++")
_HEADER = re.compile(r"[A-Z][A-Za-z-]{2,30}: ?[^\n\\]{1,200}")
_LONG = 24


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
    """Yield PEM, OpenSSH and PGP private keys, also truncated, quoted or escaped in a string."""
    position = 0
    for start in subject.places(b"-----begin "):
        begin = _BEGIN.match(subject.text, start)
        if begin is None or start < position:
            continue
        position = _key_end(subject.text, begin.end())
        if position > begin.end():
            yield Span(start, position, "private-key")


def _key_end(text: str, position: int) -> int:
    """Return where the key's material ends; `position` itself when there is none."""
    end = position
    while True:
        gap = _GAP.match(text, end)
        at = gap.end() if gap else end
        piece = _HEADER.match(text, at) or _PIECE.match(text, at)
        if piece is None:
            break
        if not _is_material(piece[0]) and not _closes(text, piece.end()):
            break
        end = piece.end()
    if end == position:
        return position
    closing = _END.match(text, at)
    return closing.end() if closing else end


def _is_material(piece: str) -> bool:
    return ": " in piece or len(piece) >= _LONG or piece.startswith("=")


def _closes(text: str, position: int) -> bool:
    gap = _GAP.match(text, position)
    return text.startswith("-----END", gap.end() if gap else position)

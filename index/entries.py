"""A note to index entries: one a chunk, with what surrounds it."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath

from context_engine.ids import digest
from index.chunking import split_section
from index.reading import Metadata, NoteText
from index.tokenize import TOKENIZER

_NEIGHBOURS = 2
"""Messages on each side that belong to a message's context."""
_NEIGHBOUR_CHARACTERS = 400
_ID_DIGITS = 16
_SEPARATOR = " > "


@dataclass(frozen=True)
class Entry:
    """One chunk as it is stored. `lexical` holds the columns of the keyword index."""

    chunk_id: str
    position: int
    section: int
    heading: str
    text: str
    message: bool
    at: datetime | None
    confidence: str | None
    superseded_by: str | None
    lexical: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]
    """Body, heading and context, each in parts that are tokenised on their own."""
    passage: str
    """What is embedded."""

    @property
    def entry_hash(self) -> bytes:
        """Equal when the keyword entry would be equal."""
        return _hash(TOKENIZER, *("\n".join(parts) for parts in self.lexical))

    @property
    def content_hash(self) -> bytes:
        """Equal when the vector of the passage would be equal."""
        return content_hash(self.passage)


@dataclass(frozen=True)
class _Cut:
    section: int
    heading: tuple[str, ...]
    text: str
    message: bool
    at: datetime | None
    confidence: str | None
    superseded_by: str | None


def build_entries(path: str, note: NoteText) -> list[Entry]:
    """Return the entries of `note`, in the order of the file."""
    cuts = list(_cuts(note))
    seen = Counter[tuple[str, str]]()
    entries = []
    for position, cut in enumerate(cuts):
        heading = _SEPARATOR.join(cut.heading)
        seen[heading, cut.text] += 1
        occurrence = str(seen[heading, cut.text])
        entries.append(
            Entry(
                chunk_id=digest("chunk", path, heading, cut.text, occurrence)[:_ID_DIGITS],
                position=position,
                section=cut.section,
                heading=heading,
                text=cut.text,
                message=cut.message,
                at=cut.at,
                confidence=cut.confidence,
                superseded_by=cut.superseded_by,
                lexical=((cut.text,), _headings(path, note, cut), _context(note, cuts, position)),
                passage=passage(note.metadata.title, heading, cut.text, message=cut.message),
            )
        )
    return entries


def passage(title: str, heading: str, text: str, *, message: bool) -> str:
    """Return what is embedded for a chunk.

    A message stands for itself: its neighbours are mixed in later, and a title that all messages
    of a conversation share would make them alike.
    """
    if message:
        return text
    head = _SEPARATOR.join(part for part in (title, heading) if part)
    return f"{head}\n{text}" if head else text


def content_hash(text: str) -> bytes:
    """Return the key under which the vector of `text` is kept."""
    return _hash(text)


def _cuts(note: NoteText) -> Iterator[_Cut]:
    for number, part in enumerate(note.sections):
        for piece in split_section(part.section):
            confidence = part.confidence.value if part.confidence else None
            yield _Cut(
                section=number,
                heading=piece.heading,
                text=piece.text,
                message=part.message,
                at=part.at,
                confidence=confidence,
                superseded_by=part.superseded_by,
            )


def _headings(path: str, note: NoteText, cut: _Cut) -> tuple[str, ...]:
    return (note.metadata.title or PurePosixPath(path).stem, *cut.heading)


def _context(note: NoteText, cuts: list[_Cut], position: int) -> tuple[str, ...]:
    parts = list(_labels(note.metadata))
    moment = cuts[position].at or note.metadata.created
    if moment is not None:
        parts.append(moment.strftime("%Y-%m-%d %B"))
    if cuts[position].message:
        before = cuts[max(0, position - _NEIGHBOURS) : position]
        after = cuts[position + 1 : position + 1 + _NEIGHBOURS]
        parts += [cut.text[-_NEIGHBOUR_CHARACTERS:] for cut in before]
        parts += [cut.text[:_NEIGHBOUR_CHARACTERS] for cut in after]
    return tuple(parts)


def _labels(metadata: Metadata) -> Iterator[str]:
    yield from (text for text in (metadata.summary, metadata.project) if text)
    yield from metadata.tags
    yield from metadata.people


def hash_bytes(*parts: bytes) -> bytes:
    """Return 16 bytes over the parts, each length-prefixed."""
    hasher = hashlib.blake2b(digest_size=16)
    for data in parts:
        hasher.update(len(data).to_bytes(8, "big"))
        hasher.update(data)
    return hasher.digest()


def _hash(*parts: str) -> bytes:
    return hash_bytes(*(part.encode("utf-8", "surrogatepass") for part in parts))

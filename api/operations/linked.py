"""The notes that a note links to, compressed to what a question concerns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field

from api.caller import Caller
from api.operations.base import Services
from api.operations.found import clip
from api.operations.links import LinkTo
from api.operations.notes import for_readers, load_note, place_of
from api.operations.outline import Outline, outline
from api.operations.quoting import Label, label
from api.operations.staleness import stale_warnings
from context_engine.clock import isoformat
from context_engine.errors import BadInputError, NotFoundError, UnsafePathError

if TYPE_CHECKING:
    from vault.notes import Note

MAX_LINKED = 10
MAX_LINES = 60
FEW_LINES = 4
"""With fewer of each, fewer notes are shown instead."""
_MAX_SCANNED = 50_000
"""Characters of a linked note that are looked at."""
_MAX_TITLE = 80


class LinkedNote(BaseModel):
    """A note that is linked to, in outline."""

    model_config = ConfigDict(frozen=True)

    path: str
    title: str
    kind: str | None
    confidence: Label
    date: str | None
    text: Annotated[str, Field(description="Headings and the lines that query concerns.")]
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Linked:
    """A linked note before it is known how many of its lines there is room for."""

    note: Note
    outline: Outline

    def within(self, lines: int) -> LinkedNote:
        """Return the note with its `lines` most important lines."""
        note = self.note
        return LinkedNote(
            path=place_of(note),
            title=clip(note.title, _MAX_TITLE),
            kind=note.kind,
            confidence=label(note.confidence, note.path),
            date=isoformat(note.date) if note.date else None,
            text=self.outline.keep(lines),
            warnings=stale_warnings(note),
        )


def linked_notes(
    services: Services, caller: Caller, links: Sequence[LinkTo], query: str | None, *, but: str
) -> tuple[Linked, ...]:
    """Return the notes behind `links` that the caller may read, without the one at `but`.

    Those that the query concerns come first. What is absent, hidden, unreadable or deleted at its
    source is left out.
    """
    paths = dict.fromkeys(link.path for link in links)
    found = {place_of(note): note for note in _readable(services, caller, paths)}
    found.pop(but, None)
    notes = [
        Linked(note, outline(for_readers(note)[:_MAX_SCANNED], query)) for note in found.values()
    ]
    return tuple(sorted(notes, key=lambda linked: not linked.outline.matched)[:MAX_LINKED])


def _readable(services: Services, caller: Caller, paths: dict[str, None]) -> Iterator[Note]:
    from vault.marks import Standing

    for path in paths:
        with suppress(NotFoundError, UnsafePathError, BadInputError):
            note = load_note(services, caller, path)
            if note.standing is not Standing.WITHDRAWN:
                yield note

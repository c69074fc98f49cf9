"""Where the note of a document's part lies, or will lie when there is none yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from context_engine.errors import BadInputError
from context_engine.events import SourceDocument
from vault.blocks import Block, parse_body
from vault.find import find_note
from vault.layout import source_folder, source_root
from vault.names import note_name
from vault.notefile import decode_note
from vault.sourcefront import started, title_of
from vault.store import read_or_none

_MAX_COPIES = 9


@dataclass
class Place:
    """Where a document's part is written, and what stands in notes beside it that are broken."""

    path: str
    title: str
    elsewhere: list[Block] = field(default_factory=list)
    problem: str | None = None


def find_place(root: Path, document: SourceDocument) -> Place:
    """Return the place of one part; beside a note whose front matter a person broke.

    Raises BadInputError when none of several such notes can be continued.
    """
    first = find_note(root, source_root(document.source), document.document_id, document.part)
    title = title_of(document)
    place = Place(first or _new_path(document, title), title)
    stem = place.path.removesuffix(".md")
    for number in range(2, _MAX_COPIES):
        seen = _read_broken(root, place)
        if seen is None:
            return place
        place.elsewhere += seen
        place.path = f"{stem}-{number}.md"
    raise BadInputError(place.path, "none of this document's notes has readable front matter")


def _read_broken(root: Path, place: Place) -> Sequence[Block] | None:
    """Return the messages of the note at `place` when a person broke it, None when it is usable."""
    try:
        seen = read_or_none(root, place.path)
        note = decode_note(seen.data, place.path) if seen else None
    except BadInputError as error:
        place.problem = error.reason
        return ()
    if note is None or (note.yaml is not None and note.problem is None):
        return None
    place.problem = note.problem or "its front matter was removed"
    return parse_body(note.body).blocks


def _new_path(document: SourceDocument, title: str) -> str:
    folder = source_folder(document.source, started(document))
    name = note_name(title, document.document_id, part=document.part)
    return f"{folder}/{name}"

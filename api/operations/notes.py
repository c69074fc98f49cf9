"""Notes as an operation reads them: found by a place, within what the caller may read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from api.caller import Caller
from api.operations.base import Services
from context_engine.errors import NotFoundError
from context_engine.insights import Confidence
from context_engine.scopes import Scope

if TYPE_CHECKING:
    from vault.blocks import Block
    from vault.entries import Entry
    from vault.notes import Note

_MESSAGE_MARK = re.compile(r"[ \t]*<!-- ce:u=[^<>]*-->")
_INSIGHT_MARK = re.compile(r"<!-- ce:i=[0-9a-f]+[^<>]*-->")


def load_note(services: Services, caller: Caller, place: str) -> Note:
    """Return the note at `place`: `work/knowledge/…` or, of one's own vault, `knowledge/…`.

    Raises NotFoundError when it is absent or not the caller's to read, UnsafePathError when the
    path leaves its vault or passes through a link.
    """
    from vault.notes import read_note

    for scope, relative in _candidates(caller, place):
        try:
            return read_note(services.home, scope, relative)
        except NotFoundError:
            continue
    raise NotFoundError(place)


def place_of(note: Note) -> str:
    """Return what callers know a note by."""
    return f"{note.scope.value}/{note.path}"


def for_readers(note: Note) -> str:
    """Return the body with the engine's marks taken out, each insight's confidence put in.

    The vault says how far a section is to be believed; the mark in the file is anybody's to edit,
    and to copy: one that begins no section of the vault's vouches for nothing.
    """
    labels = {entry.insight_id: _label(entry) for entry in note.entries}
    body = note.parsed_body
    return _marked(body.lead) + "".join(
        _marked_block(block, labels.get(block.marker, Confidence.RAW)) for block in body.blocks
    )


def _marked_block(block: Block, label: str) -> str:
    heading, line_end, below = block.raw.partition("\n")
    return _marked(heading, label) + line_end + _marked(below)


def _marked(text: str, label: str = Confidence.RAW) -> str:
    return _INSIGHT_MARK.sub(f"[{label}]", _MESSAGE_MARK.sub("", text))


def _label(entry: Entry) -> str:
    from vault.marks import Standing

    if entry.standing is Standing.HOLDS:
        replaced = ", replaced since" if entry.superseded_by else ""
        return f"{entry.confidence.value}{replaced}"
    words = {Standing.STALE: "source changed since", Standing.WITHDRAWN: "deleted at the source"}
    return f"{entry.confidence.value}, {words[entry.standing]}"


def _candidates(caller: Caller, place: str) -> Iterator[tuple[Scope, str]]:
    first, _, rest = place.partition("/")
    for scope in caller.scope.readable:
        if first == scope.value:
            yield scope, rest
            return
    for scope in caller.scope.readable:
        yield scope, place

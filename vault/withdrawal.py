"""Documents that their source deleted: every note of one is marked, and unmarked on its return.

The mark is an entry of the front matter. The text stays for a person to read; the index leaves it
out.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from context_engine.clock import SystemClock, isoformat
from context_engine.errors import BadInputError
from context_engine.events import SourceDocument
from context_engine.home import Home
from vault.blocks import parse_body
from vault.find import find_note, find_parts
from vault.layout import source_root
from vault.locks import note_lock
from vault.marks import WITHDRAWN, Standing, standing_of_note
from vault.messages import revision_of
from vault.notefile import NoteText, decode_note, time_in, with_front
from vault.paths import vault_root
from vault.sourceplace import find_place
from vault.store import Snapshot, read_or_none, rewrite


def part_lock(home: Home, document: SourceDocument) -> AbstractContextManager[None]:
    """Return the lock that writers of this part of a document hold."""
    key = f"{document.source}/{document.document_id}/{document.part}"
    return note_lock(home, document.scope, key)


def follow_withdrawal(
    home: Home, document: SourceDocument, path: str, *, news: bool
) -> tuple[str, ...]:
    """Mark or unmark the notes of a document as `document` says; return which it has.

    () when the event says nothing about that.

    path: the note that holds this part. news: the event brought text that was not there before.
    """
    root = vault_root(home, document.scope)
    # a part that is new may belong to a document whose first part is marked
    first = find_note(root, source_root(document.source), document.document_id)
    if not (document.withdrawn or any(_is_marked(root, each) for each in {path, first or path})):
        return ()
    # the note that says whether there is anything to do comes last: a run may be killed
    parts = [part for part in _parts(root, document) if part.part != document.part]
    found = (_follow(home, part, news=news) for part in (*parts, document))
    return tuple(path for path in found if path)


def _is_marked(root: Path, path: str) -> bool:
    with suppress(BadInputError):  # a note that a person broke: the document goes on beside it
        seen = read_or_none(root, path)
        return seen is not None and _is_withdrawn(decode_note(seen.data, path))
    return False


def _is_withdrawn(note: NoteText) -> bool:
    return standing_of_note(note) is Standing.WITHDRAWN


def _parts(root: Path, document: SourceDocument) -> Iterator[SourceDocument]:
    numbers = find_parts(root, source_root(document.source), document.document_id)
    return (replace(document, part=number) for number in numbers)


def _follow(home: Home, document: SourceDocument, *, news: bool) -> str | None:
    root = vault_root(home, document.scope)
    with part_lock(home, document):
        path = find_place(root, document).path
        there = rewrite(root, path, lambda seen: _marked(seen, path, document, news=news))
        return path if there else None


def _marked(
    seen: Snapshot | None, path: str, document: SourceDocument, *, news: bool
) -> tuple[bytes | None, bool]:
    if seen is None:
        return None, False
    note = decode_note(seen.data, path)
    if document.withdrawn == _is_withdrawn(note) or not _counts(note, document, news=news):
        return None, True
    mark = _moment(document) if document.withdrawn else None
    text = with_front(note, {WITHDRAWN: mark}, path) + note.body
    return text.encode("utf-8", "replace"), True


def _counts(note: NoteText, document: SourceDocument, *, news: bool) -> bool:
    """Say whether `document` is later than what the note holds."""
    if document.withdrawn:
        known = max(map(revision_of, parse_body(note.body).blocks), default=0)
        return not document.revision or document.revision >= known
    since = time_in(note.front, WITHDRAWN)
    if since is None:
        # a person's mark, in a person's words
        return False
    return document.revision >= since.timestamp() * 1000 if document.revision else news


def _moment(document: SourceDocument) -> str:
    if not document.revision:
        return isoformat(SystemClock().now())
    return isoformat(datetime.fromtimestamp(document.revision / 1000, UTC))

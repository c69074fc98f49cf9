"""Rows of the index: what a note adds, changes and takes away. Callers hold the transaction."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

import apsw

from index.entries import Entry, hash_bytes
from index.reading import Metadata
from index.schema import PENDING, number
from index.tokenize import indexed
from index.vectors import SURROUND_WEIGHTS


@dataclass(frozen=True)
class FileState:
    """A vault file at one moment."""

    path: str
    size: int
    mtime_ns: int
    seen_ns: int
    hash: str


@dataclass(frozen=True)
class PreparedNote:
    """A note read, cut and tokenised, ready to be written."""

    file: FileState
    metadata: Metadata
    entries: Sequence[Entry]
    tokens: Sequence[tuple[str, str, str]]


@dataclass(frozen=True)
class StoredChunk:
    """What decides whether a stored chunk is still right."""

    rowid: int
    entry_hash: bytes
    content_hash: bytes
    surround_hash: bytes


def prepare(file: FileState, metadata: Metadata, entries: Sequence[Entry]) -> PreparedNote:
    """Do the work that needs no database."""
    tokens = [_tokens(entry) for entry in entries]
    return PreparedNote(file, metadata, entries, tokens)


def _tokens(entry: Entry) -> tuple[str, str, str]:
    body, heading, context = (" ".join(map(_indexed, parts)) for parts in entry.lexical)
    return body, heading, context


@lru_cache(maxsize=64)
def _indexed(text: str) -> str:
    """Tokenise a text once for its own entry and those of its neighbours."""
    return indexed(text)


def write_note(connection: apsw.Connection, note: PreparedNote) -> int:
    """Bring the rows of one note up to date; return how many chunks changed."""
    note_id = _write_metadata(connection, note)
    stored = _stored_chunks(connection, note_id)
    kept = {entry.chunk_id for entry in note.entries}
    gone = [row.rowid for chunk_id, row in stored.items() if chunk_id not in kept]
    delete_chunks(connection, gone)
    surroundings = _surroundings(note.entries)
    changed = len(gone)
    for entry, tokens, surround in zip(note.entries, note.tokens, surroundings, strict=True):
        row = stored.get(entry.chunk_id)
        if row is None:
            _insert_chunk(connection, note_id, entry, tokens, surround)
            changed += 1
        else:
            changed += _update_chunk(connection, row, entry, tokens, surround)
    return changed


def write_failure(connection: apsw.Connection, file: FileState, reason: str) -> None:
    """Remember that a file cannot be read, so that it is not tried again until it changes."""
    delete_note(connection, file.path)
    connection.execute(
        "INSERT INTO note (path, size, mtime_ns, indexed_ns, hash, error)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (file.path, file.size, file.mtime_ns, file.seen_ns, file.hash, reason),
    )


def delete_note(connection: apsw.Connection, path: str) -> int:
    """Remove a note and its chunks; return how many chunks went."""
    found = connection.execute("SELECT id FROM note WHERE path = ?", (path,)).fetchone()
    if found is None:
        return 0
    rowids = [
        rowid for (rowid,) in connection.execute("SELECT rowid FROM chunk WHERE note = ?", found)
    ]
    delete_chunks(connection, rowids)
    connection.execute("DELETE FROM note WHERE id = ?", found)
    return len(rowids)


def delete_chunks(connection: apsw.Connection, rowids: Sequence[int]) -> None:
    """Remove chunks from all three engines."""
    bindings = [(rowid,) for rowid in rowids]
    connection.executemany("DELETE FROM lexical WHERE rowid = ?", bindings)
    connection.executemany("DELETE FROM vector WHERE id = ?", bindings)
    connection.executemany("DELETE FROM chunk WHERE rowid = ?", bindings)


def _write_metadata(connection: apsw.Connection, note: PreparedNote) -> int:
    file, about = note.file, note.metadata
    note_id = number(
        connection,
        "INSERT INTO note (path, size, mtime_ns, indexed_ns, hash, error, type, title, summary,"
        " kind, confidence, source, project, people, tags, created, verified)"
        " VALUES (?, ?, ?, ?, ?, NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (path) DO UPDATE SET size = excluded.size, mtime_ns = excluded.mtime_ns,"
        " indexed_ns = excluded.indexed_ns, hash = excluded.hash, error = NULL,"
        " type = excluded.type, title = excluded.title, summary = excluded.summary,"
        " kind = excluded.kind, confidence = excluded.confidence, source = excluded.source,"
        " project = excluded.project, people = excluded.people, tags = excluded.tags,"
        " created = excluded.created, verified = excluded.verified RETURNING id",
        (
            *(file.path, file.size, file.mtime_ns, file.seen_ns, file.hash),
            *(about.type, about.title, about.summary, about.kind, about.confidence),
            *(about.source, about.project),
            json.dumps(about.people, ensure_ascii=False),
            json.dumps(about.tags, ensure_ascii=False),
            *(_stamp(about.created), _stamp(about.verified)),
        ),
    )
    connection.execute("DELETE FROM label WHERE note = ?", (note_id,))
    labels = [("person", name) for name in about.people] + [("tag", tag) for tag in about.tags]
    connection.executemany(
        "INSERT OR IGNORE INTO label VALUES (?, ?, ?)", [(note_id, *label) for label in labels]
    )
    return note_id


def _stored_chunks(connection: apsw.Connection, note: int) -> dict[str, StoredChunk]:
    rows = connection.execute(
        "SELECT chunk_id, rowid, entry_hash, content_hash, surround_hash FROM chunk WHERE note = ?",
        (note,),
    )
    return {chunk_id: StoredChunk(*rest) for chunk_id, *rest in rows}


def _surroundings(entries: Sequence[Entry]) -> list[bytes]:
    """Return a hash of what surrounds each message; nothing for sections of notes."""
    hashes = [entry.content_hash for entry in entries]
    reach = len(SURROUND_WEIGHTS)
    return [
        hash_bytes(
            b"|".join(hashes[max(0, place - reach) : place]),
            b"|".join(hashes[place + 1 : place + 1 + reach]),
        )
        if entry.message
        else b""
        for place, entry in enumerate(entries)
    ]


def _insert_chunk(
    connection: apsw.Connection,
    note: int,
    entry: Entry,
    tokens: tuple[str, str, str],
    surround: bytes,
) -> None:
    connection.execute(
        "INSERT INTO chunk (chunk_id, note, position, section, heading, text, at, confidence,"
        " superseded_by, entry_hash, content_hash, surround_hash)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(entry.chunk_id, note, entry.position, entry.section, entry.heading, entry.text),
            *(_stamp(entry.at), entry.confidence, entry.superseded_by),
            *(entry.entry_hash, entry.content_hash, surround),
        ),
    )
    _insert_lexical(connection, connection.last_insert_rowid(), tokens)


def _update_chunk(
    connection: apsw.Connection,
    row: StoredChunk,
    entry: Entry,
    tokens: tuple[str, str, str],
    surround: bytes,
) -> bool:
    """Bring one chunk that is still there up to date; return whether it is found otherwise."""
    connection.execute(
        "UPDATE chunk SET position = ?, section = ?, at = ?, confidence = ?, superseded_by = ?"
        " WHERE rowid = ?",
        (
            *(entry.position, entry.section, _stamp(entry.at), entry.confidence),
            *(entry.superseded_by, row.rowid),
        ),
    )
    entry_changed = row.entry_hash != entry.entry_hash
    vector_changed = (row.content_hash, row.surround_hash) != (entry.content_hash, surround)
    if entry_changed:
        connection.execute("DELETE FROM lexical WHERE rowid = ?", (row.rowid,))
        _insert_lexical(connection, row.rowid, tokens)
    if entry_changed or vector_changed:
        connection.execute(
            "UPDATE chunk SET entry_hash = ?, content_hash = ?, surround_hash = ? WHERE rowid = ?",
            (entry.entry_hash, entry.content_hash, surround, row.rowid),
        )
    if vector_changed:
        connection.execute(
            f"UPDATE chunk SET state = {PENDING}, attempts = 0 WHERE rowid = ?", (row.rowid,)
        )
    return entry_changed or vector_changed


def _insert_lexical(connection: apsw.Connection, rowid: int, tokens: tuple[str, str, str]) -> None:
    connection.execute(
        "INSERT INTO lexical (rowid, body, heading, context) VALUES (?, ?, ?, ?)", (rowid, *tokens)
    )


def _stamp(moment: datetime | None) -> float | None:
    return moment.timestamp() if moment else None

"""The index as a person leafs through it: how much there is, and what came last. Nothing scans."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath

import apsw

from context_engine.home import Home
from context_engine.scopes import Scope
from index.schema import damage_reported, number, open_for_reading

_NEWEST = 2**63 - 1
"""Above every number."""


@dataclass(frozen=True)
class Tally:
    """The size of one index."""

    notes: int
    chunks: int
    vectors: int
    size_bytes: int


@dataclass(frozen=True)
class NoteEntry:
    """One note of a list. `created` is in Unix seconds; texts are the note's: untrusted."""

    number: int
    """Grows with each note that is new to the index."""
    path: str
    title: str
    summary: str
    kind: str | None
    confidence: str | None
    source: str | None
    project: str | None
    created: float | None
    error: str | None
    """Why it cannot be read."""


def tally(home: Home, scope: Scope) -> Tally:
    """Return the size of one index, zeros when there is none; raises IndexCorruptError."""
    with _opened(home, scope) as connection:
        if connection is None:
            return Tally(0, 0, 0, 0)
        rows: dict[str, int] = dict(connection.execute("SELECT name, rows FROM tally"))
        return Tally(
            notes=number(connection, "SELECT count(*) FROM note"),
            chunks=rows.get("chunk", 0),
            vectors=rows.get("vector", 0),
            size_bytes=home.index(scope).stat().st_size,
        )


def latest(home: Home, scope: Scope, *, before: int | None, limit: int) -> list[NoteEntry]:
    """Return the notes that came last into the index, those before number `before`.

    Raises IndexCorruptError.
    """
    with _opened(home, scope) as connection:
        if connection is None:
            return []
        rows = connection.execute(
            "SELECT id, path, title, summary, kind, confidence, source, project, created, error"
            # a plain bound, so that SQLite begins there instead of looking at all that is newer
            " FROM note WHERE id < ?1 ORDER BY id DESC LIMIT ?2",
            (_NEWEST if before is None else before, limit),
        ).fetchall()
    return [_entry(row) for row in rows]


def undecided(home: Home, scope: Scope) -> list[tuple[float, str]]:
    """Return (creation, path) of the notes that may hold raw insights, the newest first.

    Creation is in Unix seconds. Of projects and people all notes are named: their sections are
    judged one by one. Reads the table of notes once, and no note. Raises IndexCorruptError.
    """
    with _opened(home, scope) as connection:
        if connection is None:
            return []
        rows = connection.execute(
            "SELECT coalesce(created, 0), path FROM note WHERE error IS NULL"
            " AND (confidence = 'raw' OR type IN ('project', 'person')) ORDER BY 1 DESC, 2"
        ).fetchall()
    return [(float(str(created)), str(path)) for created, path in rows]


def _entry(row: tuple[apsw.SQLiteValue, ...]) -> NoteEntry:
    number, path, title, *texts, created, error = row
    summary, kind, confidence, source, project = (str(text) if text else None for text in texts)
    return NoteEntry(
        number=int(str(number)),
        path=str(path),
        title=str(title) or PurePosixPath(str(path)).stem,
        summary=summary or "",
        kind=kind,
        confidence=confidence,
        source=source,
        project=project,
        created=float(created) if isinstance(created, (int, float)) else None,
        error=str(error) if error else None,
    )


@contextmanager
def _opened(home: Home, scope: Scope) -> Iterator[apsw.Connection | None]:
    path = home.index(scope)
    with damage_reported(path):
        connection = open_for_reading(path)
        try:
            yield connection
        finally:
            if connection is not None:
                connection.close()

"""The index file: its schema, and how it is opened.

One file a scope; the rowid of a chunk is the rowid of its keyword entry and of its vector.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import apsw

from context_engine.errors import IndexCorruptError
from context_engine.sqlite import connect, migrate
from index.tokenize import FTS5_TOKENIZE

PENDING, EMBEDDED, QUARANTINED = 0, 1, 2
"""States of a chunk's vector."""

QUESTIONS = "mean_questions"
"""Key of the model's mean question vectors, hex."""

_FIRST = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE note (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    indexed_ns INTEGER NOT NULL,
    hash TEXT NOT NULL,
    error TEXT,
    type TEXT NOT NULL DEFAULT 'note',
    title TEXT NOT NULL DEFAULT '',
    summary TEXT NOT NULL DEFAULT '',
    kind TEXT,
    confidence TEXT,
    source TEXT,
    project TEXT,
    people TEXT NOT NULL DEFAULT '[]',
    tags TEXT NOT NULL DEFAULT '[]',
    created REAL,
    verified REAL
);

CREATE TABLE label (
    note INTEGER NOT NULL REFERENCES note (id) ON DELETE CASCADE,
    field TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (field, value, note)
) WITHOUT ROWID;
CREATE INDEX label_note ON label (note);

CREATE TABLE chunk (
    rowid INTEGER PRIMARY KEY,
    chunk_id TEXT NOT NULL UNIQUE,
    note INTEGER NOT NULL REFERENCES note (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    section INTEGER NOT NULL,
    heading TEXT NOT NULL,
    text TEXT NOT NULL,
    at REAL,
    confidence TEXT,
    entry_hash BLOB NOT NULL,
    content_hash BLOB NOT NULL,
    surround_hash BLOB NOT NULL,
    state INTEGER NOT NULL DEFAULT {PENDING},
    attempts INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX chunk_note ON chunk (note, position);
CREATE INDEX chunk_content ON chunk (content_hash);
CREATE INDEX chunk_waiting ON chunk (attempts, rowid) WHERE state = {PENDING};

-- body: the chunk. heading: title and headings. context: neighbours, date, labels.
CREATE VIRTUAL TABLE lexical USING fts5 (
    body, heading, context,
    content = '', contentless_delete = 1, tokenize = "{FTS5_TOKENIZE}"
);
CREATE VIRTUAL TABLE lexical_term USING fts5vocab (lexical, row);

-- own vectors by content, so that unchanged text is never embedded again
CREATE TABLE embedding (content_hash BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID;

-- what is searched: grouped by cell, cell 0 until cells are trained
CREATE TABLE vector (
    cell INTEGER NOT NULL,
    id INTEGER NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (cell, id)
) WITHOUT ROWID;
CREATE INDEX vector_id ON vector (id);
CREATE TABLE centroid (
    cell INTEGER PRIMARY KEY,
    generation INTEGER NOT NULL,
    grouped_at INTEGER NOT NULL,
    vector BLOB NOT NULL
);

-- counting the rows of a large table takes milliseconds, and every search needs the number
CREATE TABLE tally (name TEXT PRIMARY KEY, rows INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO tally VALUES ('chunk', 0), ('vector', 0);
CREATE TRIGGER chunk_added AFTER INSERT ON chunk
    BEGIN UPDATE tally SET rows = rows + 1 WHERE name = 'chunk'; END;
CREATE TRIGGER chunk_removed AFTER DELETE ON chunk
    BEGIN UPDATE tally SET rows = rows - 1 WHERE name = 'chunk'; END;
CREATE TRIGGER vector_added AFTER INSERT ON vector
    BEGIN UPDATE tally SET rows = rows + 1 WHERE name = 'vector'; END;
CREATE TRIGGER vector_removed AFTER DELETE ON vector
    BEGIN UPDATE tally SET rows = rows - 1 WHERE name = 'vector'; END;
"""

_SECOND = "ALTER TABLE chunk ADD COLUMN superseded_by TEXT"

MIGRATIONS = (_FIRST, _SECOND)


def open_for_writing(path: Path) -> apsw.Connection:
    """Open the index at `path`, creating it and bringing its schema up to date.

    Raises IndexCorruptError when the file is damaged.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with damage_reported(path):
        connection = connect(path)
        _load_vectors(connection)
        connection.execute("PRAGMA mmap_size=1073741824")
        migrate(connection, MIGRATIONS)
        return connection


def open_for_reading(path: Path) -> apsw.Connection | None:
    """Open the index at `path` read-only; None when there is none, or none usable, yet.

    Raises IndexCorruptError when the file is damaged.
    """
    if not path.exists():
        return None
    with damage_reported(path), swap_lock(path, exclusive=False):
        connection = connect(path, readonly=True)
        _load_vectors(connection)
        connection.execute("PRAGMA mmap_size=1073741824")
        (version,) = connection.execute("PRAGMA user_version").fetchone() or (0,)
        return connection if version == len(MIGRATIONS) else None


@contextmanager
def damage_reported(path: Path) -> Iterator[None]:
    """Turn what SQLite says about a damaged file into IndexCorruptError."""
    try:
        yield
    except (apsw.CorruptError, apsw.NotADBError) as error:
        raise IndexCorruptError(str(path), str(error)) from error


@contextmanager
def swap_lock(path: Path, *, exclusive: bool) -> Iterator[None]:
    """Keep opening an index and exchanging its file apart."""
    with locked(path.with_suffix(".swap"), fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH):
        yield


@contextmanager
def locked(path: Path, operation: int) -> Iterator[None]:
    """Hold a lock on the file `path`; the system lets it go when the process dies.

    Raises BlockingIOError when `operation` includes LOCK_NB and somebody else holds it.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, operation)
        yield
    finally:
        os.close(descriptor)


def exchange(new: Path, path: Path) -> None:
    """Put the finished index `new` (closed, no journal left) in the place of `path`.

    Connections that are open keep answering from the old file until they notice.
    """
    with swap_lock(path, exclusive=True):
        for suffix in ("-wal", "-shm"):
            # the old file's journal must never be applied to the new one
            Path(f"{path}{suffix}").unlink(missing_ok=True)
        new.replace(path)


def read_meta(connection: apsw.Connection) -> dict[str, str]:
    """Return the stored identities and figures."""
    return dict(connection.execute("SELECT key, value FROM meta"))


def write_meta(connection: apsw.Connection, **values: str) -> None:
    """Store identities and figures."""
    connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values.items())


def number(
    connection: apsw.Connection, query: str, bindings: Sequence[apsw.SQLiteValue] = ()
) -> int:
    """Return the one number that `query` gives."""
    value = connection.execute(query, bindings).fetchall()[0][0]
    return value if isinstance(value, int) else 0


def _load_vectors(connection: apsw.Connection) -> None:
    import sqlite_vec

    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    connection.enable_load_extension(False)

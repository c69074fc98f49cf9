"""The file `state/usage.sqlite`: numbered migrations, and how long a row is kept."""

from __future__ import annotations

MIGRATIONS = (
    """
    CREATE TABLE search (
        id      INTEGER PRIMARY KEY,
        at      REAL NOT NULL,
        caller  TEXT NOT NULL,      -- hash of client and scope
        results INTEGER NOT NULL
    );
    CREATE INDEX search_caller ON search(caller, at);

    CREATE TABLE shown (
        search INTEGER NOT NULL REFERENCES search(id) ON DELETE CASCADE,
        rank   INTEGER NOT NULL,    -- 1-based, of the note's first passage
        note   TEXT NOT NULL,       -- hash of its place
        PRIMARY KEY (search, note)
    ) WITHOUT ROWID;

    CREATE TABLE reading (
        id   INTEGER PRIMARY KEY,
        at   REAL NOT NULL,
        rank INTEGER                -- in the search it came from; NULL: it came from none
    );

    CREATE TABLE session (
        id    TEXT PRIMARY KEY,     -- hash of scope and session
        began REAL NOT NULL,
        last  REAL NOT NULL
    ) WITHOUT ROWID;

    CREATE TABLE score (
        session TEXT NOT NULL REFERENCES session(id) ON DELETE CASCADE,
        note    TEXT NOT NULL,
        score   REAL NOT NULL,
        PRIMARY KEY (session, note)
    ) WITHOUT ROWID;

    CREATE TABLE recalled (
        session TEXT NOT NULL,
        note    TEXT NOT NULL,
        scope   TEXT NOT NULL,
        at      REAL NOT NULL,      -- the same for all notes of one prompt
        obeyed  REAL,               -- when it was read afterwards
        PRIMARY KEY (session, note)
    ) WITHOUT ROWID;
    CREATE INDEX recalled_note ON recalled(note, scope);
    """,
)

DAY = 86_400.0
KEPT_SECONDS = 90 * DAY
MAX_SEARCHES = 20_000
"""What is older or more than this goes."""
SESSION_SECONDS = 7 * DAY
"""A session that was silent for so long begins anew."""
SWEEP_EVERY = 200
"""Searches between two sweeps."""

SWEEP = (
    "DELETE FROM search WHERE at < :since OR id <= (SELECT max(id) FROM search) - :most",
    "DELETE FROM reading WHERE at < :since OR id <= (SELECT max(id) FROM reading) - :most",
    "DELETE FROM recalled WHERE at < :since",
    "DELETE FROM session WHERE last < :silent",
)

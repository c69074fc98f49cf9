"""Numbered migrations of the outbox file. Never edit one that has shipped; add the next."""

from __future__ import annotations

MIGRATIONS = (
    """
    CREATE TABLE event (
        event_id    TEXT PRIMARY KEY,
        source      TEXT NOT NULL,
        scope       TEXT NOT NULL,
        document_id TEXT NOT NULL,
        part        INTEGER NOT NULL,
        title       TEXT NOT NULL,
        payload     BLOB,               -- NULL once it is in the vault
        received    REAL NOT NULL,
        run_id      TEXT NOT NULL
    );
    CREATE INDEX event_run ON event(run_id);

    CREATE TABLE job (
        job_id      INTEGER PRIMARY KEY,
        key         TEXT NOT NULL UNIQUE,
        queue       TEXT NOT NULL,
        lane        TEXT NOT NULL,
        event_id    TEXT,
        arguments   TEXT NOT NULL,
        state       TEXT NOT NULL DEFAULT 'pending',
        attempts    INTEGER NOT NULL DEFAULT 0,
        wanted      INTEGER NOT NULL DEFAULT 1,  -- how often it was asked for
        worker      TEXT,
        error_class TEXT,
        error       TEXT,
        result      TEXT,
        created     REAL NOT NULL,
        updated     REAL NOT NULL,
        not_before  REAL NOT NULL DEFAULT 0
    );
    CREATE INDEX job_unfinished ON job(queue, state, job_id) WHERE state <> 'done';
    CREATE INDEX job_lane ON job(lane, queue, job_id) WHERE state IN ('pending','queued','running');
    CREATE INDEX job_event ON job(event_id);

    CREATE TABLE event_path (
        event_id TEXT NOT NULL,
        scope    TEXT NOT NULL,
        path     TEXT NOT NULL,
        PRIMARY KEY (event_id, scope, path)
    ) WITHOUT ROWID;
    CREATE INDEX event_path_path ON event_path(scope, path);

    CREATE TABLE utterance (
        source TEXT NOT NULL,
        key    TEXT NOT NULL,
        PRIMARY KEY (source, key)
    ) WITHOUT ROWID;

    CREATE TABLE checkpoint (
        source TEXT NOT NULL,
        key    TEXT NOT NULL,
        state  TEXT NOT NULL,
        PRIMARY KEY (source, key)
    ) WITHOUT ROWID;

    CREATE TABLE outcome (name TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    """,
    # A partial index serves only queries that repeat its condition: finding the next job read all
    # jobs that were ever done, twenty times a second.
    """
    DROP INDEX job_unfinished;
    CREATE INDEX job_state ON job(state, queue, job_id);
    """,
)

"""Taking rows out of the SQLite files of the state, so that no byte of them is left.

Deleting a row frees its page and leaves its bytes; SQLite zeroes them with `secure_delete`, FTS5
drops deleted words when its segments are merged, and VACUUM with a truncating checkpoint writes a
file that never held them. Other processes may have the files open.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import apsw

from api.forgetting.plan import Plan, forms
from context_engine.errors import DeadlineExceededError
from context_engine.home import Home
from context_engine.scopes import Scope
from context_engine.sqlite import connect, immediate
from index.schema import open_for_writing
from index.store import delete_note

_CHECKPOINT_SECONDS = 60.0
_AMONG = "IN (SELECT value FROM json_each(?))"


def purge_outbox(path: Path, plan: Plan) -> None:
    """Take payloads, titles, jobs, files and reading states of what is forgotten out."""
    if path.exists():
        _scrub(connect(path, durable=True), lambda db: _outbox_rows(db, plan))


def purge_index(home: Home, scope: Scope, paths: Sequence[str]) -> None:
    """Take the chunks of notes out of one index: words, vectors, and the merged-away rests."""
    path = home.index(scope)
    if path.exists():
        connection = open_for_writing(path)
        _scrub(connection, lambda db: _index_rows(db, paths), fts=("lexical",))


def purge_recent(path: Path) -> None:
    """Empty the list of insights saved a moment ago: words merged into others stand in it too."""
    if not path.exists():
        return

    def rows(db: apsw.Connection) -> None:
        db.execute("INSERT INTO words (words) VALUES ('delete-all')")
        db.execute("DELETE FROM saved")

    _scrub(connect(path), rows, fts=("words",))


def _outbox_rows(db: apsw.Connection, plan: Plan) -> None:
    events = json.dumps(list(plan.events))
    keys = json.dumps([f"index:{scope.value}:{path}" for scope, path in plan.notes])
    # the row stays, without a word: a receipt can still say what became of the event
    db.execute(
        f"UPDATE event SET payload = NULL, title = '' WHERE event_id {_AMONG}",  # noqa: S608 - constant text
        (events,),
    )
    db.execute(f"DELETE FROM job WHERE event_id {_AMONG}", (events,))  # noqa: S608 - constant text
    db.execute(f"DELETE FROM job WHERE key {_AMONG}", (keys,))  # noqa: S608 - constant text
    db.executemany(
        "DELETE FROM event_path WHERE scope = ? AND path = ?",
        [(scope.value, path) for scope, path in plan.notes],
    )
    for source, key, state in list(db.execute("SELECT source, key, state FROM checkpoint")):
        # read again from its beginning, and stopped by the tombstones
        if _speaks(plan, key, state):
            db.execute("DELETE FROM checkpoint WHERE source = ? AND key = ?", (source, key))
    _job_texts(db, plan)


def _job_texts(db: apsw.Connection, plan: Plan) -> None:
    """Take phrases out of what other jobs say of themselves."""
    for job, result, error in list(db.execute("SELECT job_id, result, error FROM job")):
        if _speaks(plan, result, error):
            db.execute("UPDATE job SET result = NULL, error = NULL WHERE job_id = ?", (job,))


def _speaks(plan: Plan, *columns: apsw.SQLiteValue) -> bool:
    """Return whether one of the phrases stands in a column, JSON or plain."""
    texts = [value if isinstance(value, bytes) else str(value or "").encode() for value in columns]
    return any(form in text for form in forms(plan.phrases) for text in texts)


def _index_rows(db: apsw.Connection, paths: Sequence[str]) -> None:
    for path in paths:
        delete_note(db, path)
    db.execute("DELETE FROM embedding WHERE content_hash NOT IN (SELECT content_hash FROM chunk)")


def _scrub(
    connection: apsw.Connection,
    rows: Callable[[apsw.Connection], None],
    *,
    fts: Sequence[str] = (),
) -> None:
    try:
        connection.execute("PRAGMA secure_delete=ON")
        with immediate(connection):
            rows(connection)
        for table in fts:
            connection.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")  # noqa: S608 - names of ours
        connection.execute("VACUUM")
        _checkpoint(connection)
    finally:
        connection.close()


def _checkpoint(connection: apsw.Connection) -> None:
    """Empty the journal; readers hold it for milliseconds."""
    deadline = time.monotonic() + _CHECKPOINT_SECONDS
    while True:
        busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()[0][0]
        if not busy:
            return
        if time.monotonic() > deadline:
            raise DeadlineExceededError("emptying a database's journal", _CHECKPOINT_SECONDS)
        time.sleep(0.02)

"""Writes what was searched and read, and which search a reading came from.

Nothing here may fail a request: a log that cannot be written says so once in a while and goes on.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from api.caller import Caller
from api.usage.schema import (
    KEPT_SECONDS,
    MAX_SEARCHES,
    MIGRATIONS,
    SESSION_SECONDS,
    SWEEP,
    SWEEP_EVERY,
)
from context_engine.clock import Clock, SystemClock
from context_engine.errors import ContextEngineError
from context_engine.ids import marker_id
from context_engine.logs import get_logger
from context_engine.scopes import Scope

if TYPE_CHECKING:
    import apsw

FILE = "usage.sqlite"
SAME_TASK_SECONDS = 3_600.0
"""A reading so long after a search, or after a recall, is counted to it."""
_BUSY_MS = 50

T = TypeVar("T")

log = get_logger(__name__)


class UsageLog:
    """The log of one home; kept in memory when `path` is None. Safe from many threads."""

    def __init__(self, path: Path | None = None, clock: Clock | None = None) -> None:
        self._path = path
        self._clock = clock or SystemClock()
        self._lock = threading.Lock()
        self._connection: apsw.Connection | None = None

    def searched(self, caller: Caller, places: Sequence[str]) -> None:
        """Note a search whose results were at `places`, best first; a note may come twice."""
        notes = tuple(dict.fromkeys(note_id(place) for place in places))

        def write(db: apsw.Connection, now: float) -> None:
            db.execute(
                "INSERT INTO search(at, caller, results) VALUES (?,?,?)",
                (now, _caller_id(caller), len(notes)),
            )
            search = db.last_insert_rowid()
            db.executemany(
                "INSERT INTO shown(search, rank, note) VALUES (?,?,?)",
                [(search, rank, note) for rank, note in enumerate(notes, start=1)],
            )
            if search % SWEEP_EVERY == 0:
                _sweep(db, now)

        self.change(write, None)

    def read(self, caller: Caller, places: Sequence[str]) -> None:
        """Note that the notes at `places` were read."""

        def write(db: apsw.Connection, now: float) -> None:
            for note in dict.fromkeys(note_id(place) for place in places):
                rank = _rank(db, _caller_id(caller), note, now - SAME_TASK_SECONDS)
                db.execute("INSERT INTO reading(at, rank) VALUES (?,?)", (now, rank))
                db.execute(
                    "UPDATE recalled SET obeyed=?1 WHERE note=?2 AND scope=?3 AND at>=?4"
                    " AND obeyed IS NULL",
                    (now, note, caller.scope.value, now - SAME_TASK_SECONDS),
                )

        self.change(write, None)

    def change(self, work: Callable[[apsw.Connection, float], T], otherwise: T) -> T:
        """Return what `work` returns in one transaction at this time, `otherwise` if it cannot."""
        import apsw

        from context_engine.sqlite import immediate

        try:
            with self._opened() as db, immediate(db):
                return work(db, self._clock.now().timestamp())
        except (apsw.Error, ContextEngineError, OSError) as error:
            log.warning("usage not logged", reason=str(error))
            return otherwise

    @contextmanager
    def _opened(self) -> Iterator[apsw.Connection]:
        with self._lock:
            if self._connection is None:
                self._connection = _open(self._path)
            yield self._connection


def note_id(place: str) -> str:
    """Return what a note is known by here: `place` is its scope and path."""
    return marker_id("note", place)


def session_id(scope: Scope, client: str, session: str) -> str:
    """Return what a session is known by here; sessions of two scopes never meet."""
    return marker_id("session", scope.value, client, session)


def _caller_id(caller: Caller) -> str:
    return marker_id("caller", caller.scope.value, caller.client)


def _rank(db: apsw.Connection, caller: str, note: str, since: float) -> int | None:
    row = db.execute(
        "SELECT rank FROM search JOIN shown ON search = id"
        " WHERE caller=? AND at>=? AND note=? ORDER BY id DESC LIMIT 1",
        (caller, since, note),
    ).fetchone()
    return int(row[0]) if row else None


def _sweep(db: apsw.Connection, now: float) -> None:
    limits = {
        "since": now - KEPT_SECONDS,
        "silent": now - SESSION_SECONDS,
        "most": MAX_SEARCHES,
    }
    for statement in SWEEP:
        db.execute(statement, limits)


def _open(path: Path | None) -> apsw.Connection:
    import apsw

    from context_engine.sqlite import connect, migrate

    connection = apsw.Connection(":memory:") if path is None else connect(path)
    connection.set_busy_timeout(_BUSY_MS)
    connection.execute("PRAGMA foreign_keys=ON")
    migrate(connection, MIGRATIONS)
    return connection

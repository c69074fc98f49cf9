"""`state/routines.sqlite`: every run with its counts and errors, and which routines pause."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import orjson

from context_engine.clock import Clock, SystemClock, isoformat
from context_engine.sqlite import connect, immediate, migrate

KEPT = 200
"""Runs of one routine that are remembered."""
FAILURES_TO_REPORT = 3

_MIGRATIONS = (
    """
    CREATE TABLE run (
        id       INTEGER PRIMARY KEY,
        routine  TEXT NOT NULL,
        started  REAL NOT NULL,
        finished REAL,
        outcome  TEXT NOT NULL,  -- running, ok, failed, interrupted
        counts   TEXT NOT NULL DEFAULT '{}',
        error    TEXT
    );
    CREATE INDEX run_routine ON run(routine, id);
    CREATE TABLE known (routine TEXT PRIMARY KEY, since REAL NOT NULL, paused INTEGER NOT NULL);
    """,
)


@dataclass(frozen=True)
class Run:
    """One run. `outcome` is running, ok, failed, or interrupted: it was told to stop."""

    routine: str
    started: str
    finished: str | None
    outcome: str
    counts: Mapping[str, Any]
    error: str | None

    def as_json(self) -> dict[str, Any]:
        """Return the run as it is printed."""
        return asdict(self)


class History:
    """One connection; use it as a context manager."""

    def __init__(self, path: Path, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._db = connect(path)
        migrate(self._db, _MIGRATIONS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    def begin(self, routine: str) -> int:
        """Record that a run starts; returns its id. One that never ended was killed, and failed."""
        with immediate(self._db) as db:
            db.execute(
                "UPDATE run SET outcome='failed', error='it was killed', finished=?"
                " WHERE routine=? AND outcome='running'",
                (self._now(), routine),
            )
            db.execute(
                "INSERT INTO run(routine, started, outcome) VALUES (?,?,'running')",
                (routine, self._now()),
            )
            run_id = db.last_insert_rowid()
            db.execute(
                "DELETE FROM run WHERE routine=? AND id <= (SELECT id FROM run WHERE routine=?"
                " ORDER BY id DESC LIMIT 1 OFFSET ?)",
                (routine, routine, KEPT),
            )
        return run_id

    def interrupt(self, run_id: int) -> None:
        """Record that a run was told to stop: it is due again, as if it had not begun."""
        self._db.execute(
            "UPDATE run SET finished=?, outcome='interrupted' WHERE id=?", (self._now(), run_id)
        )

    def end(self, run_id: int, counts: Mapping[str, Any], error: str | None) -> None:
        """Record what came of a run."""
        self._db.execute(
            "UPDATE run SET finished=?, outcome=?, counts=?, error=? WHERE id=?",
            (
                self._now(),
                "ok" if error is None else "failed",
                orjson.dumps(dict(counts)).decode(),
                None if error is None else error[:2000],
                run_id,
            ),
        )

    def runs(self, routine: str | None = None, limit: int = 50) -> list[Run]:
        """Return the last runs, newest first."""
        rows = self._db.execute(
            "SELECT routine, started, finished, outcome, counts, error FROM run"
            " WHERE ?1 IS NULL OR routine=?1 ORDER BY id DESC LIMIT ?2",
            (routine, limit),
        )
        return [
            Run(name, _text(begun), ended and _text(ended), outcome, orjson.loads(counts), error)
            for name, begun, ended, outcome, counts, error in rows
        ]

    def last_started(self, routine: str) -> datetime | None:
        """Return when the routine began last, runs that were told to stop left out."""
        row = self._db.execute(
            "SELECT max(started) FROM run WHERE routine=? AND outcome<>'interrupted'", (routine,)
        ).fetchone()
        if row is None or row[0] is None:
            return None
        # a clock that was ahead must not silence a routine until that time comes
        return datetime.fromtimestamp(min(row[0], self._now()), UTC)

    def since(self, routine: str) -> datetime:
        """Return when the routine was first seen; now, for a new one."""
        self._know(routine)
        row = self._db.execute("SELECT since FROM known WHERE routine=?", (routine,)).fetchone()
        return datetime.fromtimestamp(row[0] if row else self._now(), UTC)

    def paused(self, routine: str) -> bool:
        """Return whether a person paused it."""
        row = self._db.execute("SELECT paused FROM known WHERE routine=?", (routine,)).fetchone()
        return bool(row and row[0])

    def pause(self, routine: str, *, paused: bool) -> None:
        """Pause a routine, or let it go on."""
        self._know(routine)
        self._db.execute("UPDATE known SET paused=? WHERE routine=?", (int(paused), routine))

    def failures(self, routine: str) -> int:
        """Return how many of the last runs failed one after the other."""
        count = 0
        for run in self.runs(routine, KEPT):
            if run.outcome == "ok":
                break
            count += run.outcome == "failed"
        return count

    def _know(self, routine: str) -> None:
        self._db.execute(
            "INSERT OR IGNORE INTO known(routine, since, paused) VALUES (?,?,0)",
            (routine, self._now()),
        )

    def _now(self) -> float:
        return self._clock.now().timestamp()


def _text(moment: float) -> str:
    return isoformat(datetime.fromtimestamp(moment, UTC))

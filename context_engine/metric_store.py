"""`state/metrics.sqlite`: totals since ever, minute points of a day, hour points of a month.

Bounded whatever happens: points have one row a series and time, and old ones are dropped with
each new one. Derived data: a damaged file is put away and begun anew.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Self

import apsw
import orjson

from context_engine.metrics import Labels, Totals
from context_engine.sqlite import connect, immediate, migrate

MINUTE = 60
HOUR = 3600
MINUTES_KEPT = 24 * HOUR
HOURS_KEPT = 30 * 24 * HOUR

_MIGRATIONS = (
    """
    CREATE TABLE total (
        name TEXT NOT NULL, labels TEXT NOT NULL, value REAL NOT NULL, PRIMARY KEY (name, labels)
    ) WITHOUT ROWID;
    CREATE TABLE minute (
        series TEXT NOT NULL, at INTEGER NOT NULL, value REAL NOT NULL, PRIMARY KEY (series, at)
    ) WITHOUT ROWID;
    CREATE TABLE hour (
        series TEXT NOT NULL, at INTEGER NOT NULL,
        mean REAL NOT NULL, high REAL NOT NULL, last REAL NOT NULL,
        PRIMARY KEY (series, at)
    ) WITHOUT ROWID;
    """,
)


@dataclass(frozen=True)
class Point:
    """One value of a series. An hour's has its mean, its highest and its last value."""

    at: int
    """Start of the minute or hour, Unix seconds."""
    value: float
    high: float
    last: float


class MetricStore:
    """One connection to the file; close it, or use it as a context manager."""

    def __init__(self, path: Path) -> None:
        self._db = _open(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._db.close()

    def add(self, amounts: Totals) -> None:
        """Add to totals; several processes may at once."""
        with immediate(self._db) as db:
            db.executemany(
                "INSERT INTO total(name, labels, value) VALUES (?,?,?)"
                " ON CONFLICT DO UPDATE SET value=value+excluded.value",
                [(name, _encode(labels), value) for (name, labels), value in amounts.items()],
            )

    def totals(self) -> dict[tuple[str, Labels], float]:
        """Return every total."""
        rows = self._db.execute("SELECT name, labels, value FROM total ORDER BY name, labels")
        return {(name, _decode(labels)): value for name, labels, value in rows}

    def record(self, now: float, values: Mapping[str, float]) -> None:
        """Store one point of each series for the minute of `now`, and drop what is too old."""
        at = int(now) // MINUTE * MINUTE
        with immediate(self._db) as db:
            db.executemany(
                "INSERT OR REPLACE INTO minute(series, at, value) VALUES (?,?,?)",
                [(series, at, value) for series, value in values.items()],
            )
            db.execute(_ROLL_UP, (at // HOUR * HOUR, at // HOUR * HOUR + HOUR))
            # and what a clock that was wrong has left in the future
            for table, kept in (("minute", MINUTES_KEPT), ("hour", HOURS_KEPT)):
                db.execute(f"DELETE FROM {table} WHERE at<=? OR at>?", (at - kept, at))  # noqa: S608 - constant text

    def series(self) -> list[str]:
        """Return the names that have points."""
        rows = self._db.execute(
            "SELECT series FROM minute UNION SELECT series FROM hour ORDER BY series"
        )
        return [name for (name,) in rows]

    def points(self, series: str, *, now: float, seconds: int) -> list[Point]:
        """Return the points of the last `seconds`, oldest first: minutes up to a day, else hours.

        A time without a point (the engine did not run) has none here either.
        """
        since = int(now) - seconds
        if seconds <= MINUTES_KEPT:
            rows = self._db.execute(
                "SELECT at, value, value, value FROM minute WHERE series=? AND at>=? ORDER BY at",
                (series, since),
            )
        else:
            rows = self._db.execute(
                "SELECT at, mean, high, last FROM hour WHERE series=? AND at>=? ORDER BY at",
                (series, since),
            )
        return [Point(*row) for row in rows]

    def rates(self, series: str, *, now: float, seconds: int) -> list[Point]:
        """Return how much a growing series grew a second, between each two of its points.

        A total that fell was begun anew: its growth there is what it has since.
        """
        grown = []
        for before, after in pairwise(self.points(series, now=now, seconds=seconds)):
            more = after.last - before.last if after.last >= before.last else after.last
            rate = more / (after.at - before.at)
            grown.append(Point(after.at, rate, rate, rate))
        return grown


_ROLL_UP = """
    INSERT OR REPLACE INTO hour(series, at, mean, high, last)
    SELECT series, ?1, avg(value), max(value), (
        SELECT value FROM minute l WHERE l.series=m.series AND l.at<?2 ORDER BY l.at DESC LIMIT 1)
    FROM minute m WHERE at>=?1 AND at<?2 GROUP BY series
"""


def _open(path: Path) -> apsw.Connection:
    try:
        return _connect(path)
    except (apsw.CorruptError, apsw.NotADBError):
        with contextlib.suppress(FileNotFoundError):
            path.replace(path.with_suffix(".damaged"))
        for suffix in ("-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        return _connect(path)


def _connect(path: Path) -> apsw.Connection:
    connection = connect(path)
    migrate(connection, _MIGRATIONS)
    return connection


def _encode(labels: Labels) -> str:
    return orjson.dumps(labels).decode()


def _decode(text: str) -> Labels:
    return tuple((name, value) for name, value in orjson.loads(text))

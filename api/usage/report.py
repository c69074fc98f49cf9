"""Counts of the usage log, for `status` and the dashboard."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from api.usage.log import FILE, SAME_TASK_SECONDS
from api.usage.schema import DAY
from context_engine.clock import Clock, SystemClock
from context_engine.home import Home

if TYPE_CHECKING:
    import apsw

DAYS = 30
TOP = 3

_SEARCHES = "SELECT count(*), count(*) FILTER (WHERE results=0) FROM search WHERE at>=?"
_READINGS = (
    "SELECT count(*), count(rank), count(*) FILTER (WHERE rank<={top}) FROM reading WHERE at>=?"
)
_RECALLED = (
    "SELECT count(*), count(obeyed) FROM recalled WHERE at>=?1 AND (at<?2 OR obeyed IS NOT NULL)"
)
_INJECTIONS = (
    "SELECT count(*), count(*) FILTER (WHERE read=0) FROM (SELECT count(obeyed) AS read"
    " FROM recalled WHERE at>=?1 GROUP BY session, at HAVING at<?2 OR count(obeyed)>0)"
)


@dataclass(frozen=True)
class UsageReport:
    """The last 30 days. A rate is None while there is nothing to divide by."""

    days: int = DAYS
    searches: int = 0
    zero_result_rate: float | None = None
    """Of the searches: those that found nothing."""
    readings: int = 0
    readings_after_search: int = 0
    """Of a note that the same client had found in the hour before."""
    top3_rate: float | None = None
    """Of those: which stood among the first three."""
    recalled: int = 0
    """Notes that a prompt was told to recall, once their hour is over or they were read."""
    obeyed_rate: float | None = None
    """Of those: which were read within the hour."""
    false_fire_rate: float | None = None
    """Of the prompts with a recall: those of whose notes none was read within the hour."""


def usage_report(home: Home, clock: Clock | None = None) -> UsageReport:
    """Return the counts; zeros while nothing was logged. Raises nothing for a damaged file."""
    import apsw

    from context_engine.sqlite import connect

    path = home.state / FILE
    if not path.exists():
        return UsageReport()
    now = (clock or SystemClock()).now().timestamp()
    try:
        connection = connect(path, readonly=True)
        try:
            return _counted(connection, now - DAYS * DAY, now - SAME_TASK_SECONDS)
        finally:
            connection.close()
    except apsw.Error:
        return UsageReport()


def as_dict(report: UsageReport) -> dict[str, int | float | None]:
    """Return the report for JSON."""
    return asdict(report)


def _counted(db: apsw.Connection, since: float, over: float) -> UsageReport:
    searches, empty = _row(db, _SEARCHES, since)
    readings, after, top = _row(db, _READINGS.format(top=TOP), since)
    recalled, obeyed = _row(db, _RECALLED, since, over)
    injections, ignored = _row(db, _INJECTIONS, since, over)
    return UsageReport(
        searches=searches,
        zero_result_rate=_rate(empty, searches),
        readings=readings,
        readings_after_search=after,
        top3_rate=_rate(top, after),
        recalled=recalled,
        obeyed_rate=_rate(obeyed, recalled),
        false_fire_rate=_rate(ignored, injections),
    )


def _row(db: apsw.Connection, query: str, *bindings: float) -> list[int]:
    return [int(str(value)) for value in db.execute(query, bindings).fetchone() or ()]


def _rate(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None

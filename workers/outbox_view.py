"""The outbox as a person looks at it: in pages, by what can be read without reading all of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from workers.outbox import Outbox

PAGE = 50
UNFINISHED_STATES = ("pending", "queued", "running", "waiting", "quarantined")
_LOOKED_AT = 5_000
"""Pending jobs searched for those that failed before."""

_COLUMNS = (
    "j.job_id, j.queue, j.key, j.state, j.attempts, coalesce(j.worker,''),"
    " coalesce(j.error_class,''), coalesce(j.error,''), j.created, j.updated,"
    " coalesce(j.event_id,''), coalesce(e.title,''), coalesce(e.source,'')"
)
_FROM = " FROM job j LEFT JOIN event e USING (event_id)"


@dataclass(frozen=True)
class JobView:
    """One job. Times are Unix seconds; texts come from sources and models: untrusted."""

    job_id: int
    queue: str
    key: str
    state: str
    attempts: int
    worker: str
    error_class: str
    error: str
    created: float
    updated: float
    event_id: str
    title: str
    source: str


@dataclass(frozen=True)
class Receipt:
    """What became of one event."""

    event_id: str
    source: str
    scope: str
    title: str
    part: int
    received: float
    run_id: str
    jobs: tuple[JobView, ...]
    results: tuple[dict[str, Any], ...]
    """Of `jobs`, in their order."""
    paths: tuple[tuple[str, str], ...]
    """(scope, path) of the files it wrote."""


def unfinished_counts(outbox: Outbox) -> dict[str, dict[str, int]]:
    """Return unfinished jobs by queue and state, however many are done."""
    table: dict[str, dict[str, int]] = {}
    for state in UNFINISHED_STATES:
        rows = outbox.connection().execute(
            "SELECT queue, count(*) FROM job WHERE state=? GROUP BY queue", (state,)
        )
        for queue, count in rows:
            table.setdefault(queue, {})[state] = count
    return table


def done_counts(outbox: Outbox) -> dict[str, int]:
    """Return jobs that were done, by queue. Takes longer the more there are."""
    return dict(
        outbox.connection().execute(
            "SELECT queue, count(*) FROM job WHERE state='done' GROUP BY queue"
        )
    )


def last_received(outbox: Outbox) -> list[tuple[str, int, float]]:
    """Return (source, events, time of the last one). Takes longer the more there are."""
    return list(
        outbox.connection().execute(
            "SELECT source, count(*), max(received) FROM event GROUP BY source ORDER BY source"
        )
    )


def running(outbox: Outbox) -> list[JobView]:
    """Return what workers have in hand, the longest running first."""
    return _jobs(outbox, f"{_FROM} WHERE j.state='running' ORDER BY j.updated LIMIT {PAGE}")


def retrying(outbox: Outbox) -> list[JobView]:
    """Return jobs that failed and will be tried again."""
    inner = f"SELECT job_id FROM job WHERE state='pending' ORDER BY queue LIMIT {_LOOKED_AT}"  # noqa: S608 - constants
    return _jobs(
        outbox,
        f"{_FROM} WHERE j.job_id IN ({inner}) AND j.attempts>0 ORDER BY j.job_id LIMIT {PAGE}",
    )


def quarantined(
    outbox: Outbox, error_class: str | None = None, before: int | None = None
) -> list[JobView]:
    """Return a page of what was given up, the newest job first, those before job `before`."""
    return _jobs(
        outbox,
        f"{_FROM} WHERE j.state='quarantined' AND (?1 IS NULL OR coalesce(j.error_class,'')=?1)"
        f" AND (?2 IS NULL OR j.job_id<?2) ORDER BY j.job_id DESC LIMIT {PAGE}",
        (error_class, before),
    )


def receipt(outbox: Outbox, event_id: str) -> Receipt | None:
    """Return what became of an event, None when there is no such event."""
    db = outbox.connection()
    row = db.execute(
        "SELECT event_id, source, scope, title, part, received, run_id FROM event WHERE event_id=?",
        (event_id,),
    ).fetchone()
    if row is None:
        return None
    paths = tuple(
        db.execute(
            "SELECT scope, path FROM event_path WHERE event_id=? ORDER BY scope, path", (event_id,)
        )
    )
    keys = [f"index:{scope}:{path}" for scope, path in paths]
    jobs = _jobs(
        outbox,
        f"{_FROM} WHERE j.event_id=?1 OR j.key IN (SELECT value FROM json_each(?2)) LIMIT 500",  # noqa: S608 - constants
        (event_id, orjson.dumps(keys).decode()),
    )
    results = tuple(_result(outbox, job.job_id) for job in jobs)
    event, source, scope, title, part, received, run_id = row
    return Receipt(event, source, scope, title, part, received, run_id, tuple(jobs), results, paths)


def _jobs(outbox: Outbox, rest: str, bindings: Sequence[str | int | None] = ()) -> list[JobView]:
    rows = outbox.connection().execute(f"SELECT {_COLUMNS}{rest}", bindings)
    return [JobView(*row) for row in rows]


def _result(outbox: Outbox, job_id: int) -> dict[str, Any]:
    row = outbox.connection().execute("SELECT result FROM job WHERE job_id=?", (job_id,)).fetchone()
    result: dict[str, Any] = orjson.loads(row[0]) if row and row[0] else {}
    return result

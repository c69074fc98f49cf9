"""Questions to the outbox: what waits, what was given up, how far a run is, what it wrote."""

from __future__ import annotations

from typing import Any

import orjson

from workers.outbox import Outbox
from workers.outbox_model import Quarantined


def counts(outbox: Outbox) -> dict[str, dict[str, int]]:
    """Return jobs by queue and state."""
    table: dict[str, dict[str, int]] = {}
    rows = outbox.connection().execute(
        "SELECT queue, state, count(*) FROM job GROUP BY queue, state"
    )
    for queue, state, count in rows:
        table.setdefault(queue, {})[state] = count
    return table


def oldest_pending(outbox: Outbox) -> float | None:
    """Return the age in seconds of the oldest unfinished job, None when there is none."""
    row = (
        outbox.connection()
        .execute("SELECT min(created) FROM job WHERE state IN ('pending','queued','running')")
        .fetchone()
    )
    if row is None or row[0] is None:
        return None
    return max(0.0, outbox.clock.now().timestamp() - float(row[0]))


def quarantined(outbox: Outbox, limit: int = 100) -> list[Quarantined]:
    """Return what was given up, newest first."""
    rows = outbox.connection().execute(
        "SELECT job_id, queue, key, event_id, coalesce(error_class,''), coalesce(error,''),"
        " attempts FROM job WHERE state='quarantined' ORDER BY updated DESC LIMIT ?",
        (limit,),
    )
    return [Quarantined(*row) for row in rows]


def waiting_for(outbox: Outbox, dependency: str) -> tuple[int, str]:
    """Return how many jobs wait for `dependency`, and the reason one of them gave."""
    row = outbox.connection().execute(
        "SELECT count(*), coalesce(max(error),'') FROM job WHERE state='waiting' AND error_class=?",
        (dependency,),
    ).fetchone()  # fmt: skip
    return (row[0], row[1]) if row else (0, "")


def outcomes(outbox: Outbox) -> dict[str, int]:
    """Return all counters, by name."""
    return dict(outbox.connection().execute("SELECT name, count FROM outcome ORDER BY name"))


def run_jobs(outbox: Outbox, run_id: str) -> list[tuple[str, str, dict[str, Any], str, str]]:
    """Return (queue, state, result, error class, error) of the jobs of a run's events."""
    rows = outbox.connection().execute(
        "SELECT j.queue, j.state, j.result, coalesce(j.error_class,''), coalesce(j.error,'')"
        " FROM job j JOIN event e USING (event_id) WHERE e.run_id=?",
        (run_id,),
    )
    return [
        (queue, state, orjson.loads(result) if result else {}, error_class, error)
        for queue, state, result, error_class, error in rows
    ]


def run_progress(outbox: Outbox, run_id: str) -> tuple[int, int]:
    """Return (unfinished, all) jobs of a run, those that index its files included."""
    row = (
        outbox.connection()
        .execute(
            "WITH mine AS ("
            " SELECT j.state FROM job j JOIN event e USING (event_id) WHERE e.run_id=?1"
            " UNION ALL"
            " SELECT j.state FROM job j WHERE j.key IN ("
            "  SELECT DISTINCT 'index:' || p.scope || ':' || p.path FROM event_path p"
            "  JOIN event e USING (event_id) WHERE e.run_id=?1))"
            " SELECT coalesce(sum(state IN ('pending','queued','running')),0), count(*)"
            " FROM mine",
            (run_id,),
        )
        .fetchone()
    )
    return (row[0], row[1]) if row else (0, 0)


def run_paths(outbox: Outbox, run_id: str) -> set[tuple[str, str]]:
    """Return (scope, path) of all files that a run's events wrote."""
    return set(
        outbox.connection().execute(
            "SELECT p.scope, p.path FROM event_path p JOIN event e USING (event_id)"
            " WHERE e.run_id=?",
            (run_id,),
        )
    )


def run_chunks(outbox: Outbox, run_id: str) -> int:
    """Return how many chunks the files of a run were cut into."""
    row = (
        outbox.connection()
        .execute(
            "SELECT coalesce(sum(json_extract(j.result,'$.chunks')),0) FROM job j"
            " WHERE j.key IN (SELECT DISTINCT 'index:' || p.scope || ':' || p.path"
            "  FROM event_path p JOIN event e USING (event_id) WHERE e.run_id=?)",
            (run_id,),
        )
        .fetchone()
    )
    return int(row[0]) if row else 0


def unfinished(outbox: Outbox, keys: list[str]) -> int:
    """Return how many of the jobs with these keys are still to be done."""
    row = (
        outbox.connection()
        .execute(
            "SELECT count(*) FROM job WHERE state IN ('pending','queued','running')"
            " AND key IN (SELECT value FROM json_each(?))",
            (orjson.dumps(keys).decode(),),
        )
        .fetchone()
    )
    return int(row[0]) if row else 0


def oldest_by_queue(outbox: Outbox) -> dict[str, float]:
    """Return the age in seconds of the oldest unfinished job of each queue that has one."""
    now = outbox.clock.now().timestamp()
    rows = outbox.connection().execute(
        "SELECT queue, min(created) FROM job WHERE state IN ('pending','queued','running')"
        " GROUP BY queue"
    )
    return {queue: max(0.0, now - created) for queue, created in rows}


def quarantine_counts(outbox: Outbox) -> dict[str, int]:
    """Return how many jobs were given up, by class."""
    rows = outbox.connection().execute(
        "SELECT coalesce(error_class,''), count(*) FROM job WHERE state='quarantined' GROUP BY 1"
    )
    return dict(rows)


def event_count(outbox: Outbox) -> int:
    """Return how many events were ever collected."""
    row = outbox.connection().execute("SELECT count(*) FROM event").fetchone()
    return int(row[0]) if row else 0

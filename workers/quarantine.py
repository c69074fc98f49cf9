"""What was given up, by what ailed it, and the replay that has a chance of mending that.

A job that crashed its worker, or whose input no retry mends, gets one careful try: another failure
puts it back at once instead of taking a worker down three times more.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from context_engine.sqlite import immediate
from workers.outbox import Outbox


class Ailment(StrEnum):
    """Classes of failure as a person thinks of them."""

    TIMEOUT = "timeout"
    CONTEXT = "context"
    SCHEMA = "schema"
    CRASH = "crash"
    BAD_INPUT = "bad_input"
    OTHER = "other"

    @property
    def careful(self) -> bool:
        """Whether a replay gets one try instead of a fresh start."""
        return self in (Ailment.CRASH, Ailment.BAD_INPUT)


_CLASSES = {
    "timeout": Ailment.TIMEOUT,
    "deadline": Ailment.TIMEOUT,
    "context_overflow": Ailment.CONTEXT,
    "truncated": Ailment.CONTEXT,
    "too_large": Ailment.CONTEXT,
    "bad_json": Ailment.SCHEMA,
    "echoed_schema": Ailment.SCHEMA,
    "out_of_schema": Ailment.SCHEMA,
    "repetition": Ailment.SCHEMA,
    "wrong_model": Ailment.SCHEMA,
    "crash": Ailment.CRASH,
    "bad_input": Ailment.BAD_INPUT,
}


@dataclass(frozen=True)
class QuarantineClass:
    """All jobs that were given up for one reason. Times are Unix seconds."""

    error_class: str
    ailment: Ailment
    jobs: int
    newest: float


def ailment_of(error_class: str) -> Ailment:
    """Return the kind of failure behind a stored class."""
    return _CLASSES.get(error_class, Ailment.OTHER)


def classes(outbox: Outbox) -> list[QuarantineClass]:
    """Return the classes there are, the largest first."""
    rows = outbox.connection().execute(
        "SELECT coalesce(error_class,''), count(*), max(updated) FROM job"
        " WHERE state='quarantined' GROUP BY 1 ORDER BY 2 DESC"
    )
    return [QuarantineClass(name, ailment_of(name), count, at) for name, count, at in rows]


def replay(outbox: Outbox, job_ids: list[int], *, max_attempts: int) -> int:
    """Let these jobs be tried again, each as its class allows; returns how many there were."""
    return sum(_replay_job(outbox, job_id, max_attempts) for job_id in job_ids)


def replay_class(outbox: Outbox, error_class: str, *, max_attempts: int) -> int:
    """Let all jobs of a class be tried again; returns how many there were."""
    attempts = _attempts(error_class, max_attempts)
    with immediate(outbox.connection(durable=True)) as db:
        db.execute(
            "UPDATE job SET state='pending', attempts=?, not_before=0, updated=?"
            " WHERE state='quarantined' AND coalesce(error_class,'')=?",
            (attempts, outbox.clock.now().timestamp(), error_class),
        )
        return db.changes()


def _replay_job(outbox: Outbox, job_id: int, max_attempts: int) -> int:
    with immediate(outbox.connection(durable=True)) as db:
        row = db.execute(
            "SELECT coalesce(error_class,'') FROM job WHERE job_id=? AND state='quarantined'",
            (job_id,),
        ).fetchone()
        if row is None:
            return 0
        db.execute(
            "UPDATE job SET state='pending', attempts=?, not_before=0, updated=? WHERE job_id=?",
            (_attempts(row[0], max_attempts), outbox.clock.now().timestamp(), job_id),
        )
    return 1


def _attempts(error_class: str, max_attempts: int) -> int:
    return max_attempts - 1 if ailment_of(error_class).careful else 0

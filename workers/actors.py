"""The dramatiq actors: thin. Parse the message, run the job, let its outcome say what follows."""

from __future__ import annotations

from collections.abc import Callable

import dramatiq
from dramatiq.brokers.redis import RedisBroker

from workers.broker import EXTRACT, INDEX, INGEST
from workers.jobs import run_job
from workers.outbox import Outbox
from workers.outbox_model import Job, Outcome

Work = Callable[[Job, str | None], Outcome]
"""Takes the job and, for ingest, the event as JSON; returns what came of it."""


def declare(
    broker: RedisBroker,
    outbox: Outbox,
    worker_id: str,
    works: dict[str, Work],
    *,
    max_attempts: int,
) -> None:
    """Declare an actor for each queue in `works`, named like its queue."""
    for queue in (INGEST, EXTRACT, INDEX):
        if queue in works:
            receive = _receiver(outbox, worker_id, works[queue], max_attempts)
            dramatiq.actor(actor_name=queue, queue_name=queue, broker=broker)(receive)


def _receiver(
    outbox: Outbox, worker_id: str, work: Work, max_attempts: int
) -> Callable[[int, str, str | None], None]:
    def receive(job_id: int, key: str, event: str | None = None) -> None:
        run_job(
            outbox,
            worker_id,
            (job_id, key),
            lambda job: work(job, event),
            max_attempts=max_attempts,
        )

    return receive

"""Outbox → Redis: publishes pending jobs, and takes back what a crash or a wiped Redis lost.

One relay at a time works for a home (a file lock elects it); every worker process offers one.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any

import dramatiq
import redis
from dramatiq.brokers.redis import RedisBroker
from dramatiq.errors import DramatiqError

from context_engine.logs import get_logger
from context_engine.settings import Settings
from workers import liveness
from workers.broker import QUEUES, namespace
from workers.outbox import Outbox
from workers.outbox_model import Job

PUBLISHERS = 16
IDLE_SECONDS = 0.1
"""How often the outbox is asked whether anything was written to it: a look at one number."""
LOOK_SECONDS = 1.0
"""How often it is looked through all the same: pauses between two attempts end by themselves."""
RECONCILE_SECONDS = 2.0
LOST_AFTER_SECONDS = 60.0
"""A queued job that no worker took for so long, with its queue empty, is published again."""
PROBE_SECONDS = 30.0
"""How often a dependency that jobs wait for is asked again."""

log = get_logger(__name__)


class Relay:
    """Publishes for one home, in a thread of its own."""

    def __init__(
        self,
        settings: Settings,
        outbox: Outbox,
        broker: RedisBroker,
        *,
        probes: dict[str, Callable[[], bool]] | None = None,
    ) -> None:
        self._settings = settings
        self._namespace = namespace(settings)
        self._outbox = outbox
        self._broker = broker
        self._probes = probes or {}
        self._stop = threading.Event()
        self._lock: IO[str] | None = None
        self._publishers = ThreadPoolExecutor(PUBLISHERS, thread_name_prefix="publish")
        self._next_look = 0.0
        self._version = -1
        self._next_reconcile = 0.0
        self._next_probe = 0.0
        self._thread = threading.Thread(target=self._run, name="relay", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End, leaving nothing half published."""
        self._stop.set()
        self._thread.join(timeout=10)
        self._publishers.shutdown()
        if self._lock is not None:
            self._lock.close()

    def probe_soon(self) -> None:
        """Ask the dependencies again at the next step."""
        self._next_probe = 0.0

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._probe_when_due()
                published = self._leads() and self._step()
            except (redis.RedisError, DramatiqError) as error:
                log.warning("broker away, publishing pauses", error=str(error))
                self._stop.wait(1.0)
                continue
            except Exception:
                log.exception("relay failed, goes on")
                self._stop.wait(1.0)
                continue
            if not published:
                self._stop.wait(IDLE_SECONDS)

    def _leads(self) -> bool:
        if self._lock is None:
            self._lock = liveness.try_lock(self._settings.paths.state / "relay.lock")
            if self._lock is None:
                self._stop.wait(1.0)
        return self._lock is not None

    def _step(self) -> bool:
        now = time.monotonic()
        if now >= self._next_reconcile:
            self.reconcile()
            self._next_reconcile = now + RECONCILE_SECONDS
            self._next_look = now  # what it took back was written by this very connection
        version = self._outbox.version()
        if version == self._version and now < self._next_look:
            return False
        published = sum([self.publish(queue) for queue in QUEUES])
        # until nothing more goes out: what one write brought may be more than one round takes
        self._version = version if published == 0 else -1
        self._next_look = now + LOOK_SECONDS
        return published > 0

    def publish(self, queue: str) -> int:
        """Put pending jobs of `queue` on Redis, up to the depth limit; returns how many."""
        room = self._settings.workers.max_queue_depth - self._outbox.in_flight(queue)
        jobs = self._outbox.publishable(queue, min(room, 200)) if room > 0 else []
        if not jobs:
            return 0
        # First the mark, then the message: the other way round a fast worker would find its job
        # still pending. A crash in between leaves a job that reconciling publishes again.
        self._outbox.mark_queued(jobs)
        # side by side, so that many messages share one fsync of the broker
        for _ in self._publishers.map(self._broker.enqueue, map(self._message, jobs)):
            pass
        return len(jobs)

    def _message(self, job: Job) -> dramatiq.Message[None]:
        payload = (
            self._outbox.payload(job.event_id) if job.event_id and job.queue == "ingest" else None
        )
        return dramatiq.Message(
            queue_name=job.queue,
            actor_name=job.queue,
            args=(),
            kwargs={
                "job_id": job.job_id,
                "key": job.key,
                "event": payload.decode() if payload is not None else None,
            },
            options={},
        )

    def reconcile(self) -> None:
        """Take back what is held by the dead, and what a wiped Redis forgot."""
        limit = self._settings.workers.max_attempts
        folder = self._workers_folder
        dead = set(liveness.sweep(folder))
        dead |= {w for w in self._outbox.running_workers() if not liveness.is_alive(folder, w)}
        for worker in dead:
            released = self._outbox.release(worker, max_attempts=limit)
            log.warning("worker died", worker=worker, released=released)
        if dead or self._redis_was_wiped():
            # messages that sat in a dead worker's memory come back only after its heartbeat
            # timeout; a second copy is harmless, because a job starts once
            self._outbox.republish()
        for queue in QUEUES:
            if self._broker.client.llen(f"{self._namespace}:{queue}") == 0:
                self._outbox.republish(queue, older_than=LOST_AFTER_SECONDS)

    def _redis_was_wiped(self) -> bool:
        ours = self._outbox.meta("redis_generation")
        theirs: Any = self._broker.client.get(f"{self._namespace}:generation")
        if theirs is not None and ours is not None and theirs == ours.encode():
            return False
        generation = uuid.uuid4().hex
        self._outbox.set_meta("redis_generation", generation)
        self._broker.client.set(f"{self._namespace}:generation", generation)
        return True

    def _probe_when_due(self) -> None:
        """Ask for this process's own dependencies, whether it leads or not: others cannot."""
        now = time.monotonic()
        if now < self._next_probe:
            return
        self._next_probe = now + PROBE_SECONDS
        for dependency, is_up in self._probes.items():
            if self._outbox.has_waiting(dependency) and is_up():
                log.info("dependency is back", dependency=dependency,
                         resumed=self._outbox.resume(dependency))  # fmt: skip

    @property
    def _workers_folder(self) -> Path:
        return self._settings.paths.state / "workers"

"""How a worker process lives: broker, lease, actors, relay, background threads, a clean end.

dramatiq's Worker runs inside this process, not under dramatiq's own command line: that one puts
the working directory on the import path and forks, and we have a supervisor already.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import dramatiq
import redis

from context_engine.errors import DependencyDownError
from context_engine.logs import configure, get_logger
from context_engine.metrics import flushing
from context_engine.settings import Settings
from workers.actors import Work, declare
from workers.broker import check_broker, make_broker
from workers.embedded_broker import stop_leftover
from workers.liveness import WorkerLease
from workers.outbox import Outbox
from workers.relay import Relay
from workers.supervisor import exit_with_parent, is_running

BROKER_WAIT_SECONDS = 30.0
BUSY_MS = 100
IDLE_MS = 700
"""The longest pause between two looks at an empty queue, with work about and without.

Each look costs the broker and us a millisecond: ten a second of three processes are 4 % of a core.
"""
BUSY_SECONDS = 5.0
"""How long after the last change of the outbox there may be more work."""
PACE_SECONDS = 1.0

log = get_logger(__name__)


@dataclass(frozen=True)
class Role:
    """What one worker process does."""

    name: str
    queues: tuple[str, ...]
    threads: int
    works: Callable[[Settings, Outbox], dict[str, Work]]
    probes: Callable[[Settings], dict[str, Callable[[], bool]]]
    """Dependency name → whether it is back, for jobs that wait."""
    background: Callable[[Settings, Outbox, threading.Event], Sequence[threading.Thread]] = (
        lambda _settings, _outbox, _stop: ()
    )


def serve(role: Role, settings: Settings) -> None:
    """Work until SIGTERM or SIGINT; finishes the running jobs first."""
    settings.paths.create()
    configure(role.name, folder=settings.paths.logs)
    exit_with_parent(last_wish=lambda: _stop_orphaned_broker(settings))
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    outbox = Outbox(settings.paths.outbox)
    broker = make_broker(settings)
    if not _await_broker(broker.client, stop):
        return
    lease = WorkerLease(settings.paths.state / "workers", role.name)
    declare(
        broker,
        outbox,
        lease.worker_id,
        role.works(settings, outbox),
        max_attempts=settings.workers.max_attempts,
    )
    worker = dramatiq.Worker(
        broker, queues=set(role.queues), worker_threads=role.threads, worker_timeout=BUSY_MS
    )
    relay = Relay(settings, outbox, broker, probes=role.probes(settings))
    background = (
        *role.background(settings, outbox, stop),
        threading.Thread(target=_pace, args=(worker, outbox, stop), name="pace", daemon=True),
    )
    worker.start()
    relay.start()
    for thread in background:
        thread.start()
    log.info("ready", worker=lease.worker_id)
    (settings.paths.state / "workers" / f"{role.name}.ready").touch()
    with flushing(settings.paths.metrics):
        stop.wait()
        relay.stop()
        worker.stop(timeout=10_000)
        for thread in background:
            thread.join(timeout=10)
    # told to stop in the middle of a job: that is no failure of the job
    outbox.give_back(lease.worker_id)
    lease.release()


def _pace(worker: dramatiq.Worker, outbox: Outbox, stop: threading.Event) -> None:
    """Look at the queues less often when nothing was written to the outbox for a while."""
    version, changed = outbox.version(), time.monotonic()
    while not stop.wait(PACE_SECONDS):
        now = time.monotonic()
        if (current := outbox.version()) != version:
            version, changed = current, now
        pause = BUSY_MS if now - changed < BUSY_SECONDS else IDLE_MS
        for thread in list(worker.consumers.values()):
            # None until it has connected; read anew before each pause
            if thread.consumer is not None:
                thread.consumer.timeout = pause  # type: ignore[attr-defined]  # Redis' has it


def _stop_orphaned_broker(settings: Settings) -> None:
    """Stop the embedded broker of a supervisor that was killed, unless the next one is here."""
    if settings.redis_url is None and not is_running(settings.paths):
        stop_leftover(settings.paths)


def _await_broker(client: redis.Redis, stop: threading.Event) -> bool:
    waited = 0.0
    while not stop.is_set():
        try:
            check_broker(client)
        except DependencyDownError as error:
            if waited >= BROKER_WAIT_SECONDS:
                raise
            log.warning("waiting for the broker", reason=error.reason)
        else:
            return True
        waited += 0.5
        stop.wait(0.5)
    return False

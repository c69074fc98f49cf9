"""The state of a home as numbers, read where it is kept; for `/metrics` and for the charts."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import redis

from context_engine.errors import IndexCorruptError
from context_engine.metrics import Family, Labels
from context_engine.scopes import Scope
from context_engine.settings import Settings
from index.readers import Readers
from workers import outbox_report
from workers.broker import make_client, namespace, queue_depths
from workers.outbox import Outbox
from workers.supervisor import parts_alive

GAUGES = {
    "queue_depth": Family("gauge", "Messages waiting on Redis, by queue."),
    "jobs": Family("gauge", "Jobs in the outbox, by queue and state."),
    "oldest_job_seconds": Family("gauge", "Age of the oldest unfinished job, by queue."),
    "quarantined_jobs": Family("gauge", "Jobs that were given up, by class."),
    "events_total": Family("counter", "Events ever collected."),
    "extraction_outcomes_total": Family("counter", "Proposed insights and replies, by outcome."),
    "index_notes": Family("gauge", "Notes that can be found, by scope."),
    "index_chunks": Family("gauge", "Chunks of the index, by scope."),
    "index_vectors": Family("gauge", "Chunks with a vector, by scope."),
    "index_bytes": Family("gauge", "Size of the index file, by scope."),
    "disk_free_bytes": Family("gauge", "Free space where the home lies."),
    "part_up": Family("gauge", "1 for a part of the running engine that is alive."),
    "part_restarts": Family("gauge", "How often a part was started again."),
}

Gauge = tuple[str, Labels, float]


class Gauges:
    """Reads all gauges of one home; keeps its connections. Thread-safe."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._home = settings.paths
        self._outbox = Outbox(settings.paths.outbox)
        self._readers = Readers(settings.paths)
        self._broker = make_client(settings)

    def read(self) -> list[Gauge]:
        """Return what can be read; a broker that is away has no depth, a damaged index no size."""
        return [
            *self._queues(),
            *self._jobs(),
            *self._indexes(),
            ("disk_free_bytes", (), float(shutil.disk_usage(self._home.root).free)),
            *self._parts(),
        ]

    def _queues(self) -> Iterator[Gauge]:
        try:
            depths = queue_depths(self._broker, namespace(self._settings))
        except (redis.RedisError, OSError):
            return
        for queue, depth in depths.items():
            yield "queue_depth", (("queue", queue),), float(depth)

    def _jobs(self) -> Iterator[Gauge]:
        for queue, states in outbox_report.counts(self._outbox).items():
            for state, number in states.items():
                yield "jobs", (("queue", queue), ("state", state)), float(number)
        for queue, age in outbox_report.oldest_by_queue(self._outbox).items():
            yield "oldest_job_seconds", (("queue", queue),), age
        for error_class, number in outbox_report.quarantine_counts(self._outbox).items():
            yield "quarantined_jobs", (("class", error_class),), float(number)
        yield "events_total", (), float(outbox_report.event_count(self._outbox))
        for outcome, number in outbox_report.outcomes(self._outbox).items():
            name = outcome.removeprefix("extract.")
            yield "extraction_outcomes_total", (("outcome", name),), float(number)

    def _indexes(self) -> Iterator[Gauge]:
        for scope in Scope:
            try:
                stats = self._readers.stats(scope)
            except IndexCorruptError:
                continue
            label = (("scope", scope.value),)
            yield "index_notes", label, float(stats.notes)
            yield "index_chunks", label, float(stats.chunks)
            yield "index_vectors", label, float(stats.embedded)
            yield "index_bytes", label, float(stats.size_bytes)

    def _parts(self) -> Iterator[Gauge]:
        for part in parts_alive(self._home):
            label = (("part", part["name"]),)
            yield "part_up", label, float(part["alive"])
            yield "part_restarts", label, float(part["restarts"])

"""Counting what happens: totals and histograms that every process of a home adds up in one file.

`count` and `observe` cost a dictionary access. A thread adds what has come together to the file
every few seconds; a killed process loses those last seconds of its counts, never more.
"""

from __future__ import annotations

import bisect
import contextlib
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from context_engine.background import in_background

FLUSH_SECONDS = 5.0
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 180.0, 600.0)
"""Upper bounds in seconds; a last one without a bound is added."""

Labels = tuple[tuple[str, str], ...]
"""Sorted pairs of name and value."""
Totals = Mapping[tuple[str, Labels], float]


@dataclass(frozen=True)
class Family:
    """One metric of all its labels, as Prometheus describes it."""

    kind: Literal["counter", "histogram", "gauge"]
    about: str


FAMILIES = {
    "jobs_total": Family("counter", "Jobs that ended, by queue and outcome."),
    "job_seconds": Family("histogram", "Time one job was worked on, by queue."),
    "llm_tokens_total": Family("counter", "Tokens the local model read and wrote, by direction."),
    "llm_seconds": Family("histogram", "Time of one answer of the local model."),
    "requests_total": Family("counter", "Requests, by client, operation and outcome."),
    "request_seconds": Family("histogram", "Time of one request, by operation."),
    "searches_total": Family("counter", "Searches, by whether they found anything."),
}
"""All that is counted. A name that is not here is a mistake."""

_lock = threading.Lock()
_pending: dict[tuple[str, Labels], float] = {}


def count(name: str, amount: float = 1.0, **labels: str) -> None:
    """Add to a counter."""
    _add(_family(name, "counter"), amount, labels)


def observe(name: str, seconds: float, **labels: str) -> None:
    """Add one time to a histogram."""
    _family(name, "histogram")
    _add(f"{name}_bucket", 1.0, {**labels, "le": bucket_of(seconds)})
    _add(f"{name}_sum", seconds, labels)


def bucket_of(seconds: float) -> str:
    """Return the upper bound of the bucket that `seconds` falls into."""
    place = bisect.bisect_left(BUCKETS, seconds)
    return f"{BUCKETS[place]:g}" if place < len(BUCKETS) else "+Inf"


def take() -> dict[tuple[str, Labels], float]:
    """Return what was counted since the last call, and forget it."""
    with _lock:
        taken = dict(_pending)
        _pending.clear()
    return taken


@contextlib.contextmanager
def flushing(path: Path, *, every: float = FLUSH_SECONDS) -> Iterator[None]:
    """Add what this process counts to the file at `path` while the block runs, and at its end."""
    with in_background(lambda stop: _flush_loop(path, stop, every)):
        yield


def flush(path: Path) -> None:
    """Add what was counted to the file; what cannot be written is counted on for the next time."""
    import apsw

    from context_engine.logs import get_logger
    from context_engine.metric_store import MetricStore

    taken = take()
    if not taken:
        return
    try:
        with MetricStore(path) as store:
            store.add(taken)
    except (apsw.Error, OSError) as error:
        get_logger(__name__).warning("counts wait for their file", error=str(error))
        for (name, labels), amount in taken.items():
            _add(name, amount, dict(labels))


def _flush_loop(path: Path, stop: threading.Event, every: float) -> None:
    while not stop.wait(every):
        flush(path)
    flush(path)


def _family(name: str, kind: str) -> str:
    if FAMILIES[name].kind != kind:
        raise KeyError(name)
    return name


def _add(name: str, amount: float, labels: Mapping[str, str]) -> None:
    key = (name, tuple(sorted(labels.items())))
    with _lock:
        _pending[key] = _pending.get(key, 0.0) + amount

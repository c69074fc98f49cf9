"""The charts' points: once a minute, what the gauges say and what the totals have come to.

A gauge's series is named `metric` or `metric.label value…`: `queue_depth.ingest`. Totals are summed
over their labels: `requests_total`. A histogram gives `name.p50` and `name.p95` of what ended since
the last sample, when something did.
"""

from __future__ import annotations

import contextlib
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from context_engine.background import in_background
from context_engine.clock import Clock, SystemClock
from context_engine.logs import get_logger
from context_engine.metric_store import MINUTE, MetricStore
from context_engine.metrics import BUCKETS, FAMILIES, Totals
from context_engine.settings import Settings

if TYPE_CHECKING:
    from api.gauges import Gauge

QUANTILES = {"p50": 0.5, "p95": 0.95}

log = get_logger(__name__)


class Sampler:
    """Takes samples of one home."""

    def __init__(self, settings: Settings, clock: Clock | None = None) -> None:
        # a minute after the start, not before it
        from api.gauges import Gauges

        self._path = settings.paths.metrics
        self._gauges = Gauges(settings)
        self._clock = clock or SystemClock()
        self._before: Totals | None = None

    def sample(self) -> None:
        """Store one point of every series."""
        with MetricStore(self._path) as store:
            totals = store.totals()
            values = gauge_series(self._gauges.read()) | total_series(totals)
            if self._before is not None:
                values |= quantile_series(self._before, totals)
            store.record(self._clock.now().timestamp(), values)
        self._before = totals


def gauge_series(gauges: Iterable[Gauge]) -> dict[str, float]:
    """Return the gauges as series."""
    return {
        ".".join((name, *(text for _, text in labels))): value for name, labels, value in gauges
    }


def total_series(totals: Totals) -> dict[str, float]:
    """Return each total summed over its labels; tokens by their direction as well."""
    sums: dict[str, float] = defaultdict(float)
    for (name, labels), value in totals.items():
        if name.endswith("_bucket"):
            continue
        sums[name] += value
        if name == "llm_tokens_total":
            sums[f"{name}.{dict(labels)['direction']}"] += value
        elif name == "searches_total":
            sums[f"{name}.{dict(labels)['found']}"] += value
    return dict(sums)


def quantile_series(before: Totals, after: Totals) -> dict[str, float]:
    """Return p50 and p95 of each histogram's times between two readings of the totals."""
    series: dict[str, float] = {}
    for name, family in FAMILIES.items():
        if family.kind == "histogram":
            new = _new_by_bucket(name, before, after)
            if sum(new.values()) > 0:
                series |= {f"{name}.{q}": quantile(new, part) for q, part in QUANTILES.items()}
    return series


def _new_by_bucket(name: str, before: Totals, after: Totals) -> dict[str, float]:
    new: dict[str, float] = defaultdict(float)
    for (total, labels), value in after.items():
        if total == f"{name}_bucket":
            new[dict(labels)["le"]] += value - before.get((total, labels), 0.0)
    return new


def quantile(counts: Mapping[str, float], part: float) -> float:
    """Return an estimate of a quantile from counts by bucket, linear inside a bucket.

    As Prometheus' histogram_quantile; above the last bound it is the last bound.
    """
    wanted = part * sum(counts.values())
    seen, lower = 0.0, 0.0
    for bound in BUCKETS:
        inside = counts.get(f"{bound:g}", 0.0)
        if inside and seen + inside >= wanted:
            return lower + (bound - lower) * (wanted - seen) / inside
        seen, lower = seen + inside, bound
    return BUCKETS[-1]


@contextlib.contextmanager
def sampling(settings: Settings, *, every: float = MINUTE) -> Iterator[None]:
    """Sample in a thread while the block runs."""
    with in_background(lambda stop: _loop(settings, stop, every)):
        yield


def _loop(settings: Settings, stop: threading.Event, every: float) -> None:
    sampler: Sampler | None = None
    while not stop.wait(every):
        try:
            sampler = sampler or Sampler(settings)
            sampler.sample()
        except Exception:
            log.exception("sampling failed, goes on")

"""The first page: is all well, and if not, what."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from api.dashboard.ask import Ask
from api.dashboard.charts import Chart, Series, chart
from api.dashboard.deck import Deck
from api.dashboard.render import fragment, page
from api.routines.report import routine_states
from api.usage.report import usage_report
from context_engine.errors import IndexCorruptError
from context_engine.metric_store import MetricStore, Point
from context_engine.scopes import Scope
from index.browse import Tally, tally
from workers import outbox_report, outbox_view
from workers.extraction.client import OllamaModel
from workers.supervisor import is_running, parts_alive

SPANS = {"1h": 3_600, "24h": 86_400, "30d": 30 * 86_400}
_SOON, _COUNTED, _LATER = 2.0, 5.0, 30.0
"""For how many seconds a cheap figure, a count of all there is, and a dear one are good."""
_LOW_DISK = 2_000_000_000
_STUCK_SECONDS = 1_800
_WAITING = ("pending", "queued", "running")


@dataclass(frozen=True)
class Stage:
    """One station of the pipeline: all that ever came here, and what waits before it."""

    name: str
    total: int
    waiting: int


def show(deck: Deck, ask: Ask) -> Response:
    """Show the page."""
    return page(
        ask, "overview.html", here="overview", spans=SPANS, span=_span(ask), **figures(deck)
    )


def live_part(deck: Deck, ask: Ask) -> str:
    """Return the part of the page that changes by itself."""
    return fragment(ask, "overview_live.html", **figures(deck))


def figures(deck: Deck) -> dict[str, Any]:
    """Return what the live part shows."""
    counts = deck.cache.get("unfinished", _SOON, lambda: outbox_view.unfinished_counts(deck.outbox))
    tallies = deck.cache.get("tallies", _SOON, lambda: _tallies(deck))
    parts = deck.cache.get("parts", _SOON, lambda: parts_alive(deck.home))
    running = deck.cache.get("running", _SOON, lambda: is_running(deck.home))
    disk = shutil.disk_usage(deck.home.root)
    oldest = deck.cache.get("oldest", _SOON, lambda: outbox_report.oldest_pending(deck.outbox))
    found: dict[str, Any] = {
        "stages": _stages(deck, counts, tallies),
        "oldest": oldest,
        "waiting_for_llm": sum(states.get("waiting", 0) for states in counts.values()),
        "quarantined": sum(states.get("quarantined", 0) for states in counts.values()),
        "tallies": tallies,
        "last_done": _last_done(deck),
        "running": running,
        "parts": parts,
        "disk_free": disk.free,
        "disk_share": round(100 * disk.used / max(disk.total, 1)),
        "home_bytes": _state_bytes(deck),
        "sources": deck.cache.get("last", _COUNTED, lambda: outbox_view.last_received(deck.outbox)),
    }
    found["routines"] = deck.cache.get("routines", _SOON, lambda: routine_states(deck.settings))
    quality = deck.cache.get("quality", _LATER, lambda: usage_report(deck.home, deck.clock))
    return found | {"problems": _problems(found), "quality": quality}


def charts(deck: Deck, ask: Ask) -> Response:
    """Show the charts of one span."""
    span = _span(ask)
    seconds = SPANS[span]
    drawn = deck.cache.get(f"charts {span}", _LATER, lambda: _charts(deck, seconds))
    return page(ask, "charts.html", spans=SPANS, span=span, charts=drawn)


def llm(deck: Deck, ask: Ask) -> Response:
    """Show whether the local model answers: by one real token, which may take a while."""
    settings = deck.settings
    health = None
    if settings.llm.mode != "cues":
        model = OllamaModel.from_settings(settings)
        health = deck.cache.get("llm", _LATER, model.health)
    speed = deck.cache.get("llm speed", _LATER, lambda: _tokens_per_second(deck))
    return page(ask, "llm.html", health=health, model=settings.llm.model, speed=speed)


def _span(ask: Ask) -> str:
    span = ask.query.get("span", "24h")
    return span if span in SPANS else "24h"


def _stages(
    deck: Deck, counts: dict[str, dict[str, int]], tallies: dict[Scope, Tally | None]
) -> tuple[Stage, ...]:
    done = deck.cache.get("done", _COUNTED, lambda: outbox_view.done_counts(deck.outbox))
    events = deck.cache.get("events", _SOON, lambda: outbox_report.event_count(deck.outbox))
    known = [each for each in tallies.values() if each is not None]
    waits = {q: sum(s.get(state, 0) for state in _WAITING) for q, s in counts.items()}
    waiting_llm = sum(states.get("waiting", 0) for states in counts.values())
    in_queue = sum(states.get("queued", 0) + states.get("running", 0) for states in counts.values())
    return (
        Stage("collected", events, waits.get("ingest", 0)),
        Stage("queued", in_queue, sum(waits.values())),
        Stage("extracted", done.get("extract", 0), waits.get("extract", 0) + waiting_llm),
        Stage("vault", sum(each.notes for each in known), waits.get("index", 0)),
        Stage(
            "indexed",
            sum(each.chunks for each in known),
            sum(each.chunks - each.vectors for each in known),
        ),
    )


def _tallies(deck: Deck) -> dict[Scope, Tally | None]:
    """Return the size of each index, None for a damaged one."""
    found: dict[Scope, Tally | None] = {}
    for scope in Scope:
        try:
            found[scope] = tally(deck.home, scope)
        except IndexCorruptError:
            found[scope] = None
    return found


def _last_done(deck: Deck) -> float | None:
    stamp = deck.outbox.meta("last_done")
    return float(stamp) if stamp else None


def _state_bytes(deck: Deck) -> int:
    places = [deck.home.outbox, *(deck.home.index(scope) for scope in Scope)]
    return sum(place.stat().st_size for place in places if place.exists())


def _problems(found: dict[str, Any]) -> list[tuple[str, dict[str, Any], str]]:
    """Return (key of the text, its values, where to act) of what needs a person."""
    dead = [part["name"] for part in found["parts"] if not part["alive"]]
    damaged = [scope.value for scope, tally in found["tallies"].items() if tally is None]
    said: tuple[tuple[object, str, dict[str, Any], str], ...] = (
        (not found["running"], "problem.stopped", {}, ""),
        (found["quarantined"], "problem.quarantined", {"n": found["quarantined"]}, "/work"),
        (dead, "problem.dead", {"parts": ", ".join(dead)}, ""),
        (damaged, "problem.damaged", {"scopes": ", ".join(damaged)}, ""),
        (found["disk_free"] < _LOW_DISK, "problem.disk", {}, ""),
        ((found["oldest"] or 0) > _STUCK_SECONDS, "problem.slow", {}, "/work"),
    )
    failing = [
        ("problem.routine", {"name": each.name}, "/sources")
        for each in found["routines"]
        if each.failing
    ]
    return failing + [(key, values, place) for holds, key, values, place in said if holds]


def _charts(deck: Deck, seconds: int) -> dict[str, Chart]:
    now = deck.clock.now().timestamp()
    with MetricStore(deck.home.metrics) as store:

        def grown(name: str, series: str) -> Series:
            points = store.rates(series, now=now, seconds=seconds)
            return Series(name, [(point.at, point.value * 60) for point in points])

        def level(name: str, series: str) -> Series:
            return Series(name, _levels(store.points(series, now=now, seconds=seconds)))

        wanted = {
            "throughput": [grown("jobs", "jobs_total"), grown("requests", "requests_total")],
            "latency": [level(f"job {q}", f"job_seconds.{q}") for q in ("p50", "p95")],
            "requests": [level(f"request {q}", f"request_seconds.{q}") for q in ("p50", "p95")],
            "waiting": [
                level(queue, f"oldest_job_seconds.{queue}")
                for queue in ("ingest", "extract", "index")
            ],
        }
    return {name: chart(series, now=now, seconds=seconds) for name, series in wanted.items()}


def _levels(points: Sequence[Point]) -> list[tuple[float, float]]:
    return [(point.at, point.high) for point in points]


def _tokens_per_second(deck: Deck) -> float | None:
    """Return what the local model wrote a second while it was asked, over all its answers."""
    with MetricStore(deck.home.metrics) as store:
        totals = store.totals()
    written = sum(
        value
        for (name, labels), value in totals.items()
        if name == "llm_tokens_total" and dict(labels).get("direction") == "written"
    )
    seconds = sum(value for (name, _), value in totals.items() if name == "llm_seconds_sum")
    return written / seconds if written and seconds else None

"""How far a run is, and what came of it, read from the outbox."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from context_engine.insights import Kind
from workers import outbox_report
from workers.broker import EXTRACT
from workers.collector import CollectReport, refusals
from workers.jobs import DISK
from workers.outbox import Outbox


@dataclass(frozen=True)
class Progress:
    """Jobs of one run."""

    unfinished: int
    total: int


def run_progress(outbox: Outbox, run_id: str) -> Progress:
    """Return how many of a run's jobs are still to be done."""
    return Progress(*outbox_report.run_progress(outbox, run_id))


def all_progress(outbox: Outbox) -> Progress:
    """Return how many jobs of this home are still to be done, whoever asked for them."""
    states = outbox_report.counts(outbox).values()
    unfinished = sum(by.get(s, 0) for by in states for s in ("pending", "queued", "running"))
    return Progress(unfinished, sum(sum(by.values()) for by in states))


def run_summary(outbox: Outbox, report: CollectReport) -> dict[str, Any]:
    """Return what `ingest --json` prints: what was read and what became of it."""
    insights: Counter[str] = Counter({kind.value: 0 for kind in Kind})
    outcomes: Counter[str] = Counter()
    quarantined = []
    waiting: Counter[str] = Counter()
    disk = None
    for queue, state, result, error_class, error in outbox_report.run_jobs(outbox, report.run_id):
        if state == "waiting":
            waiting[error_class] += 1
            disk = error if error_class == DISK else disk
        if state == "quarantined":
            quarantined.append({"queue": queue, "class": error_class, "reason": error})
        if queue == EXTRACT:
            insights.update(result.get("insights", {}))
            outcomes.update(result.get("outcomes", {}))
    paths = outbox_report.run_paths(outbox, report.run_id)
    return {
        "run": report.run_id,
        "events": report.events,
        "new": report.new,
        "unchanged": report.unchanged,
        "messages": report.messages,
        "checkpoints": report.checkpoints,
        "older": report.older,
        "notes": len(paths),
        "source_notes": sum(path.startswith("sources/") for _, path in paths),
        "insights": dict(insights),
        "outcomes": dict(outcomes),
        "chunks": outbox_report.run_chunks(outbox, report.run_id),
        **refusals(report),
        "redacted": dict(report.redacted),
        "quarantined": len(quarantined),
        "quarantine": quarantined,
        "waiting_for_llm": waiting.total() - waiting[DISK],
        "waiting_for_disk": waiting[DISK],
        "disk": disk,
    }

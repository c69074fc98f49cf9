"""The whole way of generated transcripts: to keyword-searchable, to vectors; queries meanwhile.

    python benchmarks/pipeline.py [--megabytes 100] [--sessions 40] [--json]

Runs the real engine (embedded broker, worker, extractor by rules, indexer) on a home of its own,
asks questions while it works and when it is done, then kills a worker and measures how long its
job takes to start again.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from generate_transcripts import write_sessions

from connectors.base import ReadOptions
from connectors.registry import load
from context_engine.scopes import Scope
from context_engine.settings import Settings, load_settings
from index.embedding.factory import make_embedder
from index.model import SearchRequest
from index.search import Searcher
from workers import outbox_report
from workers.collector import collect
from workers.outbox import Outbox
from workers.parts import engine
from workers.supervisor import parts_alive

QUESTIONS = (
    "なぜ決済キューを置き換えたのか",
    "root cause of the stale handle",
    "夜間レポート 次の一手",
    "commit style preference",
    "p95 latency of the search index",
    "ライセンス 変更",
)


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=float, default=100)
    parser.add_argument("--sessions", type=int, default=40)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"CE_HOME": str(Path(folder) / "home"), "CE_LLM__MODE": "cues"}
        settings = load_settings()
        settings.paths.create()
        write_sessions(Path(folder) / "projects", arguments.megabytes, arguments.sessions)
        figures = measure(settings, Path(folder) / "projects")
    if arguments.json:
        sys.stdout.write(json.dumps(figures) + "\n")
    else:
        for name, value in figures.items():
            print(f"{name:<40} {value:,.2f}")


def measure(settings: Settings, folder: Path) -> dict[str, float]:
    """Return seconds and milliseconds, by name."""
    outbox = Outbox(settings.paths.outbox)
    embedder = make_embedder(settings.embedding, settings.models_dir, settings.ollama_url)
    searcher = Searcher(settings.paths, embedder)
    searcher.search(Scope.PERSONAL, SearchRequest("warm"))  # converts and loads the model
    figures: dict[str, float] = {}
    with engine(settings):
        begun = time.perf_counter()
        report = collect(
            load("claude"), [folder], outbox, ReadOptions(default_scope=Scope.PERSONAL)
        )
        figures["collected, s"] = time.perf_counter() - begun
        during = _until(lambda: _settled(outbox, "ingest", "index"), searcher)
        figures["source notes keyword-searchable, s"] = time.perf_counter() - begun
        during += _until(lambda: _settled(outbox, "ingest", "extract", "index"), searcher)
        figures["insights too, s"] = time.perf_counter() - begun
        during += _until(lambda: _embedded(searcher), searcher)
        figures["vectors too, s"] = time.perf_counter() - begun
        figures["redelivery after kill -9, s"] = redelivery(settings, outbox)
    stats = searcher.stats(Scope.PERSONAL)
    idle = [_ask(searcher, number) for number in range(120)]
    return figures | {
        "events": report.events,
        "messages": report.messages,
        "notes": stats.notes,
        "chunks": stats.chunks,
        "query during ingest p50, ms": statistics.median(during),
        "query during ingest p95, ms": _p95(during),
        "query idle p50, ms": statistics.median(idle),
        "query idle p95, ms": _p95(idle),
    }


def redelivery(settings: Settings, outbox: Outbox) -> float:
    """Return seconds from the death of a worker to the end of the job that it held."""
    pid = next(p["pid"] for p in parts_alive(settings.paths) if p["name"] == "indexer")
    os.kill(pid, signal.SIGSTOP)  # it takes a job and never finishes it
    from workers.indexer_jobs import index_job

    outbox.add([index_job("personal", "identity/canonical.md")])
    time.sleep(1.0)
    os.kill(pid, signal.SIGKILL)
    begun = time.perf_counter()
    while not _settled(outbox, "index"):
        time.sleep(0.02)
    return time.perf_counter() - begun


def _until(condition: Callable[[], bool], searcher: Searcher) -> list[float]:
    """Ask a question a few times a second until `condition` holds; returns how long each took."""
    times: list[float] = []
    while not condition():
        times.append(_ask(searcher, len(times)))
        time.sleep(0.2)
    return times


def _ask(searcher: Searcher, number: int) -> float:
    begun = time.perf_counter()
    searcher.search(Scope.PERSONAL, SearchRequest(QUESTIONS[number % len(QUESTIONS)]))
    return (time.perf_counter() - begun) * 1000


def _settled(outbox: Outbox, *queues: str) -> bool:
    counts = outbox_report.counts(outbox)
    return not any(
        counts.get(queue, {}).get(state, 0)
        for queue in queues
        for state in ("pending", "queued", "running")
    )


def _embedded(searcher: Searcher) -> bool:
    stats = searcher.stats(Scope.PERSONAL)
    return stats.chunks == stats.embedded + stats.quarantined


def _p95(times: list[float]) -> float:
    return sorted(times)[int(len(times) * 0.95)]


if __name__ == "__main__":
    main()

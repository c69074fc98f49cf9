"""Events per second through outbox, Redis and a worker that does nothing; time to redelivery.

    python benchmarks/throughput.py [--events N] [--json]

Everything is real: SQLite with an fsync a commit, Valkey with appendfsync always, dramatiq.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import dramatiq

from context_engine.events import Role, SourceDocument, Utterance
from context_engine.scopes import Scope
from context_engine.settings import Settings
from workers import embedded_broker, outbox_report
from workers.actors import declare
from workers.broker import INGEST, make_broker
from workers.liveness import WorkerLease
from workers.outbox import Outbox
from workers.outbox_model import Job, Outcome
from workers.relay import Relay


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=5000)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(home=Path(folder))
        settings.paths.create()
        broker = subprocess.Popen(embedded_broker.prepare(settings.paths))
        try:
            while not embedded_broker.is_ready(settings.paths):
                time.sleep(0.02)
            figures = measure(settings, arguments.events)
        finally:
            broker.terminate()
            broker.wait()
    if arguments.json:
        sys.stdout.write(json.dumps(figures) + "\n")
    else:
        for name, value in figures.items():
            print(f"{name:<28} {value:,.2f}")


def measure(settings: Settings, count: int) -> dict[str, float]:
    """Return events a second of each stage and of the whole, one worker process."""
    outbox = Outbox(settings.paths.outbox)
    broker = make_broker(settings)

    def nothing(job: Job, event: str | None) -> Outcome:
        del job, event
        return Outcome(drop_payload=True)

    lease = WorkerLease(settings.paths.state / "workers", "bench")
    declare(broker, outbox, lease.worker_id, {INGEST: nothing}, max_attempts=3)
    documents = [_document(n) for n in range(count)]
    cpu, begun = time.process_time(), time.perf_counter()
    for start in range(0, count, 100):
        outbox.commit("bench", documents[start : start + 100], [])
    committed = time.perf_counter()
    worker = dramatiq.Worker(
        broker, worker_threads=settings.workers.ingest_threads, worker_timeout=100
    )
    relay = Relay(settings, outbox, broker)
    worker.start()
    relay.start()
    while outbox_report.counts(outbox)["ingest"].get("done", 0) < count:
        time.sleep(0.05)
    done = time.perf_counter()
    cpu = time.process_time() - cpu
    relay.stop()
    worker.stop()
    return {
        "acknowledged events/s": count / (committed - begun),
        "worked events/s": count / (done - committed),
        "whole events/s": count / (done - begun),
        "CPU ms/event": cpu / count * 1000,
        "fsync ms": fsync_ms(settings.paths.state),
    }


def fsync_ms(folder: Path) -> float:
    """Return the median time of one small fsynced write, the unit of everything above."""
    times = []
    with (folder / "probe").open("wb") as file:
        for _ in range(100):
            begun = time.perf_counter()
            file.write(b"x" * 200)
            file.flush()
            os.fsync(file.fileno())
            times.append(time.perf_counter() - begun)
    return sorted(times)[50] * 1000


def _document(number: int) -> SourceDocument:
    text = f"イベント {number}: we decided to keep the queue durable. " * 10
    utterance = Utterance(f"u{number}", "aki", Role.OWNER, None, text)
    return SourceDocument("bench", f"d{number}", Scope.WORK, "title", (utterance,))


if __name__ == "__main__":
    main()

"""How long the dashboard's pages take: `python benchmarks/dashboard.py [--notes N]`.

A made-up home: notes in the index and as files, events and jobs in the outbox, a month of figures.
The made-up words are few, so that each is in most of the notes: the search for two of them is the
worst there can be, the one for a number the usual. The server runs as `up` runs it; each page is
asked for again and again over one connection.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from api.dashboard.links import create_link
from context_engine.clock import SystemClock
from context_engine.home import Home
from context_engine.metric_store import MetricStore
from context_engine.scopes import Scope
from context_engine.sqlite import connect, immediate
from index.writer import IndexWriter
from workers.outbox import Outbox

WORDS = (
    *("queue", "cache", "deploy", "invoice", "garden", "licence", "backup", "search", "review"),
    *("決定", "会議", "原稿", "移行", "検索", "設計", "請求", "朝", "顧客", "復元"),
)
PARTS = ("p50", "p95")
FOLDERS = {"value": 0.1, "decision": 0.3, "learning": 0.6}
PAGES = (
    *("/", "/parts/charts?span=24h", "/parts/charts?span=30d", "/work", "/work?class=timeout"),
    *(
        "/review",
        "/review?scope=work",
        "/search",
        "/search?q=77777&scope=work",
        "/search?q=queue+移行&scope=work",
    ),
    *("/search?scope=work&before=5000", "{note}", "/events/{event}", "/sources", "/clients"),
    "/settings",
)


def write_notes(home: Home, count: int) -> list[str]:
    """Write insights, a third of them raw, into the vault `work`; return their paths."""
    rng = random.Random(7)
    paths = []
    for number in range(count):
        kind = rng.choices(list(FOLDERS), list(FOLDERS.values()))[0]
        title = " ".join(rng.choices(WORDS, k=4)) + f" {number}"
        confidence = "raw" if number % 3 == 0 else "validated"
        path = f"knowledge/{kind}/2026-0{1 + number % 9}-01-note-{number:012x}.md"
        place = home.vault(Scope.WORK) / path
        place.parent.mkdir(parents=True, exist_ok=True)
        text = " ".join(rng.choices(WORDS, k=40))
        place.write_text(
            f"---\ntype: insight\nid: {number:012x}\nkind: {kind}\nconfidence: {confidence}\n"
            f"title: {title}\nsummary: {text[:80]}\ncreated: 2026-0{1 + number % 9}-01T00:00:00Z\n"
            f"source: claude\n---\n# {title}\n\n{text}\n\n> {text[:60]}\n",
            encoding="utf-8",
        )
        paths.append(path)
    return paths


def fill_outbox(home: Home, count: int) -> str:
    """Write an event and three jobs a note, a thousand of them given up; return an event's id."""
    outbox = Outbox(home.outbox)
    now = time.time()
    with immediate(outbox.connection()) as db:
        for number in range(count):
            event = f"{number:032x}"
            db.execute(
                "INSERT INTO event VALUES (?,?,?,?,?,?,NULL,?,?)",
                (event, "claude", "work", event, 1, f"session {number}", now - number, "run"),
            )
            for queue in ("ingest", "extract", "index"):
                bad = ("quarantined", "timeout", "too slow")
                failed = queue == "extract" and number % 100 == 0
                db.execute(
                    "INSERT INTO job(key, queue, lane, event_id, arguments, state, error_class,"
                    " error, created, updated) VALUES (?,?,?,?,'{}',?,?,?,?,?)",
                    (
                        *(f"{queue}:{event}", queue, event, event),
                        *(bad if failed else ("done", None, None)),
                        *(now - number, now - number),
                    ),
                )
    outbox.close()
    return f"{0:032x}"


def fill_metrics(home: Home) -> None:
    """Write a day of minutes and a month of hours, straight into their tables."""
    MetricStore(home.metrics).close()  # makes the tables
    now = int(time.time())
    series = [f"{name}.{part}" for name in ("job_seconds", "request_seconds") for part in PARTS]
    series += ["jobs_total", "requests_total", "oldest_job_seconds.extract"]
    connection = connect(home.metrics)
    with immediate(connection) as db:
        for name in series:
            for back in range(1440):
                db.execute("INSERT INTO minute VALUES (?,?,?)", (name, now - 60 * back, back))
            for back in range(720):
                at = now - 3600 * back
                db.execute("INSERT INTO hour VALUES (?,?,?,?,?)", (name, at, back, back, back))


@contextmanager
def serving(home: Home) -> Iterator[str]:
    """Run the API on `home`; give its address."""
    environment = dict(os.environ) | {
        "CE_HOME": str(home.root),
        "CE_API__PORT": "0",
        "CE_LLM__MODE": "cues",
    }
    process = subprocess.Popen([sys.executable, "-P", "-m", "api.http"], env=environment)
    place = home.state / "api.json"
    while not place.exists():
        time.sleep(0.05)
    try:
        yield f"http://127.0.0.1:{json.loads(place.read_text(encoding='utf-8'))['port']}"
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=30)


def measure(home: Home, pages: list[str], rounds: int) -> dict[str, dict[str, float]]:
    """Return first, p50 and p95 of each page in milliseconds, asked for in turns."""
    times: dict[str, list[float]] = {page: [] for page in pages}
    with serving(home) as base, httpx.Client(base_url=base, timeout=60) as client:
        client.get(f"/login?link={create_link(home, SystemClock())}")
        for _ in range(rounds):
            for page in pages:
                started = time.perf_counter()
                reply = client.get(page)
                times[page].append((time.perf_counter() - started) * 1000)
                assert reply.status_code == 200, (page, reply.status_code)  # noqa: S101 - or the figure means nothing
    return {
        page: {
            "first": taken[0],
            "p50": statistics.median(taken),
            "p95": statistics.quantiles(taken, n=20)[-1],
        }
        for page, taken in times.items()
    }


def main() -> None:
    """Build the home, measure, print a table or JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--build-only", action="store_true", help="with --keep: measure later")
    parser.add_argument("--keep", type=Path, help="build the home here, or use the one that is")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Home(arguments.keep or Path(folder) / "home")
        event, note = build(home, arguments.notes)
        if arguments.build_only:
            return
        pages = [
            page.replace("{note}", f"/notes/work/{note}").replace("{event}", event)
            for page in PAGES
        ]
        figures = measure(home, pages, arguments.rounds)
    everything = {"notes": arguments.notes, "pages": figures}
    if arguments.json:
        print(json.dumps(everything, indent=1, ensure_ascii=False))
        return
    for page, taken in figures.items():
        print(f"{page:<60} first {taken['first']:7.1f}  p50 {taken['p50']:6.1f}  "
              f"p95 {taken['p95']:6.1f} ms")  # fmt: skip


def build(home: Home, count: int) -> tuple[str, str]:
    """Fill a home that is not filled yet; return an event's id and a note's path."""
    marker = home.root / "note.txt"
    if marker.exists():
        return f"{0:032x}", marker.read_text(encoding="utf-8")
    home.create()
    paths = write_notes(home, count)
    event = fill_outbox(home, count)
    fill_metrics(home)
    with IndexWriter(home, Scope.WORK, None) as writer:
        writer.scan()
    marker.write_text(paths[count // 2], encoding="utf-8")
    return event, paths[count // 2]


if __name__ == "__main__":
    main()

"""How fast, and in how much memory, each source's export is read; and how one goes on when killed.

    python benchmarks/reading.py [--megabytes 100] [--only KIND …] [--kill] [--json]

Each export is generated once and kept in benchmarks/.cache. Each run is a fresh process that
parses only; what it yields is dropped. Speed is by processor time, the peak is that process's
resident set. `photos` is a Takeout nine tenths of which are pictures.

With --kill a process collects into an outbox as `ingest` does and is killed (SIGKILL) half-way; a
second one goes on. Then each message must be there once.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from fresh import environment, run_fresh
from generate_exports import CACHE, KINDS, export

Figures = dict[str, float]


@dataclass(frozen=True)
class Subject:
    """What is read: the connector's module, the files, their bytes when unpacked."""

    connector: str
    path: Path
    size: int
    messages: int
    """About how many, in all."""


def _session(megabytes: int) -> Path:
    from generate_transcripts import write_session

    path = CACHE / f"-home-aki-work-shop/parse-{megabytes}.jsonl"
    if not path.exists() or path.stat().st_size < megabytes * 1_000_000:
        print(f"generating {megabytes} MB of claude …", file=sys.stderr)
        write_session(path, megabytes * 1_000_000, seed=6)
    return path


def _space(megabytes: int) -> Path:
    from generate_confluence import generate

    path = CACHE / f"confluence-{megabytes}/entities.xml"
    if not path.exists() or path.stat().st_size < megabytes * 1_000_000:
        print(f"generating {megabytes} MB of confluence …", file=sys.stderr)
        generate(path, megabytes * 1_000_000)
    return path


FILES = {"claude": (_session, 40), "confluence": (_space, 130)}
"""Kinds that are one plain file, with about how many messages a megabyte holds."""


def subject(name: str, megabytes: int) -> Subject:
    """Return what there is to read of a kind, made on first use."""
    if name in FILES:
        make, messages = FILES[name]
        path = make(megabytes)
        return Subject(name, path, path.stat().st_size, messages * megabytes)
    import zipfile

    path, kind = export(name, megabytes), KINDS[name]
    with zipfile.ZipFile(path) as archive:
        size = sum(info.file_size for info in archive.infolist())
    return Subject(kind.connector, path, size, kind.messages * megabytes)


class Forgetful:
    """A ledger that knows nothing."""

    def checkpoint(self, key: str) -> Mapping[str, Any] | None:
        """Return nothing."""
        del key
        return None

    def seen(self, native_ids: Sequence[str]) -> set[str]:
        """Return nothing."""
        del native_ids
        return set()


def parse(what: Subject) -> Figures:
    """Read it to its end in this process."""
    from connectors.base import ReadOptions
    from context_engine.events import SourceDocument

    connector = import_module(f"connectors.{what.connector}").CONNECTOR
    started, busy = time.perf_counter(), time.process_time()
    documents = messages = characters = 0
    for item in connector.read([what.path], Forgetful(), ReadOptions()):
        if isinstance(item, SourceDocument):
            documents += 1
            messages += len(item.utterances)
            characters += sum(len(utterance.text) for utterance in item.utterances)
    busy = time.process_time() - busy
    return {
        "unpacked_mb": what.size / 1e6,
        "seconds": time.perf_counter() - started,
        "mb_per_cpu_second": what.size / 1e6 / busy,
        "peak_rss_mb": peak(),
        "documents": documents,
        "messages": messages,
        "characters": characters,
    }


def gather(what: Subject, outbox: Path) -> Figures:
    """Collect it into an outbox, secrets taken out, as `ingest` does."""
    from connectors.base import ReadOptions
    from workers.collector import collect
    from workers.outbox import Outbox

    connector = import_module(f"connectors.{what.connector}").CONNECTOR
    started = time.perf_counter()
    report = collect(connector, [what.path], Outbox(outbox), ReadOptions())
    return {
        "seconds": time.perf_counter() - started,
        "peak_rss_mb": peak(),
        "messages": report.messages,
        "refused": report.bad_count,
    }


def peak(pid: int | str = "self") -> float:
    """Return the highest resident set of a process so far, in MB."""
    status = Path(f"/proc/{pid}/status")
    if status.exists():
        lines = status.read_text(encoding="ascii", errors="replace").splitlines()
        return next(int(line.split()[1]) / 1e3 for line in lines if line.startswith("VmHWM:"))
    import resource

    unit = 1e6 if sys.platform == "darwin" else 1e3
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def kill_and_go_on(name: str, megabytes: int, what: Subject) -> Figures:
    """Kill a collecting process half-way, let another finish, and count what is there."""
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        outbox = Path(folder, "outbox.db")
        arguments = (__file__, "--only", name, "--megabytes", str(megabytes))
        command = [sys.executable, *arguments, "--collect", str(outbox)]
        first = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, env=environment(), cwd=Path(__file__).parents[1]
        )
        while first.poll() is None and stored(outbox)[0] < what.messages // 2:
            time.sleep(1.0)
        before, highest = stored(outbox), peak(first.pid) if first.poll() is None else 0.0
        first.kill()
        killed = first.wait() == -signal.SIGKILL
        second = run_fresh(*arguments, "--collect", str(outbox))
        messages, events = stored(outbox)
        return {
            "unpacked_mb": what.size / 1e6,
            "killed": killed,
            "messages_before_the_kill": before[0],
            "peak_rss_mb_killed": highest,
            "peak_rss_mb": second["peak_rss_mb"],
            "seconds_after_the_kill": second["seconds"],
            "messages_sent_after_the_kill": second["messages"],
            "messages": messages,
            "events": events,
            "refused": second["refused"],
        }


def stored(outbox: Path) -> tuple[int, int]:
    """Return how many messages and events an outbox holds."""
    if not outbox.exists():
        return 0, 0
    import apsw

    try:
        connection = apsw.Connection(str(outbox), flags=apsw.SQLITE_OPEN_READONLY)
        connection.set_busy_timeout(5_000)
        counts = "SELECT (SELECT count(*) FROM utterance), (SELECT count(*) FROM event)"
        ((messages, events),) = connection.execute(counts).fetchall()
    except apsw.Error:  # it is being made
        return 0, 0
    return int(str(messages)), int(str(events))


def measure(name: str, arguments: argparse.Namespace) -> Figures:
    """Return the figures of one kind."""
    what = subject(name, arguments.megabytes)
    if arguments.kill:
        return kill_and_go_on(name, arguments.megabytes, what)
    return run_fresh(__file__, "--only", name, "--megabytes", str(arguments.megabytes), "--parse")


def main() -> None:
    """Measure, and print a line a kind or JSON."""
    names = sorted([*KINDS, *FILES])
    parser = argparse.ArgumentParser()
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--only", choices=names, nargs="+", default=names)
    parser.add_argument("--kill", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--parse", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--collect", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.parse:
        print(json.dumps(parse(subject(arguments.only[0], arguments.megabytes))))
        return
    if arguments.collect:
        what = subject(arguments.only[0], arguments.megabytes)
        print(json.dumps(gather(what, arguments.collect)))
        return
    report = {name: measure(name, arguments) for name in arguments.only}
    if arguments.json:
        print(json.dumps(report))
        return
    for name, figures in report.items():
        shown = ", ".join(f"{key} {value:,.1f}" for key, value in figures.items())
        print(f"{name:<13} {shown}")


if __name__ == "__main__":
    main()

"""How long a hook keeps an assistant waiting: the whole process, from its start to its exit.

    python benchmarks/hook.py [--chunks N] [--calls N]

Beside a warm engine on a home of 10,000 chunks (benchmarks/query_self.py makes it), and without
one. `python` is an interpreter that does nothing, which is what no hook can be faster than.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import orjson
from corpus import Corpus
from metrics import percentiles
from query_self import MadeUpPassages, index_vault, write_folder, write_vault

from context_engine.home import Home
from context_engine.settings import EmbeddingSettings
from index.embedding.factory import make_embedder

COMMAND = (str(Path(sys.executable).parent / "context-engine"), "hook")
EVENTS = ("session-start", "user-prompt", "stop", "session-end", "pre-compact")
WARM_UP_CALLS = 5


def main() -> None:
    """Run and print."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(Path(folder), arguments.chunks, arguments.calls)
    print(orjson.dumps({"hook": figures}, option=orjson.OPT_INDENT_2).decode())


def measure(folder: Path, chunks: int, calls: int) -> dict[str, dict[str, float]]:
    """Build a home of so many chunks and return the figures of each event, ms."""
    home, work = Home(folder / "home"), folder / "p3"
    home.create()
    corpus = Corpus()
    write_vault(home, corpus, chunks)
    write_folder(work, corpus)
    index_vault(home, MadeUpPassages(make_embedder(EmbeddingSettings(), home.models, "")))
    inputs = _inputs(work, corpus.questions(calls + WARM_UP_CALLS))
    figures = {"python": _timed(home, (sys.executable, "-c", ""), inputs)}
    with _engine(home):
        for event in EVENTS:
            figures[f"{event}, engine running"] = _timed(home, (*COMMAND, event), inputs)
    for event in EVENTS:
        figures[f"{event}, no engine"] = _timed(home, (*COMMAND, event), inputs)
    return figures


def _inputs(work: Path, questions: Sequence[str]) -> list[bytes]:
    """Return what an assistant sends: ten prompts a session, some with a ticket's number."""
    return [
        json.dumps(
            {
                "session_id": f"00000000-0000-4000-8000-{number // 10:012d}",
                "transcript_path": f"/nowhere/{number // 10}.jsonl",
                "cwd": str(work),
                "prompt": f"{text} PAY-{1000 + number}" if number % 3 == 0 else text,
            }
        ).encode()
        for number, text in enumerate(questions)
    ]


def _timed(home: Home, command: Sequence[str], inputs: Sequence[bytes]) -> dict[str, float]:
    seconds, processor = [], []
    for given in inputs:
        started, used = time.perf_counter(), _used()
        subprocess.run(
            command, input=given, env=_environment(home), stdout=subprocess.DEVNULL, check=True
        )
        seconds.append(time.perf_counter() - started)
        processor.append(_used() - used)
    cpu = percentiles(processor[WARM_UP_CALLS:])
    return percentiles(seconds[WARM_UP_CALLS:]) | {f"cpu_{name}": cpu[name] for name in cpu}


def _used() -> float:
    """Return the processor time of the processes that ended so far, which other work leaves be."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


@contextlib.contextmanager
def _engine(home: Home) -> Iterator[None]:
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "api.http"], cwd=home.root, env=_environment(home)
    )
    try:
        deadline = time.monotonic() + 60
        while not (home.state / "hook.json").exists():
            if time.monotonic() > deadline or process.poll() is not None:
                raise SystemExit("the engine did not start")
            time.sleep(0.05)
        time.sleep(5)  # it loads its model beside the first requests
        yield
    finally:
        process.terminate()
        process.wait(timeout=30)


def _environment(home: Home) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return kept | {"CE_HOME": str(home.root), "CE_API__PORT": "0"}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--calls", type=int, default=200)
    return parser.parse_args()


if __name__ == "__main__":
    main()

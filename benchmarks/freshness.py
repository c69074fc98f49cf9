"""How soon a file saved into the vault is found: by keyword, and by meaning.

    python benchmarks/freshness.py [--files 100] [--megabytes 20] [--json]

Runs the real engine on a home of its own and saves notes one by one, as an editor does (write
beside, rename over): first while nothing else happens, then while transcripts are imported. A
note counts as found when the search that assistants use returns it, with a rank of the engine.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from generate_transcripts import write_sessions
from metrics import percentiles

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

POLL_SECONDS = 0.02
PATIENCE_SECONDS = 60.0
PAUSE_SECONDS = 0.3
NOTE = """---
title: 保存の記録 {token}
---
# 保存の記録 {token}

The nightly report of {token} was moved to Tuesday: 火曜の朝は倉庫が空いている。
"""


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=100)
    parser.add_argument("--megabytes", type=float, default=20, help="imported meanwhile")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"CE_HOME": str(Path(folder) / "home"), "CE_LLM__MODE": "cues"}
        settings = load_settings()
        settings.paths.create()
        sessions = Path(folder) / "projects"
        write_sessions(sessions, arguments.megabytes, 20)
        with engine(settings):
            measure(settings, 1, "first", lambda: False)  # the engine looks at all files once
            figures = {"idle": measure(settings, arguments.files, "idle", lambda: False)}
            with importing(settings, sessions) as busy:
                figures["importing"] = measure(settings, arguments.files, "busy", busy)
    if arguments.json:
        print(json.dumps(figures))
        return
    for phase, stages in figures.items():
        for stage, figure in stages.items():
            print(f"{phase:10} {stage:10} {figure}")


def measure(
    settings: Settings, files: int, name: str, busy: Callable[[], bool]
) -> dict[str, dict[str, float]]:
    """Save `files` notes, one after the other; return how long each engine took to name them."""
    embedder = make_embedder(settings.embedding, settings.paths.models, "")
    searcher = Searcher(settings.paths, embedder)
    seconds: dict[str, list[float]] = {"keyword": [], "vector": []}
    counted_busy = 0
    for number in range(files):
        token = f"fresh{name}{number:04d}"
        saved = save(settings.paths.vault(Scope.WORK) / "notes" / f"{token}.md", token)
        for stage, after in found_after(searcher, token, saved).items():
            seconds[stage].append(after)
        counted_busy += busy()
        time.sleep(PAUSE_SECONDS)
    figures = {stage: percentiles(values) for stage, values in seconds.items()}
    return figures | {"notes": {"saved": files, "while_importing": counted_busy}}


def save(path: Path, token: str) -> float:
    """Write a note as an editor does; return the moment at which it was there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".tmp")
    beside.write_text(NOTE.format(token=token), encoding="utf-8")
    beside.replace(path)
    return time.perf_counter()


def found_after(searcher: Searcher, token: str, saved: float) -> dict[str, float]:
    """Return the seconds from `saved` until each engine ranks the note."""
    found: dict[str, float] = {}
    while len(found) < len(("keyword", "vector")):
        if time.perf_counter() - saved > PATIENCE_SECONDS:
            raise TimeoutError(f"{token} was not found within {PATIENCE_SECONDS:.0f} s: {found}")
        hits = searcher.search(Scope.WORK, SearchRequest(f"nightly report {token}", 5)).hits
        after = time.perf_counter() - saved
        for hit in hits:
            if token in hit.path:
                if hit.bm25_rank is not None:
                    found.setdefault("keyword", after)
                if hit.vector_rank is not None:
                    found.setdefault("vector", after)
        time.sleep(POLL_SECONDS)
    return found


@contextmanager
def importing(settings: Settings, sessions: Path) -> Iterator[Callable[[], bool]]:
    """Import transcripts inside the block; yields whether there is still work to do."""
    outbox = Outbox(settings.paths.outbox)
    reading = threading.Thread(
        target=collect,
        args=(load("claude"), [sessions], outbox, ReadOptions(scope=Scope.WORK)),
    )
    reading.start()

    def busy() -> bool:
        waiting = sum(
            count
            for states in outbox_report.counts(Outbox(settings.paths.outbox)).values()
            for state, count in states.items()
            if state in ("pending", "queued", "running")
        )
        return reading.is_alive() or waiting > 0

    yield busy
    reading.join()


if __name__ == "__main__":
    main()

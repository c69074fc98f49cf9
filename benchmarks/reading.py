"""How fast, and in how much memory, the Claude Code connector reads one large session.

    python benchmarks/parse.py [--megabytes 1024] [--json]

The session is generated once and kept in benchmarks/.cache. Each run is a fresh process that
parses only; what it yields is dropped. The peak is that process's resident set.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fresh import run_fresh

CACHE = Path(__file__).parent / ".cache"


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


def parse(path: Path) -> dict[str, float]:
    """Read `path` to its end in this process."""
    from connectors.base import ReadOptions
    from connectors.claude import CONNECTOR
    from context_engine.events import SourceDocument

    started, characters, documents = time.perf_counter(), 0, 0
    for item in CONNECTOR.read([path], Forgetful(), ReadOptions()):
        if isinstance(item, SourceDocument):
            documents += 1
            characters += sum(len(utterance.text) for utterance in item.utterances)
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "seconds": seconds,
        "megabytes_per_second": path.stat().st_size / 1e6 / seconds,
        "peak_rss_mb": peak / (1e6 if sys.platform == "darwin" else 1e3),
        "documents": documents,
        "characters": characters,
    }


def _session(megabytes: int) -> Path:
    from generate_transcripts import write_session

    path = CACHE / f"-home-aki-work-shop/parse-{megabytes}.jsonl"
    if not path.exists() or path.stat().st_size < megabytes * 1_000_000:
        print(f"generating {megabytes} MB …", file=sys.stderr)
        write_session(path, megabytes * 1_000_000, seed=6)
    return path


def main() -> None:
    """Measure, and print a line or JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--megabytes", type=int, default=1024)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--only-parse", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.only_parse:
        print(json.dumps(parse(arguments.only_parse)))
        return
    path = _session(arguments.megabytes)
    runs = [run_fresh(__file__, "--only-parse", str(path)) for _ in range(arguments.runs)]
    report = {
        "file_mb": round(path.stat().st_size / 1e6, 1),
        "runs": arguments.runs,
        "megabytes_per_second": round(
            statistics.median(run["megabytes_per_second"] for run in runs), 1
        ),
        "peak_rss_mb": round(max(run["peak_rss_mb"] for run in runs), 1),
        "documents": runs[0]["documents"],
        "characters": runs[0]["characters"],
    }
    if arguments.json:
        print(json.dumps(report))
    else:
        print(
            f"{report['file_mb']} MB at {report['megabytes_per_second']} MB/s (median of"
            f" {report['runs']}), peak {report['peak_rss_mb']} MB"
        )


if __name__ == "__main__":
    main()

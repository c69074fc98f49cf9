"""What the engine costs while nothing happens: start, processor, memory.

    python benchmarks/idle.py [--seconds 60] [--notes 1000]

Starts `context-engine up` on a home of its own, waits until it says ready, lets it settle, then
measures all its processes: processor time over the span, and proportional set size (shared pages
counted once), or the resident size where a system does not tell.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

SETTLE_SECONDS = 20.0


def main() -> None:
    """Measure and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="Length of the measurement.")
    parser.add_argument("--notes", type=int, default=0, help="Notes in the vault.")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        _write_notes(home, arguments.notes)
        print(json.dumps(measure(home, arguments.seconds), indent=2))


def measure(home: Path, seconds: float) -> dict[str, object]:
    """Return the figures of an idle engine on `home`; seconds, percent of a core, megabytes."""
    starts = [_start_and_stop(home) for _ in range(3)]
    process, _ = _start(home)
    try:
        _wait_ready(home, process)
        time.sleep(SETTLE_SECONDS)
        processes = _processes(process.pid)
        before = {p.pid: _cpu(p) for p in processes}
        time.sleep(seconds)
        used = {_name(p): round(100 * (_cpu(p) - before[p.pid]) / seconds, 2) for p in processes}
        memory = {_name(p): round(_memory(p) / 1e6, 1) for p in processes}
    finally:
        _stop(process)
    return {
        "up_to_ready_seconds": round(statistics.median(wall for wall, _ in starts), 2),
        "up_to_ready_cpu_seconds": round(statistics.median(cpu for _, cpu in starts), 2),
        "idle_cpu_percent_of_a_core": round(sum(used.values()), 2),
        "memory_mb": round(sum(memory.values()), 1),
        "cpu_by_process": used,
        "memory_by_process": memory,
        "measured_seconds": seconds,
        "load_of_the_machine": os.getloadavg()[0],
    }


def _start_and_stop(home: Path) -> tuple[float, float]:
    """Return the wall time until it is ready, and the processor time of all processes so far."""
    process, begun = _start(home)
    _wait_ready(home, process)
    ready = time.monotonic() - begun
    used = sum(_cpu(each) for each in _processes(process.pid))
    _stop(process)
    return ready, used


def _start(home: Path) -> tuple[subprocess.Popen[bytes], float]:
    home.mkdir(parents=True, exist_ok=True)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("CE_")}
    environment |= {"CE_HOME": str(home), "CE_API__PORT": "0"}
    command = [str(Path(sys.executable).parent / "context-engine"), "up"]
    begun = time.monotonic()
    with (home / "up.err").open("wb") as said:
        return subprocess.Popen(command, env=environment, stderr=said), begun


def _wait_ready(home: Path, process: subprocess.Popen[bytes]) -> None:
    while "ready; Ctrl-C" not in (home / "up.err").read_text(encoding="utf-8"):
        if process.poll() is not None:
            sys.exit((home / "up.err").read_text(encoding="utf-8"))
        time.sleep(0.02)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    process.wait(timeout=60)


def _processes(root: int) -> list[psutil.Process]:
    parent = psutil.Process(root)
    return [parent, *parent.children(recursive=True)]


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _memory(process: psutil.Process) -> float:
    info = process.memory_full_info()
    return float(getattr(info, "pss", info.rss))


def _name(process: psutil.Process) -> str:
    words = [word for word in process.cmdline()[1:] if not word.startswith("-")]
    return " ".join(Path(word).name for word in words[:2])


def _write_notes(home: Path, count: int) -> None:
    for number in range(count):
        note = home / "vault/personal/knowledge/learning" / f"2026-11-02-note-{number:06d}.md"
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(f"# Note {number}\n\nキャッシュ {number} learned.\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""Converting the weights: once, by several processes at a time, and through a kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from index.embedding.conversion import ensure_converted

CONVERT = """
import sys
from pathlib import Path
from index.embedding.conversion import ensure_converted
print(ensure_converted(Path(sys.argv[1])).folder)
"""


def start(models: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", CONVERT, str(models)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def visible(models: Path) -> list[str]:
    return sorted(path.name for path in models.iterdir() if not path.name.startswith("."))


def left_over(models: Path) -> list[Path]:
    return list(models.glob(".converting-*"))


def test_two_processes_at_once_make_one_model(tmp_path: Path) -> None:
    first, second = start(tmp_path), start(tmp_path)
    answers = [process.communicate(timeout=60)[0] for process in (first, second)]
    assert first.returncode == second.returncode == 0
    assert len({answer.splitlines()[-1] for answer in answers}) == 1
    assert sum("converted embedding model" in answer for answer in answers) == 1
    assert len(visible(tmp_path)) == 1
    assert left_over(tmp_path) == []


def test_kill_in_the_middle_leaves_nothing_that_counts(tmp_path: Path) -> None:
    process = start(tmp_path)
    deadline = time.monotonic() + 30
    while not left_over(tmp_path):
        assert time.monotonic() < deadline, "the conversion did not start"
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert visible(tmp_path) == []
    converted = ensure_converted(tmp_path)
    assert converted.graph.is_file()
    assert visible(tmp_path) == [converted.folder.name]
    assert left_over(tmp_path) == []


def test_model_is_readable_by_its_owner_alone(models: Path) -> None:
    folder = ensure_converted(models).folder
    assert folder.stat().st_mode & 0o077 == 0


def test_converted_model_is_small(models: Path) -> None:
    folder = ensure_converted(models).folder
    assert sum(path.stat().st_size for path in folder.iterdir()) < 40_000_000

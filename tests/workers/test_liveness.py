"""Who is alive: the kernel says so, not a file's age."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from workers.liveness import WorkerLease, is_alive, sweep, try_lock

HOLD = """
import sys
from pathlib import Path
from workers.liveness import WorkerLease
lease = WorkerLease(Path(sys.argv[1]), "worker")
print(lease.worker_id, flush=True)
sys.stdin.read()
"""


def test_a_worker_is_alive_until_it_is_killed(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", HOLD, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    worker = process.stdout.readline().strip()
    assert is_alive(tmp_path, worker)
    assert sweep(tmp_path) == []
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not is_alive(tmp_path, worker)
    assert sweep(tmp_path) == [worker]
    assert sweep(tmp_path) == []


def test_a_worker_that_says_goodbye_is_not_taken_for_a_dead_one(tmp_path: Path) -> None:
    WorkerLease(tmp_path, "worker").release()
    assert sweep(tmp_path) == []


def test_a_lock_is_held_by_one_until_it_is_let_go(tmp_path: Path) -> None:
    held = try_lock(tmp_path / "a.lock")
    assert held is not None
    assert try_lock(tmp_path / "a.lock") is None
    held.close()
    again = try_lock(tmp_path / "a.lock")
    assert again is not None
    again.close()

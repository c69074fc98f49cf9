"""Who is alive: each worker process holds a file lock that the kernel drops when it dies."""

from __future__ import annotations

import contextlib
import fcntl
import os
import uuid
from pathlib import Path
from typing import IO


class WorkerLease:
    """Identity of this worker process, alive as long as the process is."""

    def __init__(self, folder: Path, role: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.worker_id = f"{role}-{uuid.uuid4().hex[:12]}"
        self._path = folder / f"{self.worker_id}.lock"
        # locked before it can be seen: a sweep would take an unlocked file for a dead worker's
        unseen = self._path.with_suffix(".starting")
        self._file: IO[str] = unseen.open("w", encoding="ascii")
        fcntl.flock(self._file, fcntl.LOCK_EX)
        self._file.write(str(os.getpid()))
        self._file.flush()
        unseen.rename(self._path)

    def release(self) -> None:
        """Say goodbye."""
        self._path.unlink(missing_ok=True)
        self._file.close()


def is_alive(folder: Path, worker_id: str) -> bool:
    """Return whether the process behind `worker_id` still holds its lock."""
    path = folder / f"{worker_id}.lock"
    try:
        with path.open("r+", encoding="ascii") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def sweep(folder: Path) -> list[str]:
    """Return the workers that died without a goodbye, and remove their files."""
    dead = []
    for path in sorted(folder.glob("*.lock")):
        if not is_alive(folder, path.stem):
            dead.append(path.stem)
            with contextlib.suppress(FileNotFoundError):
                path.unlink()
    return dead


def try_lock(path: Path) -> IO[str] | None:
    """Return an open file that holds the lock at `path`, None when somebody else has it.

    The lock lives as long as the file is open.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.open("a+", encoding="utf-8")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    return file

"""Locks between our own processes and threads, so that two workers can merge into one note."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from context_engine.errors import DeadlineExceededError
from context_engine.home import Home
from context_engine.ids import digest
from context_engine.scopes import Scope

LOCK_SECONDS = 60.0
"""A holder works for milliseconds; who waits this long waits for something that hangs."""


@contextmanager
def note_lock(
    home: Home, scope: Scope, key: str, *, seconds: float = LOCK_SECONDS
) -> Iterator[None]:
    """Hold the lock of `key` (a note, or what decides which note it is).

    Keys share 256 lock files: never take a second lock inside. The lock goes with the process.

    Raises DeadlineExceededError when it is not free within `seconds`.
    """
    home.locks.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = _acquire(home.locks / f"note-{digest(scope, key)[:2]}.lock", key, seconds)
    try:
        yield
    finally:
        os.close(handle)


def _acquire(path: Path, key: str, seconds: float) -> int:
    deadline = time.monotonic() + seconds
    pause = 0.0005
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if _locked(handle) and _still_there(handle, path):
            return handle
        os.close(handle)
        if time.monotonic() > deadline:
            raise DeadlineExceededError(f"waiting for the lock of {key}", seconds)
        time.sleep(pause)
        pause = min(pause * 1.5, 0.02)


def _locked(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _still_there(handle: int, path: Path) -> bool:
    """Tell whether the file locked is the one others will open: state/ may have been deleted."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False

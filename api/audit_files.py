"""The files of the audit log: the one being written, and older ones, numbered by age.

A writer opens, appends and closes, without a lock. One that opened the file just before it was
renamed writes into the renamed one, which is kept for many rotations more: no line is lost.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


def rotate(path: Path, max_bytes: int, keep: int) -> bool:
    """Rename the log when it has reached `max_bytes`, dropping the oldest of `keep` older ones.

    Returns whether it did. Does nothing while somebody else rotates or reads. Killed at any point
    it leaves a gap in the numbers, which the next rotation fills. Raises OSError.
    """
    with _locked(path, fcntl.LOCK_EX | fcntl.LOCK_NB) as held:
        # another process may have done it since the caller looked
        if not held or os.lstat(path).st_size < max_bytes:
            return False
        taken = [number for number in range(1, keep + 1) if _older(path, number).exists()]
        free = next((n for n in range(1, keep + 1) if n not in taken), keep)
        for number in range(free, 1, -1):
            _older(path, number - 1).replace(_older(path, number))
        path.replace(_older(path, 1))
        return True


@contextmanager
def opened(path: Path, keep: int) -> Iterator[tuple[BinaryIO, ...]]:
    """Give all files of the log, the oldest first, as they stand at one moment."""
    with ExitStack() as stack:
        with _locked(path, fcntl.LOCK_SH):
            places = [*(_older(path, number) for number in range(keep, 0, -1)), path]
            files: list[BinaryIO] = []
            for place in places:
                with suppress(FileNotFoundError):
                    files.append(stack.enter_context(place.open("rb")))
        yield tuple(files)


def _older(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.{number}")


@contextmanager
def _locked(path: Path, how: int) -> Iterator[bool]:
    """Hold the log's lock; False when `how` does not wait and another has it."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path.with_name(f"{path.name}.lock"), flags, 0o600)
    try:
        try:
            fcntl.flock(descriptor, how)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)

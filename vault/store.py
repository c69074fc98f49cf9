"""Files of a vault: read through no link, written atomically and only over what was seen.

A write is: temporary file in the same folder → fsync → compare with the bytes last seen → rename →
fsync of the folder. Between the comparison and the rename lie microseconds, the only moment at
which an editor's save could go under; our own writers are kept apart by `vault.locks`.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import secrets
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from context_engine.errors import BadInputError, NoteConflictError, NotFoundError, UnsafePathError
from context_engine.home import Home
from context_engine.scopes import Scope
from vault.paths import open_folder, split_relative, sync_folder, vault_root

MAX_NOTE_BYTES = 16_000_000
"""Larger files in a vault are no notes; they are reported and left alone."""

_TEMPORARY = ".ce-tmp-"
_LEFTOVER_SECONDS = 10.0
_CONFLICT_RETRIES = 8

_T = TypeVar("_T")


@dataclass(frozen=True)
class Snapshot:
    """A file as it was read: what a later write compares with."""

    data: bytes
    mtime_ns: int

    @property
    def digest(self) -> str:
        """SHA-256 of the bytes, hex."""
        return hashlib.sha256(self.data).hexdigest()


def read(root: Path, relative: str) -> Snapshot:
    """Return the file's bytes.

    Raises NotFoundError, UnsafePathError (a link, hard-linked, no regular file, a path that leaves
    the vault), BadInputError (larger than MAX_NOTE_BYTES).
    """
    *folders, name = split_relative(relative)
    try:
        with open_folder(root, folders) as folder:
            return _read_in(folder, name, relative)
    except FileNotFoundError as error:
        raise NotFoundError(f"{relative} does not exist") from error


def read_or_none(root: Path, relative: str) -> Snapshot | None:
    """Return the file's bytes, None when there is no such file. Raises like `read`."""
    try:
        return read(root, relative)
    except NotFoundError:
        return None


def write(root: Path, relative: str, data: bytes, expected: Snapshot | None) -> None:
    """Write `data` durably where `expected` was read; None means that no file may be there.

    Raises NoteConflictError when the file is another by now, UnsafePathError like `read`.
    """
    *folders, name = split_relative(relative)
    with open_folder(root, folders, create=True) as folder:
        with _temporary(folder, data, _mode_of(folder, name)) as temporary:
            _compare(folder, name, relative, expected)
            os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        sync_folder(folder)


def remove(root: Path, relative: str, expected: Snapshot) -> None:
    """Delete the file that `expected` was read from.

    Raises NoteConflictError when the file is another by now.
    """
    *folders, name = split_relative(relative)
    with open_folder(root, folders) as folder:
        _compare(folder, name, relative, expected)
        os.unlink(name, dir_fd=folder)
        sync_folder(folder)


def rewrite(
    root: Path, relative: str, change: Callable[[Snapshot | None], tuple[bytes | None, _T]]
) -> _T:
    """Read, change, write, and begin again when a person saved in between.

    `change` takes the file as it is (None: there is none) and gives the new bytes (None: leave it)
    with whatever the caller wants back.

    Raises NoteConflictError when the file keeps changing.
    """
    for _ in range(_CONFLICT_RETRIES):
        seen = read_or_none(root, relative)
        data, result = change(seen)
        if data is None or (seen is not None and seen.data == data):
            return result
        with suppress(NoteConflictError):
            write(root, relative, data, seen)
            return result
    raise NoteConflictError(relative)


def clean_leftovers(home: Home, *, min_age_seconds: float = _LEFTOVER_SECONDS) -> int:
    """Delete temporary files of writers that died; return how many.

    A living writer holds its file's lock; the age spares one that is about to take it.
    """
    count = 0
    for scope in Scope:
        for folder, _, names in os.walk(vault_root(home, scope)):
            stale = (Path(folder, name) for name in names if name.startswith(_TEMPORARY))
            count += sum(_remove_if_dead(path, min_age_seconds) for path in stale)
    return count


def _read_in(folder: int, name: str, shown: str) -> Snapshot:
    try:
        # O_NONBLOCK: a FIFO must not hold us up before we can refuse it
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        handle = os.open(name, flags, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK):
            raise UnsafePathError(shown, "is a symbolic link") from error
        if error.errno in (errno.ENXIO, errno.ENAMETOOLONG):
            raise UnsafePathError(shown, "is no regular file") from error
        raise
    try:
        info = os.fstat(handle)
        _check_regular(info, shown)
        if info.st_size > MAX_NOTE_BYTES:
            raise BadInputError(shown, f"has {info.st_size} bytes; at most {MAX_NOTE_BYTES}")
        with os.fdopen(handle, "rb", closefd=False) as file:
            return Snapshot(file.read(MAX_NOTE_BYTES + 1), info.st_mtime_ns)
    finally:
        os.close(handle)


def _check_regular(info: os.stat_result, shown: str) -> None:
    if not stat.S_ISREG(info.st_mode):
        raise UnsafePathError(shown, "is no regular file")
    if info.st_nlink > 1:
        raise UnsafePathError(shown, "has a second (hard) link; copy the file instead")


def _compare(folder: int, name: str, shown: str, expected: Snapshot | None) -> None:
    try:
        present: Snapshot | None = _read_in(folder, name, shown)
    except FileNotFoundError:
        present = None
    if (present.data if present else None) != (expected.data if expected else None):
        raise NoteConflictError(shown)


def _mode_of(folder: int, name: str) -> int:
    try:
        return stat.S_IMODE(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return 0o600


@contextmanager
def _temporary(folder: int, data: bytes, mode: int) -> Iterator[str]:
    name = f"{_TEMPORARY}{secrets.token_hex(8)}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(name, flags, 0o600, dir_fd=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            fcntl.flock(handle, fcntl.LOCK_EX)
            file.write(data)
            file.flush()
            os.fchmod(handle, mode)
            os.fsync(handle)
            yield name
    finally:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)


def _remove_if_dead(path: Path, min_age_seconds: float) -> bool:
    try:
        if time.time() - path.lstat().st_mtime < min_age_seconds:
            return False
        handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.unlink()
    except OSError:
        return False
    finally:
        os.close(handle)
    return True

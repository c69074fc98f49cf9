"""Finding the files of a source: a walk that cannot be led astray."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from connectors.text import show_path
from context_engine.errors import UsageError
from context_engine.events import BadRecord, UnknownRecord


@dataclass(frozen=True, slots=True)
class Found:
    """A regular file, as it was when the walk passed."""

    path: Path
    inode: int
    size: int
    mtime_ns: int


def _found(path: Path, status: os.stat_result) -> Found:
    return Found(path, status.st_ino, status.st_size, status.st_mtime_ns)


def find_files(path: Path) -> Iterator[Found | BadRecord | UnknownRecord]:
    """Yield the regular files at or below `path`, by name, and what was passed over and why.

    Links, devices and pipes are not opened (a pipe would block for ever, a link may lead out of
    the source or in a circle), and hidden folders are not entered. Only `path` itself may be a
    link.
    """
    try:
        status = path.stat()
    except (OSError, ValueError) as error:
        yield BadRecord(show_path(path), reason_of(error))
        return
    if stat.S_ISDIR(status.st_mode):
        yield from _below(path)
    elif stat.S_ISREG(status.st_mode):
        yield _found(path, status)
    else:
        yield BadRecord(show_path(path), "neither a file nor a folder")


def _below(folder: Path) -> Iterator[Found | BadRecord | UnknownRecord]:
    pending = [folder]
    while pending:
        current = pending.pop()
        try:
            with os.scandir(current) as scan:
                entries = sorted(scan, key=lambda entry: entry.name)
        except OSError as error:
            yield BadRecord(show_path(current), reason_of(error))
            continue
        folders = []
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.name.startswith("."):
                    yield UnknownRecord(show_path(entry.path), "hidden folder")
                else:
                    folders.append(Path(entry.path))
            else:
                yield _file(entry)
        pending += reversed(folders)


def _file(entry: os.DirEntry[str]) -> Found | BadRecord:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError as error:
        return BadRecord(show_path(entry.path), reason_of(error))
    if stat.S_ISLNK(status.st_mode):
        return BadRecord(
            show_path(entry.path), "a link: name its target as a path of its own to read it"
        )
    if not stat.S_ISREG(status.st_mode):
        return BadRecord(show_path(entry.path), "neither a file nor a folder")
    return _found(Path(entry.path), status)


def reason_of(error: OSError | ValueError) -> str:
    """Return in words why a file could not be read."""
    if isinstance(error, FileNotFoundError):
        return "does not exist"
    if isinstance(error, PermissionError):
        return "may not be read: permission denied"
    return getattr(error, "strerror", None) or str(error)


def existing_roots(paths: Sequence[Path], hint: str) -> list[Path]:
    """Return `paths` with `~` expanded; raise UsageError with `hint` when none of them exists."""
    roots = [path.expanduser() for path in paths]
    if not any(root.exists() for root in roots):
        raise UsageError(hint)
    return roots

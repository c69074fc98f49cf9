"""What the folder somebody works in tells about their task: commits and files of the last days.

Read as plain bytes and names, never by running git: a repository's own configuration names programs
that git would start. Only what is asked of the memory is made of it; none of it is answered.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

_MAX_PARENTS = 12
_TAIL_BYTES = 16_384
_MAX_POINTER = 4_096
_SUBJECTS = 5
_MAX_SUBJECT = 60
# <old> <new> <name> <address> <seconds> <zone>\tcommit: <subject>
_COMMIT = re.compile(r"\t(?:commit|cherry-pick|revert)(?: \([a-z]+\))?: (.+)$")

_FILES = 5
_MAX_DEPTH = 3
_MAX_ENTRIES = 1_000
_SCAN_SECONDS = 0.015
_DAYS = 7
_AT_ONCE_SECONDS = 5.0
_AT_ONCE_FILES = 20
"""So many files of one moment were written by a checkout, not edited."""
_GENERATED = frozenset(
    {"node_modules", "__pycache__", "venv", "dist", "build", "target", "vendor", "coverage"}
)
_NO_SOURCE = frozenset({"pyc", "log", "lock", "tmp", "swp", "bak", "db", "sqlite"})


@dataclass(frozen=True)
class Surroundings:
    """Newest first."""

    commits: tuple[str, ...]
    """Subjects."""
    files: tuple[str, ...]
    """Names without folder and suffix."""

    def words(self, limit: int) -> str:
        """Return as much as fits into `limit` characters, commits and files in turn."""
        kept: list[str] = []
        length = max(len(self.commits), len(self.files))
        for at in range(length):
            for part in (self.commits[at : at + 1], self.files[at : at + 1]):
                text = "".join(part)
                if text and len(text) + 1 <= limit:
                    kept.append(text)
                    limit -= len(text) + 1
        return " ".join(kept)


def surroundings(cwd: str, now: datetime) -> Surroundings:
    """Return what `cwd` tells, within some milliseconds; a folder that is not here tells nothing.

    Never raises for what the file system says.
    """
    if not cwd.startswith("/") or "\0" in cwd:
        return Surroundings((), ())
    folder = Path(cwd)
    return Surroundings(_commits(folder), _edited(folder, now))


def _commits(folder: Path) -> tuple[str, ...]:
    git = _git_folder(folder)
    if git is None:
        return ()
    lines = _tail(git / "logs" / "HEAD").decode("utf-8", "replace").split("\n")
    found = (_COMMIT.search(line) for line in reversed(lines))
    subjects = (match[1].strip()[:_MAX_SUBJECT] for match in found if match)
    return tuple(dict.fromkeys(subjects))[:_SUBJECTS]


def _git_folder(folder: Path) -> Path | None:
    for parent in (folder, *list(folder.parents)[:_MAX_PARENTS]):
        place = parent / ".git"
        with suppress(OSError):
            mode = place.lstat().st_mode
            if stat.S_ISDIR(mode):
                return place
            if stat.S_ISREG(mode):
                # a worktree or a submodule: `gitdir: <path>`
                text = _tail(place, _MAX_POINTER).decode("utf-8", "replace")
                target = text.removeprefix("gitdir:").strip()
                return parent / target if target and "\0" not in target else None
    return None


def _tail(path: Path, size: int = _TAIL_BYTES) -> bytes:
    """Return the end of a regular file, b"" when there is none; neither link nor pipe is opened."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        info = os.fstat(handle)
        if not stat.S_ISREG(info.st_mode):
            return b""
        return os.pread(handle, size, max(0, info.st_size - size))
    except OSError:
        return b""
    finally:
        os.close(handle)


def _edited(folder: Path, now: datetime) -> tuple[str, ...]:
    since = now.timestamp() - _DAYS * 86_400
    found = sorted(_files(folder, since), reverse=True)
    newest = found[0][0] if found else 0.0
    if sum(1 for when, _ in found if newest - when < _AT_ONCE_SECONDS) > _AT_ONCE_FILES:
        return ()
    return tuple(dict.fromkeys(name.rpartition(".")[0] or name for _, name in found))[:_FILES]


def _files(folder: Path, since: float) -> Iterator[tuple[float, str]]:
    """Yield (modification time, name) of the files below `folder`, upper folders first."""
    deadline = time.monotonic() + _SCAN_SECONDS
    waiting = [(str(folder), 1)]
    left = _MAX_ENTRIES
    for place, depth in waiting:
        for entry in _entries(place):
            left -= 1
            if left < 0 or time.monotonic() > deadline:
                return
            if _is_folder(entry):
                if depth < _MAX_DEPTH:
                    waiting.append((entry.path, depth + 1))
            elif (when := _modified(entry)) >= since:
                yield when, entry.name


def _entries(place: str) -> Iterator[os.DirEntry[str]]:
    with suppress(OSError), os.scandir(place) as entries:
        for entry in entries:
            if not entry.name.startswith(".") and entry.name not in _GENERATED:
                yield entry


def _is_folder(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False)


def _modified(entry: os.DirEntry[str]) -> float:
    """Return when a source file was changed; 0.0 for what is none."""
    if entry.name.rpartition(".")[2] in _NO_SOURCE:
        return 0.0
    try:
        info = entry.stat(follow_symlinks=False)
    except OSError:
        return 0.0
    return info.st_mtime if stat.S_ISREG(info.st_mode) else 0.0

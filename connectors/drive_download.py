"""Fetching files of a Drive: piece by piece, going on where an earlier run was cut off."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from connectors.base import Progress
from connectors.drive_api import Drive, Part
from context_engine.errors import AlreadyRunningError, BadInputError, ContextEngineError
from context_engine.ids import short_id

SPARE = 512 << 20
"""Bytes of the disk that are left alone."""

_READ = 1 << 20
_LOCK = ".lock"


@contextmanager
def own(folder: Path) -> Iterator[None]:
    """Keep a folder of downloads to one process.

    Raises AlreadyRunningError when another one has it.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (folder / _LOCK).open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise AlreadyRunningError(
                "another run reads Google Drive; let it end, then run the command again"
            ) from error
        yield


def place_of(folder: Path, part: Part) -> Path:
    """Return where a part is downloaded to: another version of it lies elsewhere."""
    return folder / short_id("download", part.id, part.md5) / part.name


def tidy(folder: Path, wanted: Sequence[Part]) -> None:
    """Remove what earlier runs left of files that are not wanted any more."""
    kept = {place_of(folder, part).parent.name for part in wanted} | {_LOCK}
    for entry in folder.iterdir():
        if entry.name not in kept and entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)


def discard(folder: Path, part: Part) -> None:
    """Remove the download of a part."""
    shutil.rmtree(place_of(folder, part).parent, ignore_errors=True)


def check_space(folder: Path, parts: Sequence[Part]) -> None:
    """Raise ContextEngineError when the disk cannot hold what is still to be downloaded."""
    missing = sum(part.size - min(part.size, _held(place_of(folder, part))) for part in parts)
    free = shutil.disk_usage(folder).free
    if missing + SPARE > free:
        raise ContextEngineError(
            f"{parts[0].export.rpartition('/')[2]} needs {_gib(missing + SPARE)} on the disk of "
            f"{folder}, which has {_gib(free)}; make room, or export fewer products"
        )


def fetch(drive: Drive, part: Part, folder: Path, progress: Progress) -> Path | BadInputError:
    """Download `part` and return where it lies, or why it cannot be had.

    progress: called with the bytes of what is there already, and of each piece.
    Raises ContextEngineError when it cannot be written.
    """
    path = place_of(folder, part)
    try:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        for _ in range(2):
            if _download(drive, part, path, progress) == part.md5:
                return path
            # damaged on the way or on the disk: once more from its beginning
            path.unlink()
    except BadInputError as error:
        return error
    except OSError as error:
        raise ContextEngineError(
            f"{path} cannot be written ({error.strerror}); what arrived is kept, run again later"
        ) from error
    return BadInputError(part.name, "what arrived is not what Google Drive holds (MD5)")


def _download(drive: Drive, part: Part, path: Path, progress: Progress) -> str:
    """Add to `path` what is missing of `part`; return the MD5 of the whole."""
    hasher, place = hashlib.md5(usedforsecurity=False), f"{part.name} from Google Drive"
    if _held(path) > part.size:
        path.unlink()
    with path.open("ab+") as file:
        file.seek(0)
        while data := file.read(_READ):
            hasher.update(data)
        position = file.tell()
        progress(position, part.size, place)
        while position < part.size:
            data = drive.piece(part, position)
            file.write(data)
            hasher.update(data)
            position += len(data)
            progress(len(data), part.size, place)
        file.flush()
        os.fsync(file.fileno())
    return hasher.hexdigest()


def _held(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _gib(size: int) -> str:
    return f"{size / (1 << 30):.1f} GiB"

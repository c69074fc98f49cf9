"""Backup of a home: one archive, consistent while the engine runs, proved by a test restore.

What can be rebuilt (index, models, broker, logs) is left out. The outbox is copied before the
vault: a job that its copy calls unfinished is done again after a restore, which changes nothing;
the other way round a note could be missing that it calls written.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

import apsw

from context_engine import __version__, home_id
from context_engine.clock import Clock, SystemClock, isoformat
from context_engine.errors import BadInputError, ContextEngineError, UsageError
from context_engine.home import Home, make_private
from context_engine.settings import Settings
from context_engine.sqlite import connect

MANIFEST = "manifest.json"
KEPT = 7
"""Archives a routine keeps."""

_LEFT_OUT = frozenset({"index", "models", "broker", "downloads", "logs", "locks", "workers"})
"""Folders of `state` that are rebuilt or belong to running processes."""
_PASSING = (".lock", ".tmp", ".sock", "-wal", "-shm", ".ready", ".probe", ".damaged")
_RUNNING = frozenset({"supervisor.json", "api.json"})
_DATABASES = (".db", ".sqlite")
_CHUNK = 1 << 20
_MANIFEST_LIMIT = 256 << 20


@dataclass(frozen=True)
class BackupReport:
    """What an archive holds."""

    archive: Path
    files: int
    bytes: int
    notes: int
    keys: bool
    """Whether the keys are in it: who has the archive can then seal as this home does."""

    def as_json(self) -> dict[str, Any]:
        """Return the report as it is printed."""
        return {
            "archive": str(self.archive),
            "files": self.files,
            "bytes": self.bytes,
            "notes": self.notes,
            "keys": self.keys,
        }


def backups_folder(home: Home) -> Path:
    """Return where archives go when nobody names a place."""
    return home.root / "backups"


def back_up(home: Home, folder: Path | None = None, *, clock: Clock | None = None) -> BackupReport:
    """Write an archive into `folder` and prove it by a test restore.

    The engine may run. Raises ContextEngineError when the archive does not hold what it should.
    """
    now = (clock or SystemClock()).now()
    folder = folder or backups_folder(home)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    archive = folder / f"context-engine-{now:%Y%m%dT%H%M%SZ}.tar.gz"
    partial = archive.with_suffix(".part")
    try:
        with _private(partial) as file, tempfile.TemporaryDirectory(dir=folder) as scratch:
            _write(home, file, Path(scratch), isoformat(now))
        report = verify(partial)
        partial.replace(archive)
    finally:
        partial.unlink(missing_ok=True)
    return BackupReport(archive, report.files, report.bytes, report.notes, report.keys)


def scheduled_backup(settings: Settings, paths: Sequence[str]) -> Mapping[str, Any]:
    """Back up for a routine, into its first path if it names one, and drop the oldest."""
    folder = Path(paths[0]).expanduser() if paths else backups_folder(settings.paths)
    report = back_up(settings.paths, folder)
    for old in sorted(folder.glob("context-engine-*.tar.gz"))[:-KEPT]:
        old.unlink()
    return report.as_json()


def verify(archive: Path) -> BackupReport:
    """Restore into a temporary folder beside the archive and look whether all is there and whole.

    Raises BadInputError when it is not.
    """
    with tempfile.TemporaryDirectory(dir=archive.parent, prefix=".verify-") as scratch:
        return _extract(archive, Path(scratch) / "home")


def restore(archive: Path, root: Path) -> BackupReport:
    """Make `root`, which is empty or absent, the home that was backed up.

    It appears whole or not at all. Raises UsageError, BadInputError.
    """
    if root.exists() and any(root.iterdir()):
        raise UsageError(f"{root} is not empty; name a new folder, or move that one away first")
    root.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=root.parent, prefix=".restore-") as scratch:
        report = _extract(archive, Path(scratch) / "home")
        if root.exists():
            root.rmdir()
        (Path(scratch) / "home").replace(root)
    Home(root).create()
    return report


# -- writing -----------------------------------------------------------------------------------


def _private(path: Path) -> IO[bytes]:
    path.unlink(missing_ok=True)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def _write(home: Home, file: IO[bytes], scratch: Path, created: str) -> None:
    entries: dict[str, dict[str, Any]] = {}
    with tarfile.open(fileobj=file, mode="w:gz", format=tarfile.PAX_FORMAT, compresslevel=6) as tar:
        for path in _snapshots(home, scratch):
            _add(tar, path, f"state/{path.name}", entries)
        for path in _files(home):
            _add(tar, path, path.relative_to(home.root).as_posix(), entries)
        manifest = json.dumps(
            {"version": __version__, "created": created, "files": entries}, ensure_ascii=False
        ).encode()
        info = tarfile.TarInfo(MANIFEST)
        info.size, info.mode = len(manifest), 0o600
        tar.addfile(info, io.BytesIO(manifest))
    file.flush()
    os.fsync(file.fileno())


def _snapshots(home: Home, scratch: Path) -> Iterator[Path]:
    """Copy each database of `state` as it is at one moment, the outbox first."""
    found = [p for p in home.state.iterdir() if p.suffix in _DATABASES and p.is_file()]
    for path in sorted(found, key=lambda p: (p != home.outbox, p.name)):
        copy = scratch / path.name
        source, target = connect(path, readonly=True), apsw.Connection(str(copy))
        with target.backup("main", source, "main") as copying:
            copying.step()
        target.close()
        source.close()
        yield copy
        copy.unlink()


def _files(home: Home) -> Iterator[Path]:
    backups = backups_folder(home)
    for folder, names, files in os.walk(home.root):
        here = Path(folder)
        names[:] = sorted(
            name
            for name in names
            if here / name != backups
            and not (here == home.state and name in _LEFT_OUT)
            and not (here / name).is_symlink()
        )
        for name in sorted(files):
            path = here / name
            if not _passes(home, path) and path.is_file() and not path.is_symlink():
                yield path


def _passes(home: Home, path: Path) -> bool:
    if home.state not in path.parents:
        # a restored home is another one to a Redis that both use
        return path == home.root / home_id.NAME
    return (
        path.name.endswith(_PASSING)
        or path.name in _RUNNING
        or (path.parent == home.state and path.suffix in _DATABASES)
    )


def _add(tar: tarfile.TarFile, path: Path, name: str, entries: dict[str, dict[str, Any]]) -> None:
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return  # renamed meanwhile: its new name comes later, or with the next backup
    with file:
        info = tarfile.TarInfo(name)
        state = os.fstat(file.fileno())
        info.size, info.mtime, info.mode = state.st_size, state.st_mtime, state.st_mode & 0o700
        reader = _Hashing(file, info.size)
        tar.addfile(info, reader)
    entries[name] = {"size": info.size, "sha256": reader.digest.hexdigest()}


class _Hashing:
    """Reads exactly `size` bytes, whatever the file does meanwhile: a log may grow or shrink."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        self._file = file
        self._left = size
        self.digest = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes, zeros where the file has none any more."""
        wanted = self._left if size < 0 else min(size, self._left)
        data = self._file.read(wanted).ljust(wanted, b"\0")
        self._left -= wanted
        self.digest.update(data)
        return data


# -- reading -----------------------------------------------------------------------------------


def _extract(archive: Path, root: Path) -> BackupReport:
    root.mkdir(mode=0o700)
    found: dict[str, dict[str, Any]] = {}
    manifest: dict[str, Any] | None = None
    try:
        with tarfile.open(archive, mode="r:gz") as tar:
            for member in tar:
                if member.name == MANIFEST:
                    manifest = _manifest(tar, member)
                else:
                    found[member.name] = _extract_one(tar, member, root)
    except (tarfile.TarError, OSError, EOFError, ValueError) as error:
        raise BadInputError(str(archive), f"cannot be read as a backup: {error}") from error
    if manifest is None:
        raise BadInputError(str(archive), "it has no manifest: it is no whole backup")
    _compare(archive, manifest.get("files", {}), found)
    _check_databases(archive, root / "state")
    return BackupReport(
        archive,
        files=len(found),
        bytes=archive.stat().st_size,
        notes=sum(name.startswith("vault/") and name.endswith(".md") for name in found),
        keys=any(name.startswith("keys/") for name in found),
    )


def _manifest(tar: tarfile.TarFile, member: tarfile.TarInfo) -> dict[str, Any]:
    file = tar.extractfile(member)
    if file is None or member.size > _MANIFEST_LIMIT:
        raise ValueError("its manifest is none")
    manifest: dict[str, Any] = json.loads(file.read())
    return manifest


def _extract_one(tar: tarfile.TarFile, member: tarfile.TarInfo, root: Path) -> dict[str, Any]:
    name = PurePosixPath(member.name)
    if not member.isfile() or name.is_absolute() or ".." in name.parts:
        raise ValueError(f"{member.name!a} does not belong into a backup")
    source = tar.extractfile(member)
    if source is None:
        raise ValueError(f"{member.name!a} cannot be read")
    target = root / name
    make_private(target.parent)
    digest = hashlib.sha256()
    with source, target.open("xb") as file:
        while data := source.read(_CHUNK):
            digest.update(data)
            file.write(data)
    target.chmod(0o700 if member.mode & 0o100 else 0o600)
    os.utime(target, (member.mtime, member.mtime))
    return {"size": member.size, "sha256": digest.hexdigest()}


def _compare(
    archive: Path, wanted: Mapping[str, dict[str, Any]], found: Mapping[str, dict[str, Any]]
) -> None:
    wrong = [name for name in {**wanted, **found} if wanted.get(name) != found.get(name)]
    if wrong:
        raise BadInputError(str(archive), f"{len(wrong)} files are damaged, first {wrong[0]!a}")


def _check_databases(archive: Path, state: Path) -> None:
    for path in sorted(state.glob("*")):
        if path.suffix not in _DATABASES:
            continue
        connection = apsw.Connection(str(path))
        try:
            (answer,) = connection.execute("PRAGMA integrity_check(1)").fetchone() or ("",)
        except apsw.Error as error:
            answer = str(error)
        finally:
            connection.close()
        if answer != "ok":
            raise ContextEngineError(f"{archive}: {path.name} is damaged: {answer}")

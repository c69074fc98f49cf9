"""Google Drive, into which Takeout puts its exports: finds new ones, downloads and reads them.

The parts of one export are read together, as the source `takeout` reads them from a folder, and
under its ids. What was read is remembered by file and checksum; its download is removed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import groupby
from pathlib import Path

from connectors.base import Item, Ledger, ReadOptions
from connectors.drive_api import SCOPE, Drive, Part
from connectors.drive_download import check_space, fetch, own, place_of, tidy
from connectors.takeout import SOURCE, TakeoutConnector
from context_engine.errors import BadInputError, UsageError
from context_engine.events import BadRecord, Checkpoint, UnknownRecord

STATE_VERSION = 1


class DriveConnector:
    """The source `drive`."""

    name = "drive"
    shares = SOURCE
    accepts = "Google Drive: new exports of Google Takeout (takeout-*.zip), downloaded and read"
    needs = f"the secret drive.credentials or drive.credentials_file, with the scope {SCOPE}"
    default_paths: tuple[Path, ...] = ()

    def read(self, paths: Sequence[Path], ledger: Ledger, options: ReadOptions) -> Iterator[Item]:
        """Yield what is new in exports that were not read yet, the oldest export first.

        Raises AccessDeniedError without credentials that will do, ContextEngineError when the disk
        is too small, DependencyDownError when Google is away.
        """
        del paths
        if options.downloads is None:
            raise UsageError("no folder for downloads is given")
        settings, folder = options.live.drive, options.downloads
        with own(folder), closing(Drive(settings, options.pause)) as drive:
            yield from _Run(drive, ledger, options, folder).all()


class _Run:
    def __init__(self, drive: Drive, ledger: Ledger, options: ReadOptions, folder: Path) -> None:
        self._drive, self._ledger, self._options = drive, ledger, options
        self._folder = folder

    def all(self) -> Iterator[Item]:
        """Yield the news of every export."""
        listed = sorted(self._drive.parts(), key=lambda part: (part.export, part.number))
        listed.sort(key=lambda part: part.export.rpartition("/")[2])
        new = [part for part in listed if not self._is_read(part)]
        tidy(self._folder, new)
        exports = {export: list(parts) for export, parts in groupby(listed, lambda it: it.export)}
        for export, parts in groupby(new, lambda it: it.export):
            yield from _gaps(exports[export])
            yield from self._export(list(parts))

    def _is_read(self, part: Part) -> bool:
        state = self._ledger.checkpoint(_key(part))
        return bool(state) and (state or {}).get("md5") == part.md5

    def _export(self, parts: Sequence[Part]) -> Iterator[Item]:
        check_space(self._folder, parts)
        there: list[Part] = []
        for part in parts:
            result = fetch(self._drive, part, self._folder, self._progress)
            if isinstance(result, BadInputError):
                yield BadRecord(part.name, result.reason)
            else:
                there.append(part)
        files = [place_of(self._folder, part) for part in there]
        if files:
            yield from TakeoutConnector().read(files, self._ledger, self._options)
        for part, file in zip(there, files, strict=True):
            yield Checkpoint(_key(part), {"version": STATE_VERSION, "md5": part.md5})
            # should this run end before that is committed, the next one downloads it again
            file.unlink(missing_ok=True)
            file.parent.rmdir()

    def _progress(self, size: int) -> None:
        if self._options.progress is not None:
            self._options.progress(size, 0)


def _key(part: Part) -> str:
    return f"{SOURCE}:drive:{part.id}"


def _gaps(parts: Sequence[Part]) -> Iterator[Item]:
    """Say which parts of an export are not there: it may still be on its way."""
    numbers = {part.number for part in parts}
    for number in sorted(set(range(1, max(numbers))) - numbers)[:20]:
        yield UnknownRecord(parts[0].export, f"part {number:03d} of an export is missing")


CONNECTOR = DriveConnector()

"""Google Drive, into which Takeout puts its exports: finds new ones, downloads and reads them.

The parts of one export are read together, as the source `takeout` reads them from a folder, and
under its ids. What was read is remembered by file and checksum; its download is removed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from connectors.base import Item, Ledger, ReadOptions
from connectors.drive_api import SCOPE, Drive, Part
from connectors.drive_download import check_space, discard, fetch, own, place_of, tidy
from connectors.takeout import SOURCE, TakeoutConnector
from context_engine.errors import BadInputError
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

        Without a folder for downloads (a dry run) it only names what would be downloaded.

        Raises AccessDeniedError without credentials that will do, ContextEngineError when the disk
        is too small, DependencyDownError when Google is away.
        """
        del paths
        settings, folder = options.live.drive, options.downloads
        if folder is None:
            with closing(Drive(settings, options.pause)) as drive:
                yield from _not_downloaded(drive, ledger)
            return
        with own(folder), closing(Drive(settings, options.pause)) as drive:
            yield from _Run(drive, ledger, options, folder).all()


class _Run:
    """Reads what is new in one Drive."""

    def __init__(self, drive: Drive, ledger: Ledger, options: ReadOptions, folder: Path) -> None:
        self._drive, self._ledger, self._folder = drive, ledger, folder
        self._progress, self._total = options.progress, 0
        self._options = replace(options, progress=self._advance)

    def all(self) -> Iterator[Item]:
        """Yield the news of every export."""
        listed = list(self._drive.parts())
        yield from (item for item in listed if isinstance(item, UnknownRecord))
        exports = _exports(listed)
        new = [part for parts in exports for part in parts if not is_read(part, self._ledger)]
        # each byte is fetched, then read
        self._total = 2 * sum(part.size for part in new)
        tidy(self._folder, new)
        for parts in exports:
            if wanted := [part for part in parts if part in new]:
                yield from _gaps(parts)
                yield from self._export(wanted)
        yield Checkpoint(f"{SOURCE}:drive", {"version": STATE_VERSION})

    def _export(self, parts: Sequence[Part]) -> Iterator[Item]:
        check_space(self._folder, parts)
        there: list[Part] = []
        for part in parts:
            result = fetch(self._drive, part, self._folder, self._advance)
            if isinstance(result, BadInputError):
                yield BadRecord(part.name, result.reason)
            else:
                there.append(part)
        files = [place_of(self._folder, part) for part in there]
        if files:
            yield from TakeoutConnector().read(files, self._ledger, self._options)
        for part in there:
            yield Checkpoint(_key(part), {"version": STATE_VERSION, "md5": part.md5})
            # should this run end before that is committed, the next one downloads it again
            discard(self._folder, part)

    def _advance(self, read: int, total: int, place: str = "") -> None:
        del total
        if self._progress is not None:
            self._progress(read, self._total, place)


def _exports(listed: Sequence[Part | UnknownRecord]) -> list[list[Part]]:
    """Return the exports in a Drive, the oldest first: each all its parts in order."""
    parts = [item for item in listed if isinstance(item, Part)]
    parts.sort(key=lambda it: (it.taken, it.export, it.number))
    return [list(some) for _, some in groupby(parts, lambda it: it.export)]


def _not_downloaded(drive: Drive, ledger: Ledger) -> Iterator[Item]:
    """Say what would be downloaded."""
    for item in drive.parts():
        if isinstance(item, UnknownRecord):
            yield item
        elif not is_read(item, ledger):
            yield UnknownRecord(item.name, "part of an export, to be downloaded")
    yield Checkpoint(f"{SOURCE}:drive", {"version": STATE_VERSION})


def is_read(part: Part, ledger: Ledger) -> bool:
    """Say whether this version of a part was read before."""
    state = ledger.checkpoint(_key(part))
    return state is not None and state.get("md5") == part.md5


def _key(part: Part) -> str:
    return f"{SOURCE}:drive:{part.id}"


def _gaps(parts: Sequence[Part]) -> Iterator[Item]:
    """Say which parts of an export are not there: it may still be on its way."""
    numbers = {part.number for part in parts}
    for number in sorted(set(range(1, max(numbers))) - numbers)[:20]:
        yield UnknownRecord(parts[0].export, f"part {number:03d} of an export is missing")


CONNECTOR = DriveConnector()

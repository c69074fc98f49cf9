"""Files of a source wherever they lie: in folders, in zips and tars, in zips inside those.

Members come one after the other as bounded streams; nothing is extracted. An archive inside
another is held in memory, a large one in a private temporary file without a name.
"""

from __future__ import annotations

import io
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from connectors.archive_budget import (
    BROKEN,
    CHUNK,
    LIMITS,
    MIB,
    BoundedStream,
    Budget,
    CountingFile,
    Limits,
    Readable,
    SpentError,
    reason_in_words,
)
from connectors.archive_formats import Entry, entries, is_archive
from connectors.archive_names import normal_name, problem_of, shown_name
from connectors.base import Progress
from connectors.text import show_path
from connectors.walk import Found, find_files, reason_of
from context_engine.errors import BadInputError
from context_engine.events import BadRecord, UnknownRecord
from context_engine.ids import long_id

_SPOOL = 8 * MIB
_UNLIMITED = Limits(member_bytes=1 << 62, total_bytes=1 << 62, slack=1 << 62)


@dataclass(frozen=True, slots=True)
class Member:
    """A regular file of the source. Open it before the next one is asked for.

    path: relative to the folder or archive, NFC, parts joined by `/`.
    place: what to call it in a report, `file` or `archive!member`.
    identity: the same again means the same bytes, as far as can be told without reading them.
    named: the caller named this very file.
    """

    path: str
    place: str
    identity: str
    named: bool
    _open: Callable[[], io.RawIOBase]

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rsplit("/", 1)[-1]

    def open(self) -> io.BufferedReader:
        """Return its bytes as a stream.

        Raises BadInputError, here or while it is read, when the bytes cannot be had.
        """
        return io.BufferedReader(self._open(), CHUNK)


Listed = Member | BadRecord | UnknownRecord


def anywhere(path: str) -> bool:
    """Say of every archive inside an archive that it is looked into."""
    del path
    return True


def walk_members(
    paths: Sequence[Path],
    progress: Progress | None = None,
    *,
    limits: Limits = LIMITS,
    enter: Callable[[str], bool] = anywhere,
) -> Iterator[Listed]:
    """Yield the files at or below `paths`, each once, and what was refused and why.

    progress: told of the bytes read, of those of all files, and in which of these.
    enter: says of an archive inside an archive, by its path, whether to look into it.
    """
    files: dict[str, tuple[Found, str, bool]] = {}
    for root in paths:
        for item in find_files(root):
            if isinstance(item, Found):
                named = item.path == root
                inner = item.path.name if named else show_path(item.path.relative_to(root))
                files.setdefault(show_path(item.path.absolute()), (item, inner, named))
            else:
                yield item
    total = sum(item.size for item, _, _ in files.values())
    for item, inner, named in files.values():
        walk = _Walk(limits, enter, _Reported(progress, total, show_path(item.path)))
        walk.reported.start()
        yield from walk.file(item, inner, named=named)
        walk.reported.finish(item.size)


class _Reported:
    """Tells the caller how much was read; what was passed over counts when its file ends."""

    def __init__(self, progress: Progress | None, total: int, place: str) -> None:
        self._progress, self._total, self._place = progress, total, place
        self._pending = self._done = 0

    def start(self) -> None:
        if self._progress is not None:
            self._progress(0, self._total, self._place)

    def add(self, count: int) -> None:
        self._pending += count
        if self._pending >= MIB:
            self._send()

    def finish(self, size: int) -> None:
        self._pending = max(self._pending, size - self._done)
        self._send()

    def _send(self) -> None:
        if self._progress is not None and self._pending:
            self._progress(self._pending, self._total, self._place)
        self._done += self._pending
        self._pending = 0


@dataclass(frozen=True, slots=True)
class _Inside:
    """The archive that is being read."""

    place: str
    identity: str
    budget: Budget
    depth: int


class _Walk:
    """Reads one file of a folder, which may be an archive."""

    def __init__(self, limits: Limits, enter: Callable[[str], bool], reported: _Reported) -> None:
        self._limits, self._enter, self.reported = limits, enter, reported

    def file(self, found: Found, inner: str, *, named: bool) -> Iterator[Listed]:
        place = show_path(found.path)
        stamp = (str(found.path.absolute()), found.inode, found.size, found.mtime_ns)
        identity = long_id("file", *map(str, stamp))
        if not is_archive(found.path.name):
            path = normal_name(inner)
            yield Member(path, place, identity, named, lambda: self._open_plain(found.path, place))
            return
        try:
            with found.path.open("rb") as raw:
                yield from self._archive(raw, _Inside(place, identity, Budget(self._limits), 1))
        except OSError as error:
            yield BadRecord(place, reason_of(error))

    def _open_plain(self, path: Path, place: str) -> io.RawIOBase:
        try:
            raw = path.open("rb")
        except OSError as error:
            raise BadInputError(place, reason_of(error)) from error
        # a plain file costs what it weighs: it is counted, not limited
        budget = Budget(_UNLIMITED)
        counted = CountingFile(raw, budget, self.reported.add)
        return BoundedStream(_Owned(counted, raw), budget, place)

    def _archive(self, raw: BinaryIO, inside: _Inside) -> Iterator[Listed]:
        """Yield the members of the archive `raw`; whatever is wrong with it becomes a record."""
        progress = self.reported.add if inside.depth == 1 else None
        counted = CountingFile(raw, inside.budget, progress)
        try:
            for entry in entries(counted, inside.place, inside.budget):
                inside.budget.member()
                yield from self._entry(entry, inside)
                if inside.budget.spent:
                    break
        except SpentError as error:
            inside.budget.spent = error.reason
        except BROKEN as error:
            yield BadRecord(inside.place, f"not read to its end: {reason_in_words(error)}")
        if inside.budget.spent:
            yield BadRecord(inside.place, f"{inside.budget.spent}; the rest is left unread")

    def _entry(self, entry: Entry, inside: _Inside) -> Iterator[Listed]:
        path = normal_name(entry.name)
        place = f"{inside.place}!{shown_name(path)}"
        problem = entry.problem or problem_of(path)
        if problem:
            yield BadRecord(place, f"refused: {problem}")
            return

        def opened() -> io.RawIOBase:
            try:
                raw = entry.open()
            except SpentError as error:
                raise BadInputError(place, error.reason) from error
            except BROKEN as error:
                raise BadInputError(place, reason_in_words(error)) from error
            return BoundedStream(raw, inside.budget, place, streamed=entry.streamed)

        stamp = (*((inside.identity,) if entry.streamed else ()), *entry.stamp)
        member = Member(path, place, long_id("member", *stamp), named=False, _open=opened)
        if is_archive(path) and self._enter(path):
            yield from self._nested(member, inside)
        else:
            yield member

    def _nested(self, member: Member, inside: _Inside) -> Iterator[Listed]:
        depth = inside.depth + 1
        if depth > self._limits.depth:
            yield BadRecord(member.place, f"refused: archives {depth} deep inside one another")
            return
        with tempfile.SpooledTemporaryFile(_SPOOL) as spool:
            try:
                with member.open() as stream:
                    shutil.copyfileobj(stream, spool, CHUNK)
            except BadInputError as error:
                yield BadRecord(error.place, error.reason)
                return
            spool.seek(0)
            budget = Budget(self._limits, inside.budget)
            nested = _Inside(member.place, member.identity, budget, depth)
            yield from self._archive(cast("BinaryIO", spool), nested)


class _Owned:
    """A reader that closes the file below it."""

    def __init__(self, reader: Readable, owned: BinaryIO) -> None:
        self._reader, self._owned = reader, owned

    def read(self, size: int = -1, /) -> bytes:
        return self._reader.read(size)

    def close(self) -> None:
        self._owned.close()

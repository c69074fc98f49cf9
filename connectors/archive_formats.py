"""Zip and tar as one thing: a row of entries, each with its name, its problem and its bytes."""

from __future__ import annotations

import gzip
import io
import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, cast

from connectors.archive_budget import CHUNK, MIB, Budget, CountingFile, Readable, SpentError
from connectors.archive_names import decode_names

_UTF8_FLAG, _ENCRYPTED_FLAG = 0x800, 0x1
_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_TARS = (".tar", ".tar.gz", ".tgz")


@dataclass(frozen=True, slots=True)
class Entry:
    """A member as its archive describes it, folders left out.

    stamp: what tells these bytes from others; a tar has no checksum, so its caller adds the tar.
    streamed: part of one compressed stream, which counts by itself.
    """

    name: str
    stamp: tuple[str, ...]
    problem: str | None
    open: Callable[[], Readable]
    streamed: bool = False


def is_archive(name: str) -> bool:
    """Say whether a file of this name is looked into."""
    return name.lower().endswith((".zip", *_TARS))


def entries(counted: CountingFile, name: str, budget: Budget) -> Iterator[Entry]:
    """Yield the entries of an archive called `name`. An entry is open until the next is asked for.

    Raises SpentError at a limit, and one of `BROKEN` when the archive is damaged.
    """
    if name.lower().endswith(_TARS):
        return _tar(counted, budget, plain=name.lower().endswith(".tar"))
    return _zip(counted, budget)


def _zip(counted: CountingFile, budget: Budget) -> Iterator[Entry]:
    limit = budget.limits.members

    def count(directory: bytes) -> None:
        # before any of it becomes objects
        if directory.count(b"PK\x01\x02") > limit:
            raise SpentError(f"holds more than {limit:,} members")

    counted.on_large = count
    with zipfile.ZipFile(cast("IO[bytes]", counted)) as archive:
        counted.on_large = None
        for info, name in _named(archive):
            if not info.is_dir():
                stamp = (name, str(info.file_size), str(info.CRC))
                yield Entry(name, stamp, _zip_problem(info), _zip_opener(archive, info))


def _named(archive: zipfile.ZipFile) -> Iterator[tuple[zipfile.ZipInfo, str]]:
    """Yield members with their names as their writer meant them."""
    # names without the flag were read as cp437, which loses nothing; flagged ones must stay
    plain = [info for info in archive.infolist() if not info.flag_bits & _UTF8_FLAG]
    names = decode_names([info.orig_filename.encode("cp437", "replace") for info in plain])
    for info in archive.infolist():
        if info.flag_bits & _UTF8_FLAG:
            yield info, info.orig_filename
        else:
            yield info, names[info.orig_filename.encode("cp437", "replace")]


def _zip_problem(info: zipfile.ZipInfo) -> str | None:
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind == stat.S_IFLNK:
        return "a link"
    if kind not in {0, stat.S_IFREG}:
        return "neither a file nor a folder"
    if info.flag_bits & _ENCRYPTED_FLAG:
        return "encrypted"
    if info.compress_type not in _METHODS:
        # the others let a few bytes ask for gigabytes of memory
        return f"compressed by method {info.compress_type}, only deflate is read"
    return None


def _zip_opener(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Callable[[], Readable]:
    return lambda: cast("Readable", archive.open(info))


def _tar(counted: CountingFile, budget: Budget, *, plain: bool) -> Iterator[Entry]:
    unpacked = counted if plain else gzip.GzipFile(fileobj=counted, mode="rb")
    source = _TarSource(cast("Readable", unpacked), budget)
    with tarfile.open(fileobj=cast("IO[bytes]", source), mode="r:") as archive:
        while (info := archive.next()) is not None:
            # what was passed stays behind: a tar may hold millions
            archive.members = []  # type: ignore[attr-defined] # unknown to typeshed
            if not info.isdir():
                stamp = (info.name, str(info.size), str(info.mtime))
                opener = _tar_opener(archive, info)
                yield Entry(info.name, stamp, _tar_problem(info), opener, streamed=True)
        if any(source.block):
            raise tarfile.ReadError("what follows is no member")


def _tar_problem(info: tarfile.TarInfo) -> str | None:
    if info.issym() or info.islnk():
        return "a link"
    if not info.isreg():
        return "neither a file nor a folder"
    return "a sparse file" if info.issparse() else None


def _tar_opener(archive: tarfile.TarFile, info: tarfile.TarInfo) -> Callable[[], Readable]:
    def opened() -> Readable:
        stream = archive.extractfile(info)
        if stream is None:
            raise tarfile.ReadError("no data")
        return cast("Readable", stream)

    return opened


class _TarSource:
    """What `tarfile` reads: forward only, counted, and no header larger than needed."""

    def __init__(self, raw: Readable, budget: Budget) -> None:
        self._raw, self._budget, self._position = raw, budget, 0
        self.block = b""
        """The last header read: not empty and not zeros where a damaged tar ends."""

    def read(self, size: int = -1, /) -> bytes:
        if size < 0 or size > MIB:
            raise SpentError("a header of it is too large")
        data = self._raw.read(size)
        while len(data) < size and (more := self._raw.read(size - len(data))):
            data += more
        self._position += len(data)
        self._budget.produce(len(data))
        if size == tarfile.BLOCKSIZE:
            self.block = data
        return data

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        if whence != io.SEEK_SET or offset < self._position:
            raise tarfile.ReadError("members of a tar are read in their order")
        while self._position < offset and self._skip(offset):
            pass
        return self._position

    def _skip(self, offset: int) -> bool:
        block, data = self.block, self.read(min(CHUNK, offset - self._position))
        self.block = block
        return bool(data)

    def tell(self) -> int:
        return self._position

    def seekable(self) -> bool:
        return True

    def close(self) -> None:
        self._raw.close()

"""What reading an archive may cost: counted while decompressing, whatever its headers declare."""

from __future__ import annotations

import io
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO, Protocol

from connectors.walk import reason_of
from context_engine.errors import BadInputError

MIB = 1024 * 1024
GIB = 1024 * MIB
CHUNK = 256 * 1024
_READ_AHEAD = 128 * 1024
BROKEN = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    EOFError,
    OSError,
    ValueError,
    RuntimeError,
    OverflowError,
    LookupError,
    struct.error,
)
"""What the standard library raises for archives that are not what they say."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one archive (and all archives inside it)."""

    members: int = 100_000
    member_bytes: int = 16 * GIB
    total_bytes: int = 64 * GIB
    ratio: int = 400
    """Bytes that one compressed byte may become: text stays below 50, a bomb is near 1,000."""
    slack: int = 16 * MIB
    """Bytes of an archive that are read before its ratio counts."""
    member_slack: int = 1 * MIB
    depth: int = 3
    """Archives inside archives; 1 is an archive that lies in a folder."""


LIMITS = Limits()


class Budget:
    """Counts what an archive was and what it became. `spent` says why no more of it is read."""

    def __init__(self, limits: Limits, parent: Budget | None = None) -> None:
        self.limits = limits
        self.parent = parent
        self.consumed = 0
        self.produced = 0
        self.members = 0
        self.spent: str | None = None

    def produce(self, count: int) -> None:
        """Take note of `count` decompressed bytes. Raises SpentError beyond the limits."""
        self.produced += count
        if self.produced > self.limits.total_bytes:
            self._spend(f"unpacks to more than {_size(self.limits.total_bytes)}")
        if self.produced > self.limits.slack and self.exceeds(self.produced, self.consumed):
            self._spend(_ratio_reason(self.limits))
        if self.parent is not None:
            try:
                self.parent.produce(count)
            except SpentError as error:
                self._spend(error.reason)

    def member(self) -> None:
        """Take note of one more member. Raises SpentError beyond the limit."""
        self.members += 1
        if self.members > self.limits.members:
            self._spend(f"holds more than {self.limits.members:,} members")
        if self.parent is not None:
            self.parent.member()

    def exceeds(self, produced: int, consumed: int) -> bool:
        """Say whether `produced` bytes are more than `consumed` may become."""
        return produced > self.limits.ratio * max(consumed, 1)

    def _spend(self, reason: str) -> None:
        self.spent = reason
        raise SpentError(reason)


class SpentError(Exception):
    """A limit was reached; for the modules of the archive reader only."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def _ratio_reason(limits: Limits) -> str:
    return f"unpacks to more than {limits.ratio} times its size"


def _size(count: int) -> str:
    return f"{count // GIB} GiB" if count >= GIB else f"{count // MIB} MiB"


class CountingFile(io.RawIOBase):
    """A seekable file that counts what is read of it and bounds one read."""

    def __init__(
        self, raw: BinaryIO, budget: Budget, progress: Callable[[int], None] | None = None
    ) -> None:
        super().__init__()
        self.raw, self._budget, self._progress = raw, budget, progress
        self.limit = 64 * MIB
        self.on_large: Callable[[bytes], None] | None = None

    def readable(self) -> bool:
        """Say yes."""
        return True

    def seekable(self) -> bool:
        """Say yes."""
        return True

    def read(self, size: int = -1, /) -> bytes:
        """Return up to `size` bytes. Raises SpentError when more is asked than ever needed."""
        data = self.raw.read(min(size, self.limit + 1) if size >= 0 else self.limit + 1)
        if len(data) > self.limit:
            raise SpentError("its directory is too large")
        self._budget.consumed += len(data)
        if self._progress is not None:
            self._progress(len(data))
        if self.on_large is not None and size > CHUNK:
            self.on_large(data)
        return data

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Move as files do."""
        return self.raw.seek(offset, whence)

    def tell(self) -> int:
        """Return the position."""
        return self.raw.tell()


class Readable(Protocol):
    """What decompressors of the standard library have in common."""

    def read(self, size: int = ..., /) -> bytes:
        """Return up to `size` bytes."""
        ...

    def close(self) -> None:
        """Give up what is held."""
        ...


class BoundedStream(io.RawIOBase):
    """One member while it is read. Raises BadInputError naming the member when it must stop.

    streamed: it is part of one compressed stream, which counts what it gives out itself.
    """

    def __init__(
        self, raw: Readable, budget: Budget, place: str, *, streamed: bool = False
    ) -> None:
        super().__init__()
        self._raw, self._budget, self._place, self._streamed = raw, budget, place, streamed
        # a decompressor reads ahead: some of this member's bytes were consumed before it began
        self._start = budget.consumed - (_READ_AHEAD if streamed else 0)
        self._produced = 0

    def readable(self) -> bool:
        """Say yes."""
        return True

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override] # typeshed: Buffer
        """Fill `buffer` as far as there is data."""
        try:
            data = self._raw.read(min(len(buffer), CHUNK))
            self._count(len(data))
        except SpentError as error:
            raise BadInputError(self._place, error.reason) from error
        except BROKEN as error:
            raise BadInputError(self._place, reason_in_words(error)) from error
        buffer[: len(data)] = data
        return len(data)

    def _count(self, count: int) -> None:
        budget = self._budget
        self._produced += count
        if not self._streamed:
            budget.produce(count)
        if self._produced > budget.limits.member_bytes:
            raise SpentError(f"larger than {_size(budget.limits.member_bytes)}")
        free = (
            budget.limits.member_slack
            if budget.produced > budget.limits.slack
            else (budget.limits.slack)
        )
        consumed = budget.consumed - self._start
        if self._produced > free and budget.exceeds(self._produced, consumed):
            raise SpentError(_ratio_reason(budget.limits))

    def close(self) -> None:
        """Give up the member."""
        if not self.closed:
            self._raw.close()
        super().close()


def reason_in_words(error: Exception) -> str:
    """Return why an archive or a member could not be read."""
    if isinstance(error, OSError) and not isinstance(error, zipfile.BadZipFile):
        return reason_of(error)
    return f"damaged: {error}" if str(error) else "damaged"

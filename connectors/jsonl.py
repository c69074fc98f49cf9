"""Reading JSON Lines that somebody else is still writing.

Memory is bounded whatever the file holds, only complete lines are consumed, and a cursor tells a
file that grew from one that was truncated, rotated or replaced.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from hashlib import blake2b
from typing import Any, BinaryIO

import orjson

from connectors.walk import Found

LINE_LIMIT = 32 * 1024 * 1024
"""Bytes of one line. An API request is at most 32 MB, so nothing said is longer."""

VALUE_LIMIT = 1_000_000
"""Values in one line, estimated by its commas: tiny values cost 20 times their size parsed."""

FULL_CHECK_BYTES = 32 * 1024 * 1024
"""Up to here the bytes before a cursor are all compared: it costs milliseconds."""

_BUFFER = 1024 * 1024
_HEAD = 4 * 1024
_TAIL = 64 * 1024


@dataclass(frozen=True, slots=True)
class Line:
    """One line without its end. `problem` says why `data` is empty although the line was not."""

    number: int
    data: bytes
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where reading stopped, and how to recognise the bytes before it.

    `head` and `tail` are digests of the first 4 KiB and the last 64 KiB before `offset`. `crc`
    covers all bytes before `offset`: it is checked unless the file is large and its inode the
    same. (File systems give a freed inode away again, so the inode alone proves nothing.)
    """

    inode: int = 0
    size: int = 0
    mtime_ns: int = 0
    offset: int = 0
    line: int = 0
    crc: int = 0
    head: str = ""
    tail: str = ""

    def state(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return asdict(self)


def load_cursor(state: Mapping[str, Any]) -> Cursor:
    """Return the cursor in `state`, or one at the start when there is none that can be meant."""
    names = {field.name: type(field.default) for field in fields(Cursor)}
    values = {name: state.get(name) for name in names}
    if any(type(values[name]) is not kind for name, kind in names.items()):
        return Cursor()
    cursor = Cursor(**{name: value for name, value in values.items() if value is not None})
    return cursor if cursor.offset >= 0 and cursor.line >= 0 else Cursor()


def is_unchanged(cursor: Cursor, found: Found) -> bool:
    """Say whether the file is the one the cursor saw, untouched since."""
    seen = (cursor.inode, cursor.size, cursor.mtime_ns)
    return seen == (found.inode, found.size, found.mtime_ns)


def still_continues(handle: BinaryIO, cursor: Cursor) -> bool:
    """Say whether the file still begins with the bytes that were consumed up to `cursor`."""
    status = os.fstat(handle.fileno())
    if status.st_size < cursor.offset:
        return False
    if _digests(handle, cursor.offset) != (cursor.head, cursor.tail):
        return False
    if status.st_ino == cursor.inode and cursor.offset > FULL_CHECK_BYTES:
        return True
    return _crc(handle, cursor.offset) == cursor.crc


def _digests(handle: BinaryIO, offset: int) -> tuple[str, str]:
    start = max(0, offset - _TAIL)
    return (_digest(handle, 0, min(_HEAD, offset)), _digest(handle, start, offset - start))


def _digest(handle: BinaryIO, start: int, length: int) -> str:
    handle.seek(start)
    return blake2b(handle.read(length), digest_size=16).hexdigest()


def _crc(handle: BinaryIO, length: int) -> int:
    handle.seek(0)
    crc, left = 0, length
    while left > 0 and (piece := handle.read(min(_BUFFER, left))):
        crc = zlib.crc32(piece, crc)
        left -= len(piece)
    return crc


class LineReader:
    """Iterates over the complete lines of `handle` from `cursor` on.

    The last line counts as complete without a line end when it is a whole JSON object: no strict
    prefix of an object is one, so a half-written line is never taken for a whole one.
    """

    def __init__(self, handle: BinaryIO, cursor: Cursor, limit: int = LINE_LIMIT) -> None:
        self._handle = handle
        self._limit = limit
        self._status = os.fstat(handle.fileno())
        self.offset, self.line, self._crc = cursor.offset, cursor.line, cursor.crc

    def __iter__(self) -> Iterator[Line]:
        self._handle.seek(self.offset)
        while data := self._handle.readline(self._limit + 1):
            if data.endswith(b"\n"):
                yield self._consumed(data)
            elif len(data) > self._limit:
                line = self._skip(data)
                if line is None:
                    return
                yield line
            else:
                if isinstance(parse_object(data), dict):
                    yield self._consumed(data)
                return

    def cursor(self, *, at_end: bool) -> Cursor:
        """Return where the last line that was yielded ends.

        at_end: all lines were yielded; only then an untouched file need not be opened again.
        """
        position = self._handle.tell()
        head, tail = _digests(self._handle, self.offset)
        self._handle.seek(position)
        status = self._status
        return Cursor(
            inode=status.st_ino,
            size=status.st_size if at_end else 0,
            mtime_ns=status.st_mtime_ns if at_end else 0,
            offset=self.offset,
            line=self.line,
            crc=self._crc,
            head=head,
            tail=tail,
        )

    def _consumed(self, data: bytes) -> Line:
        self._crc = zlib.crc32(data, self._crc)
        self.offset += len(data)
        self.line += 1
        return Line(self.line, data)

    def _skip(self, data: bytes) -> Line | None:
        """Pass over a line that is too long, or return None when its end is not written yet."""
        length, crc = 0, self._crc
        while data:
            length += len(data)
            crc = zlib.crc32(data, crc)
            if data.endswith(b"\n"):
                self._crc = crc
                self.offset += length
                self.line += 1
                return Line(self.line, b"", f"longer than {self._limit >> 20} MiB: {length} bytes")
            data = self._handle.readline(_BUFFER)
        return None


def parse_object(data: bytes) -> dict[str, Any] | str | None:
    """Return the JSON object in `data`, the reason why there is none, or None for an empty line.

    What a strict parser refuses but whose meaning is clear is read: NUL padding, a byte order
    mark, invalid UTF-8 and lone surrogates (replaced), raw control characters.
    """
    if len(data) > VALUE_LIMIT and data.count(b",") > VALUE_LIMIT:
        return f"more than {VALUE_LIMIT} values in one line"
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        if "depth" in str(error):
            return "nested too deeply"
        return _parse_leniently(data)
    return value if isinstance(value, dict) else _no_object(value)


def _parse_leniently(data: bytes) -> dict[str, Any] | str | None:
    text = data.decode("utf-8", "replace").strip("\0\ufeff \t\r\n")
    if not text:
        return "only NUL characters" if b"\0" in data else None
    try:
        value = json.loads(text, strict=False)
    except RecursionError:
        return "nested too deeply"
    except ValueError as error:
        return f"not JSON: {error}"
    return value if isinstance(value, dict) else _no_object(value)


def _no_object(value: Any) -> str:
    names = {list: "a list", str: "a string", bool: "a boolean", type(None): "null"}
    return f"not a JSON object but {names.get(type(value), 'a number')}"


def salvage(data: bytes, attempts: int = 16) -> dict[str, Any] | None:
    """Return the whole object at the end of a line that begins with an unfinished one.

    A writer that died in the middle of a line and is started again appends to that line.
    """
    position = 0
    for _ in range(attempts if data.startswith(b"{") else 0):
        position = data.find(b'{"', position + 1)
        if position < 0:
            return None
        value = parse_object(data[position:])
        if isinstance(value, dict):
            return value
    return None

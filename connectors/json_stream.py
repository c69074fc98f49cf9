"""The records of a JSON file of any size, one at a time.

A file is an array of records, one record, or records in a row (JSON Lines). It is only cut here,
not parsed: a record that is broken inside costs itself, and one that is too large is passed over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from connectors.jsonl import LINE_LIMIT, parse_object

RECORD_LIMIT = LINE_LIMIT
"""Bytes of one record."""

OBJECT_LIMIT = 400_000
"""Objects and lists in one record, estimated by its brackets: each costs 230 bytes parsed."""

STRAY_LIMIT = 100
"""Brackets without a partner after which a file is given up."""

_CHUNK = 256 * 1024
_BOM = b"\xef\xbb\xbf"
_BLANK = b" \t\r\n,"
_QUOTE, _BACKSLASH = ord('"'), ord("\\")
_STEP = np.zeros(256, dtype=np.int8)
_STEP[[ord("["), ord("{")]] = 1
_STEP[[ord("]"), ord("}")]] = -1


@dataclass(frozen=True, slots=True)
class Element:
    """A record as it stands in the file, counted from 1. `problem` says why `data` is empty."""

    number: int
    data: bytes
    problem: str | None = None

    def parse(self) -> dict[str, Any] | str:
        """Return the JSON object, or the reason why there is none."""
        if self.data.count(b"{") + self.data.count(b"[") > OBJECT_LIMIT:
            return f"more than {OBJECT_LIMIT:,} objects in one record"
        return self.problem or parse_object(self.data) or "empty"


def elements(stream: BinaryIO, limit: int = RECORD_LIMIT) -> Iterator[Element]:
    """Yield the records of `stream`; what it raises passes through.

    limit: bytes of one record that are kept; memory stays below three times that.
    """
    first = stream.read(_CHUNK).removeprefix(_BOM).lstrip()
    while first == b"" and (more := stream.read(_CHUNK)):
        first = more.lstrip()
    if not first:
        return
    if not first.startswith((b"[", b"{")):
        yield Element(1, b"", "not JSON")
        return
    in_array = first.startswith(b"[")
    cutter = _Cutter(limit, in_array=in_array)
    yield from cutter.feed(first[1:] if in_array else first)
    while not cutter.ended and (data := stream.read(_CHUNK)):
        yield from cutter.feed(data)
    yield from cutter.finish()


class _Cutter:
    """Cuts where a bracket of the outermost records opens or closes."""

    def __init__(self, limit: int, *, in_array: bool) -> None:
        self._limit, self._in_array = limit, in_array
        self._brackets = _Brackets()
        self._number = self._strays = self._length = 0
        self._pieces: list[bytes] = []
        self._inside = False
        self.ended = False

    def feed(self, data: bytes) -> Iterator[Element]:
        """Take in the next bytes of the file."""
        while data and not self.ended:
            start = 0
            cuts, length, stray = self._brackets.find(data)
            for position, opens in cuts:
                if opens:
                    yield from self._between(data[start:position])
                    start = position
                else:
                    self._keep(data[start : position + 1])
                    start = position + 1
                    yield self._whole()
                self._inside = opens
            if stray:
                yield from self._between(data[start : length - 1])
                yield from self._stray(data[length - 1 : length], data[length:])
            elif self._inside:
                self._keep(data[start:])
            else:
                yield from self._between(data[start:])
            data = data[length:]

    def finish(self) -> Iterator[Element]:
        """Say what is missing at the end of the file."""
        if self._inside:
            yield self._problem("the file ends in the middle of this record")
        elif self._in_array and not self.ended:
            yield self._problem("the file ends before its array does")

    def _stray(self, bracket: bytes, rest: bytes) -> Iterator[Element]:
        """Judge a bracket that closes more than was opened: the array's end, or a mistake."""
        if bracket == b"]" and self._in_array:
            self.ended = True
            if rest.strip(_BLANK):
                yield self._problem("what follows the end of the array is left unread")
            return
        self._strays += 1
        yield self._problem("a bracket that closes nothing")
        if self._strays >= STRAY_LIMIT:
            self.ended = True
            yield self._problem("too broken; the rest is left unread")

    def _between(self, data: bytes) -> Iterator[Element]:
        if data.strip(_BLANK):
            yield self._problem("not a JSON object")

    def _keep(self, data: bytes) -> None:
        self._length += len(data)
        if self._length > self._limit:
            self._pieces = []
        else:
            self._pieces.append(data)

    def _whole(self) -> Element:
        if self._length > self._limit:
            return self._problem(f"larger than {self._limit >> 20} MiB: {self._length} bytes")
        self._number += 1
        element = Element(self._number, b"".join(self._pieces))
        self._pieces, self._length = [], 0
        return element

    def _problem(self, reason: str) -> Element:
        self._number += 1
        self._pieces, self._length = [], 0
        return Element(self._number, b"", reason)


class _Brackets:
    """Where records open and close, all of a chunk at once: most of a file is passed by numpy."""

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = self._escaped = False

    def find(self, data: bytes) -> tuple[list[tuple[int, bool]], int, bool]:
        """Return the cuts in `data`, how many bytes were looked at, and why no more.

        A cut is (position, True where a record opens or False where it closes). Looking ends early
        (the third is True) behind a bracket that closes more than was opened.
        """
        array = np.frombuffer(data, dtype=np.uint8)
        quotes = self._quotes(array)
        steps = _STEP[array]
        brackets = np.flatnonzero(steps)
        before = np.searchsorted(quotes, brackets) + int(self._in_string)
        brackets = brackets[before % 2 == 0]
        step = steps[brackets].astype(np.int64)
        depth = self._depth + np.cumsum(step)
        strays = np.flatnonzero(depth < 0)
        if len(strays):
            end = int(strays[0])
            brackets, step, depth = brackets[: end + 1], step[: end + 1], depth[:end]
            length = int(brackets[end]) + 1
            self._depth, self._in_string, self._escaped = 0, False, False
        else:
            length = len(data)
            self._depth = int(depth[-1]) if len(depth) else self._depth
            self._in_string = bool((len(quotes) + int(self._in_string)) % 2)
        step, brackets = step[: len(depth)], brackets[: len(depth)]
        opens, closes = (depth == 1) & (step > 0), (depth == 0) & (step < 0)
        chosen = np.flatnonzero(opens | closes)
        return [(int(brackets[at]), bool(opens[at])) for at in chosen], length, bool(len(strays))

    def _quotes(self, array: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Return where strings begin and end: quotes that no backslash escapes."""
        quotes = np.flatnonzero(array == _QUOTE)
        backslashes = np.flatnonzero(array == _BACKSLASH)
        first_escaped, self._escaped = self._escaped, False
        if not len(backslashes) and not first_escaped:
            return quotes
        escaped = np.zeros(len(array) + 1, dtype=np.bool_)
        if first_escaped:
            escaped[0] = True
            backslashes = backslashes[backslashes != 0]
        if len(backslashes):
            # in a run of backslashes the first escapes the second, the third the fourth …
            begins = np.concatenate(([True], np.diff(backslashes) != 1))
            run = np.maximum.accumulate(np.where(begins, np.arange(len(backslashes)), 0))
            even = (np.arange(len(backslashes)) - run) % 2 == 0
            escaped[backslashes[even] + 1] = True
        self._escaped = bool(escaped[len(array)])
        return quotes[~escaped[quotes]]

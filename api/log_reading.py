"""The engine's structured logs, read back: all parts in one order of time, and followed."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

TAIL_BYTES = 1_000_000
"""Of each part's newest file, when the last lines are asked for."""
FOLLOW_SECONDS = 0.3

_ID_FIELDS = ("event_id", "job", "job_id", "run_id")


@dataclass(frozen=True)
class LogLine:
    """One line of a part's log."""

    at: str
    """ISO 8601, UTC; empty when the line has none."""
    part: str
    fields: dict[str, Any]


def parts(folder: Path) -> list[str]:
    """Return the parts that have a log."""
    return sorted(path.stem for path in folder.glob("*.jsonl"))


def concerns(line: LogLine, wanted: str) -> bool:
    """Return whether the line belongs to the event or the job with this id (or key)."""
    ids = [str(line.fields.get(name, "")) for name in _ID_FIELDS]
    return any(found == wanted or found.endswith(f":{wanted}") for found in ids)


def last_lines(folder: Path, part: str | None, wanted: str | None, limit: int) -> list[LogLine]:
    """Return the last `limit` lines in order of time; with `wanted`, from the old files too."""
    found: list[LogLine] = []
    for name in parts(folder) if part is None else [part]:
        lines = _all_lines(folder, name) if wanted else _tail(folder / f"{name}.jsonl", name)
        kept = [line for line in lines if wanted is None or concerns(line, wanted)]
        found += kept[-limit:]
    return sorted(found, key=attrgetter("at"))[-limit:]


def follow(
    folder: Path,
    part: str | None,
    *,
    wait: Callable[[float], None] = time.sleep,
) -> Iterator[LogLine]:
    """Yield lines as they are written, from now on, through rotations and new parts."""
    cursors = {name: _Cursor.at_end(folder / f"{name}.jsonl") for name in parts(folder)}
    while True:
        fresh: list[LogLine] = []
        for name in parts(folder) if part is None else [part]:
            cursor = cursors.setdefault(name, _Cursor(folder / f"{name}.jsonl"))
            fresh += [parse(line, name) for line in cursor.read()]
        yield from sorted(fresh, key=attrgetter("at"))
        wait(FOLLOW_SECONDS)


class _Cursor:
    """Where reading a file that grows and is rotated has come to."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._inode = 0
        self._offset = 0

    @classmethod
    def at_end(cls, path: Path) -> _Cursor:
        cursor = cls(path)
        state = path.stat()
        cursor._inode, cursor._offset = state.st_ino, state.st_size
        return cursor

    def read(self) -> list[bytes]:
        """Return the whole lines that came since."""
        lines: list[bytes] = []
        # what the old file got last, then the new one
        rotated = self._path.with_name(self._path.name + ".1")
        for path in (rotated, self._path):
            try:
                file = path.open("rb")
            except FileNotFoundError:
                continue
            with file:
                inode = path.stat().st_ino
                if path is rotated and inode != self._inode:
                    continue
                if path is self._path and inode != self._inode:
                    self._inode, self._offset = inode, 0
                file.seek(self._offset)
                data = file.read()
            whole = data.rfind(b"\n") + 1
            self._offset += whole
            lines += data[:whole].splitlines()
        return lines


def parse(line: bytes, part: str) -> LogLine:
    """Return a line of a part; one that is no JSON is kept as its message."""
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        fields = {"event": line.decode("utf-8", "replace")}
    return LogLine(str(fields.get("timestamp", "")), part, fields)


def _tail(path: Path, part: str) -> list[LogLine]:
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - TAIL_BYTES))
        data = file.read()
    lines = data.splitlines()
    return [parse(line, part) for line in (lines if size <= TAIL_BYTES else lines[1:])]


def _all_lines(folder: Path, part: str) -> Iterator[LogLine]:
    newest = folder / f"{part}.jsonl"
    rotated = sorted(folder.glob(f"{part}.jsonl.*"), reverse=True)
    for path in (*rotated, newest):
        with path.open("rb") as file:
            for line in file:
                yield parse(line.rstrip(b"\n"), part)

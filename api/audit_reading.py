"""Reading the audit log back."""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from api.audit import KEEP
from api.audit_files import opened
from context_engine.clock import parse_utc

_FIELDS = {"client", "scope", "transport", "action", "outcome", "results", "ms"}


@dataclass(frozen=True)
class AuditReport:
    """The last requests that were looked for, oldest first."""

    requests: tuple[dict[str, Any], ...]
    """As they stand in the log. Names in them are callers' words: escape what is shown."""
    unreadable: int
    """Lines that are none of ours, or torn."""


def read_audit(
    path: Path, *, client: str | None = None, since: datetime | None = None, limit: int
) -> AuditReport:
    """Return the last `limit` requests of `client` that are not older than `since`."""
    found: deque[dict[str, Any]] = deque(maxlen=limit)
    unreadable = 0
    for entry in _entries(path):
        if entry is None:
            unreadable += 1
        elif (client is None or entry["client"] == client) and (
            since is None or parse_utc(entry["time"]) >= since
        ):
            found.append(entry)
    return AuditReport(tuple(found), unreadable)


_TAIL_BYTES = 1_000_000
"""How much of the log is looked at for its last requests: some thousands of them."""


def read_last(path: Path, *, client: str | None, limit: int) -> tuple[dict[str, Any], ...]:
    """Return the last requests, newest first, however long the log is: its end alone is read."""
    found: list[dict[str, Any]] = []
    for line in reversed(_tail(path)):
        entry = _entry(line)
        if entry is not None and (client is None or entry["client"] == client):
            found.append(entry)
        if len(found) == limit:
            break
    return tuple(found)


def _tail(path: Path) -> list[bytes]:
    with opened(path, KEEP) as files:
        lines: list[bytes] = []
        left = _TAIL_BYTES
        for file in reversed(files):
            size = file.seek(0, os.SEEK_END)
            start = file.seek(max(0, size - left))
            read = file.read().splitlines()
            # where reading began within a line its rest is none
            lines = read[1 if start else 0 :] + lines
            left -= size
            if left <= 0:
                break
        return lines


def _entries(path: Path) -> Iterator[dict[str, Any] | None]:
    with opened(path, KEEP) as files:
        for file in files:
            for line in file:
                yield _entry(line)


def _entry(line: bytes) -> dict[str, Any] | None:
    try:
        entry: dict[str, Any] = json.loads(line)
        parse_utc(entry["time"])
        whole = entry.keys() >= _FIELDS and isinstance(entry["results"], list)
    except (ValueError, TypeError, KeyError, RecursionError, AttributeError):
        return None
    return entry if whole else None

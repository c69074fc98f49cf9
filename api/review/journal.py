"""The journal of decisions: what each changed, written before it is, so that it can be undone.

One file a decision below `state/review/`: a line about the decision, then one a file changed, with
the bytes before. It holds text of the vault and is as private; `forget` takes out what it names.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from api.review.model import Batch
from context_engine.clock import isoformat, parse_utc
from context_engine.errors import UsageError
from context_engine.home import Home
from context_engine.scopes import Scope
from vault.tombstones import Grave

KEEP = 500
"""Decisions that can be undone; older ones are dropped."""

_BATCH = re.compile(r"[0-9]{20}-[0-9a-f]{6}\Z")


@dataclass(frozen=True)
class Changed:
    """One file before and after. None: there was no file, or is none any more."""

    scope: Scope
    path: str
    before: bytes | None
    after: str | None
    """SHA-256 of the bytes after, hex."""
    insight: str


@dataclass(frozen=True)
class Record:
    """One decision as the journal holds it."""

    batch: Batch
    changes: tuple[Changed, ...]
    graves: tuple[Grave, ...]


class Journal:
    """Writes one decision. Nothing is written until something is recorded."""

    def __init__(self, home: Home, action: str, by: str, now: datetime) -> None:
        self.batch = f"{int(now.timestamp() * 1_000_000):020d}-{secrets.token_hex(3)}"
        self.used = False
        self._folder = folder_of(home)
        self._head = {"action": action, "by": by, "at": isoformat(now)}

    def change(
        self, scope: Scope, path: str, before: bytes | None, after: bytes | None, insight: str
    ) -> None:
        """Record that a file is about to change for the sake of an insight."""
        digest = None if after is None else hashlib.sha256(after).hexdigest()
        kept = None if before is None else base64.b64encode(before).decode()
        self._write(scope=scope.value, path=path, before=kept, after=digest, insight=insight)

    def graves(self, graves: Sequence[Grave], insight: str) -> None:
        """Record that tombstones are about to be set."""
        self._write(graves=[list(grave) for grave in graves], insight=insight)

    def _write(self, **line: Any) -> None:
        lines = [line] if self.used else [self._head, line]
        if not self.used:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            prune(self._folder)
        self.used = True
        append(self._folder / f"{self.batch}.jsonl", lines)


def folder_of(home: Home) -> Path:
    """Return where the journal lies."""
    return home.state / "review"


def append(path: Path, lines: Sequence[dict[str, Any]]) -> None:
    """Add lines durably."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(path, flags, 0o600), "ab") as file:
        file.write(b"".join(orjson.dumps(line) + b"\n" for line in lines))
        file.flush()
        os.fsync(file.fileno())


def mark_undone(home: Home, batch: str, now: datetime) -> None:
    """Record that a decision was taken back."""
    append(folder_of(home) / f"{batch}.jsonl", [{"undone": isoformat(now)}])


def read_records(home: Home) -> Iterator[Record]:
    """Yield the decisions, newest first. One that a kill left without a line is passed over."""
    folder = folder_of(home)
    if not folder.is_dir():
        return
    for path in sorted(folder.glob("*.jsonl"), reverse=True):
        record = _read(path)
        if record is not None:
            yield record


def read_record(home: Home, batch: str) -> Record:
    """Return one decision; raises UsageError when there is none."""
    path = folder_of(home) / f"{batch}.jsonl"
    record = _read(path) if _BATCH.match(batch) and path.is_file() else None
    if record is None:
        raise UsageError(f"there is no decision {batch!a}; see: context-engine review log")
    return record


def changes_in(path: Path) -> tuple[Changed, ...]:
    """Return what the decision in one file of the journal changed."""
    record = _read(path)
    return record.changes if record else ()


def prune(folder: Path) -> None:
    """Drop all but the latest decisions."""
    for path in sorted(folder.glob("*.jsonl"))[: -KEEP + 1]:
        path.unlink(missing_ok=True)


def _read(path: Path) -> Record | None:
    lines = list(_lines(path))
    if not lines or "action" not in lines[0]:
        return None
    head, *rest = lines
    batch = Batch(
        batch=path.stem,
        action=head["action"],
        by=head["by"],
        at=parse_utc(head["at"]),
        insights=tuple(dict.fromkeys(line["insight"] for line in rest if "insight" in line)),
        undone=any("undone" in line for line in rest),
    )
    changes = tuple(_changed(line) for line in rest if "path" in line)
    graves = tuple(tuple(grave) for line in rest for grave in line.get("graves", ()))
    return Record(batch, changes, graves)


def _changed(line: dict[str, Any]) -> Changed:
    before = None if line["before"] is None else base64.b64decode(line["before"])
    return Changed(Scope(line["scope"]), line["path"], before, line["after"], line["insight"])


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_bytes().splitlines():
        try:
            yield orjson.loads(line)
        except orjson.JSONDecodeError:
            # the last line of a writer that was killed: what it announces was not done
            return

"""Invented Claude Code records, and reading them the way the engine does."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from connectors.base import Item, ReadOptions
from connectors.claude import ClaudeConnector
from context_engine.clock import ManualClock
from context_engine.events import (
    BadRecord,
    Checkpoint,
    SourceDocument,
    UnknownRecord,
    Utterance,
    decode_document,
    encode_document,
)

NOW = datetime(2026, 12, 1, tzinfo=UTC)
SESSION = "5d3c0f3e-0000-4000-8000-000000000001"
CWD = "/home/aki/work/shop"
SLUG = "-home-aki-work-shop"

Record = dict[str, Any]


def uuid(number: int) -> str:
    """A version-4 UUID that a test can name."""
    return str(UUID(int=0xA000_0000_0000_4000_8000_0000_0000_0000 | number))


def at(number: int) -> datetime:
    """The time of record `number`."""
    return datetime(2026, 11, 2, 9, tzinfo=UTC) + timedelta(seconds=number)


def record(kind: str, number: int, **fields: Any) -> Record:
    """A record of the conversation's chain: `number` gives uuid, parent and time."""
    return {
        "parentUuid": uuid(number - 1) if number else None,
        "isSidechain": False,
        "userType": "external",
        "cwd": CWD,
        "sessionId": SESSION,
        "version": "2.1.266",
        "gitBranch": "main",
        "type": kind,
        "uuid": uuid(number),
        "timestamp": at(number).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        **fields,
    }


def user(number: int, content: Any, **fields: Any) -> Record:
    return record("user", number, message={"role": "user", "content": content}, **fields)


def assistant(
    number: int, content: Any, message: Mapping[str, Any] | None = None, **fields: Any
) -> Record:
    """An assistant's record; a string becomes a text block, and each has its own API message."""
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    body = {"id": f"msg_{number}", "role": "assistant", "model": "claude-opus-5", "content": blocks}
    fields.setdefault("requestId", f"req_{number}")
    return record("assistant", number, message=body | dict(message or {}), **fields)


def tool_use(name: str, **arguments: Any) -> Record:
    return {"type": "tool_use", "id": "toolu_1", "name": name, "input": arguments}


def tool_result(text: str) -> Record:
    return {"type": "tool_result", "tool_use_id": "toolu_1", "content": text}


def lines(records: Iterable[Any]) -> bytes:
    return b"".join(
        json.dumps(item, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
        for item in records
    )


def write(path: Path, records: Iterable[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lines(records))
    return path


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


class MemoryLedger:
    """Commits like the outbox: events, their ids and reading states together, as JSON."""

    def __init__(self) -> None:
        self.states: dict[str, str] = {}
        self.ids: set[str] = set()
        self.asked = 0

    def checkpoint(self, key: str) -> Mapping[str, Any] | None:
        state = self.states.get(key)
        return None if state is None else dict(json.loads(state))

    def seen(self, native_ids: Sequence[str]) -> set[str]:
        self.asked += 1
        return self.ids & set(native_ids)

    def commit(self, documents: Iterable[SourceDocument], checkpoint: Checkpoint) -> None:
        self.ids |= {item.native_id for document in documents for item in document.utterances}
        self.states[checkpoint.key] = json.dumps(dict(checkpoint.state))


@dataclass
class Reading:
    """All that one run yielded."""

    documents: list[SourceDocument] = field(default_factory=list)
    bad: list[BadRecord] = field(default_factory=list)
    unknown: list[UnknownRecord] = field(default_factory=list)
    checkpoints: list[Checkpoint] = field(default_factory=list)

    @property
    def said(self) -> list[Utterance]:
        return [item for document in self.documents for item in document.utterances]

    @property
    def texts(self) -> list[str]:
        return [item.text for item in self.said]

    @property
    def by_document(self) -> dict[str, list[tuple[int, Utterance]]]:
        """Document and part of every utterance, whatever events carried them."""
        found: dict[str, list[tuple[int, Utterance]]] = {}
        for document in self.documents:
            place = found.setdefault(document.native_id, [])
            place += [(document.part, item) for item in document.utterances]
        return found


def take(reading: Reading, item: Item) -> None:
    if isinstance(item, SourceDocument):
        assert decode_document(encode_document(item)) == item, "an event survives its journey"
        reading.documents.append(item)
    elif isinstance(item, BadRecord):
        reading.bad.append(item)
    elif isinstance(item, UnknownRecord):
        reading.unknown.append(item)
    else:
        reading.checkpoints.append(item)


def read(
    *paths: Path,
    ledger: MemoryLedger | None = None,
    options: ReadOptions | None = None,
    stop_after: int | None = None,
) -> Reading:
    """Read `paths`; with a ledger, what each checkpoint covers is committed.

    stop_after: give up after so many items, as a kill would.
    """
    reading, ledger = Reading(), ledger or MemoryLedger()
    connector = ClaudeConnector(ManualClock(NOW))
    pending: list[SourceDocument] = []
    stream = connector.read(paths, ledger, options or ReadOptions(owner_name="aki"))
    for count, item in enumerate(stream, 1):
        take(reading, item)
        if isinstance(item, SourceDocument):
            pending.append(item)
        elif isinstance(item, Checkpoint):
            ledger.commit(pending, item)
            pending = []
        if count == stop_after:
            break
    return reading

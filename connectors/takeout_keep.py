"""Notes of Google Keep, as Takeout holds them: one JSON file each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from connectors.branches import Node
from connectors.conversation_records import Context, Parsed, Thread, spoken, text_field
from connectors.text import clean_text, first_sentence, parse_time, shorten
from context_engine.clock import Clock
from context_engine.events import BadRecord, Role, UnknownRecord
from context_engine.ids import short_id

_MICROSECONDS = 1_000_000


def parse_note(record: dict[str, Any], place: str, name: str, context: Context) -> Parsed:
    """Return the note as a thread of one message. `name` is its file's, for want of an id."""
    if not {"textContent", "listContent", "title", "isTrashed"} & record.keys():
        return BadRecord(place, "not a Keep note")
    if record.get("isTrashed") is True:
        return UnknownRecord(place, "Keep: note in the trash")
    created = _time(record, "createdTimestampUsec", context.clock)
    edited = _time(record, "userEditedTimestampUsec", context.clock) or created
    text = "\n\n".join(part for part in _parts(record) if part)
    stamp = record.get("createdTimestampUsec")
    key = f"keep/{stamp}" if isinstance(stamp, int) else f"keep/{short_id('note', name)}"
    title = text_field(record, "title")
    # a shared note may hold anybody's words
    shared = isinstance(record.get("sharees"), list) and bool(record["sharees"])
    author, role = (
        ("shared note", Role.OTHER) if shared else (context.options.owner_name, Role.OWNER)
    )
    said = tuple(spoken(key, author, role, edited, text or title))
    return Thread(
        native_id=key,
        title=title or first_sentence(clean_text(text)) or "Keep note",
        nodes=[Node(key, None, edited, said)],
        updated=edited,
        started=created,
        meta=_meta(record),
    )


def _time(record: Mapping[str, Any], name: str, clock: Clock) -> datetime | None:
    value = record.get(name)
    return parse_time(value / _MICROSECONDS, clock) if isinstance(value, int) else None


def _objects(record: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    value = record.get(name)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _parts(record: Mapping[str, Any]) -> Iterator[str]:
    text = record.get("textContent")
    if isinstance(text, str):
        yield text
    yield "\n".join(
        f"- [{'x' if item.get('isChecked') is True else ' '}] {item['text']}"
        for item in _objects(record, "listContent")
        if isinstance(item.get("text"), str)
    )
    yield "\n".join(
        f"- {text_field(item, 'title') or 'link'}: {text_field(item, 'url', 500)}"
        for item in _objects(record, "annotations")
        if text_field(item, "url", 500)
    )


def _meta(record: Mapping[str, Any]) -> dict[str, str]:
    labels = [text_field(item, "name", 60) for item in _objects(record, "labels")]
    files = [text_field(item, "filePath", 80) for item in _objects(record, "attachments")]
    meta = {
        "kind": "keep",
        "labels": ", ".join(label for label in labels if label),
        "archived": "yes" if record.get("isArchived") is True else "",
        "files": shorten(", ".join(file for file in files if file), 300),
    }
    return {name: value for name, value in meta.items() if value}

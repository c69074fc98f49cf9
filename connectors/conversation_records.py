"""What the records of every export of conversations become, and reading their fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from connectors.base import ReadOptions
from connectors.branches import Node
from connectors.text import clean_text, shorten
from context_engine.clock import Clock
from context_engine.events import BadRecord, Role, UnknownRecord, Utterance
from context_engine.ids import short_id

ID_LENGTH = 200
FILES_SHOWN = 20
MESSAGE_LIMIT = 100_000
"""Messages of one conversation."""


@dataclass(frozen=True, slots=True)
class Context:
    """What reading a record needs besides the record.

    projects: names by id, as far as the export tells them.
    """

    options: ReadOptions
    clock: Clock
    projects: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Findings:
    """What a conversation holds besides its words."""

    problems: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    files: dict[str, None] = field(default_factory=dict)

    def meet(self, what: str, kind: object) -> None:
        """Note something of a kind that is not known here."""
        self.unknown.append(shorten(f"{what} {clean_text(str(kind)[:200])}", 60))

    def file_names(self) -> str:
        """Return the names of attached files for a note's front matter."""
        return ", ".join(list(self.files)[:FILES_SHOWN])


@dataclass(frozen=True, slots=True)
class Thread:
    """A conversation (or a page of notes) as its export holds it, without what was left out.

    updated: when it last changed; an older export never overwrites a newer one.
    problems, unknown: parts of it that could not be read, and kinds that are not known.
    """

    native_id: str
    title: str
    nodes: list[Node]
    leaf: str | None = None
    updated: datetime | None = None
    started: datetime | None = None
    project: str | None = None
    url: str | None = None
    meta: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


Parsed = Thread | BadRecord | UnknownRecord | None


def text_field(record: Mapping[str, Any], name: str, limit: int = ID_LENGTH) -> str:
    """Return the text in a field as one clean line of at most `limit` characters, or nothing."""
    value = record.get(name)
    return shorten(clean_text(value), limit) if isinstance(value, str) else ""


def key_field(record: Mapping[str, Any], *names: str) -> str:
    """Return the first of these fields that can be an id; a very long one is digested."""
    for name in names:
        value = record.get(name)
        if isinstance(value, str) and (key := clean_text(value)):
            return key if len(key) <= ID_LENGTH else short_id("key", key)
    return ""


def spoken(
    key: str, author: str, role: Role, at: datetime | None, text: str
) -> Iterator[Utterance]:
    """Yield what was said as an utterance, unless it is empty."""
    words = clean_text(text)
    if words:
        yield Utterance(key, author, role, at, words)

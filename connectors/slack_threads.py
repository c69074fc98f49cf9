"""Messages of Slack into documents: a thread, or a day of a channel outside threads.

The same for an export and for the Web API, so that what one collected the other does not again.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from connectors.base import Item, Ledger, ReadOptions
from connectors.pieces import PartCounter
from connectors.revisions import FOR_GOOD, UNITS, Unit, Units, remember
from connectors.slack_directory import Channel, Directory
from connectors.slack_messages import (
    NOISE,
    SPEECH,
    TOMBSTONE,
    Message,
    Speaker,
    in_thread,
    parse_message,
    said,
    time_of,
)
from connectors.slack_render import Renderer
from connectors.text import first_sentence, shorten
from context_engine.clock import Clock
from context_engine.events import BadRecord, SourceDocument, UnknownRecord

SOURCE = "slack"
REMEMBERED = 50_000
"""Threads of this run whose title and length are kept at hand."""

_MARKS = re.compile(r"\*\*|~~|`+")
_WORKSPACE = re.compile(r"https://([a-z0-9][a-z0-9-]{0,60}(?:\.enterprise)?)\.slack\.com/files/")


@dataclass
class _Thread:
    """What later messages need to know of a thread."""

    title: str = ""
    counter: PartCounter = field(default_factory=PartCounter)


@dataclass(frozen=True, slots=True)
class Export:
    """What one export says about itself, and how its messages are rendered."""

    directory: Directory
    speaker: Speaker


def export_of(directory: Directory, owner_name: str) -> Export:
    """Return the export of these people and channels."""
    owners = directory.owner_ids(owner_name)
    return Export(directory, Speaker(directory, Renderer(directory), owners, owner_name))


@dataclass(frozen=True, slots=True)
class Place:
    """Where a message lies."""

    place: str
    channel: Channel
    export: Export


class Messages:
    """Puts the messages of one run into their documents."""

    def __init__(self, ledger: Ledger, options: ReadOptions, clock: Clock) -> None:
        self._ledger, self._options, self._clock = ledger, options, clock
        self._threads: OrderedDict[str, _Thread] = OrderedDict()
        self._units = Units(ledger, clock, kept=0 if options.follow else UNITS)

    def open(self, channel: Channel, day: str) -> Unit:
        """Return what was sent of the messages that a channel holds of one day (UTC)."""
        return self._units.open(f"{SOURCE}:{channel.channel_id}/{day}")

    def close(self, unit: Unit) -> Iterator[Item]:
        """Yield what is new in a unit, and remember it."""
        return self._units.close(unit)

    def parse(self, record: Any, place: str) -> Message | BadRecord | UnknownRecord:
        """Return the message in a record, or why there is none."""
        if not isinstance(record, dict):
            return BadRecord(place, "not a JSON object")
        kind = record.get("type", "message")
        if kind != "message":
            return UnknownRecord(place, str(kind)[:60])
        subtype = record.get("subtype")
        if isinstance(subtype, str) and subtype in NOISE:
            return UnknownRecord(place, subtype)
        message = parse_message(record, self._clock)
        return BadRecord(place, message) if isinstance(message, str) else message

    def take(self, unit: Unit, message: Message, at: Place) -> Iterator[UnknownRecord]:
        """Add a message to the unit of its day; yields what of it is not known."""
        document, counter = self._document(message, at)
        native_id = f"{at.channel.channel_id}:{message.ts}"
        if message.subtype == TOMBSTONE:
            if not unit.knows(native_id):
                yield UnknownRecord(at.place, TOMBSTONE)
            self._withdraw(unit, message, at, edited=FOR_GOOD)
            return
        if message.subtype is not None and message.subtype not in SPEECH:
            # its text is taken all the same: a new kind of message is still a message
            yield UnknownRecord(at.place, message.subtype, kept=True)
        said_ids = set()
        for utterance in at.export.speaker.utterances(message, at.channel):
            unit.add(document, utterance, counter, edited=message.edited)
            said_ids.add(utterance.native_id)
        if said_ids and f"{native_id}/shown" not in said_ids:
            unit.withdraw(document, f"{native_id}/shown", at=message.at)

    def gone(self, unit: Unit, message: Message, at: Place) -> None:
        """Withdraw a message that its channel does not show; it comes back when it is met again."""
        self._withdraw(unit, message, at, edited=0)

    def _withdraw(self, unit: Unit, message: Message, at: Place, *, edited: int) -> None:
        document, _ = self._document(message, at)
        native_id, title = f"{at.channel.channel_id}:{message.ts}", ""
        thread = f"{at.channel.channel_id}/{message.ts}"
        if unit.document_of(native_id) == thread:
            # the first sentence of what goes is the thread's title, too
            title = f"{at.channel.label} thread"
            remember(self._threads, thread, _Thread(title), REMEMBERED)
        for name in (native_id, f"{native_id}/shown"):
            unit.withdraw(document, name, at=message.at, edited=edited, title=title)

    def _document(self, message: Message, at: Place) -> tuple[SourceDocument, PartCounter]:
        """Return the document a message belongs to, and the counter of its parts."""
        channel = at.channel
        threaded = in_thread(message)
        first = (message.thread_ts or message.ts) if threaded else message.ts
        name = first if threaded else f"{message.at:%Y-%m-%d}"
        native_id = f"{channel.channel_id}/{name}"
        thread = self._threads.get(native_id) or _Thread()
        remember(self._threads, native_id, thread, REMEMBERED)
        if not threaded:
            title = f"{channel.label} {name}"
        else:
            title = thread.title = thread.title or self._thread_title(message, at)
        document = SourceDocument(
            source=SOURCE,
            native_id=native_id,
            scope=self._options.scope_of(None),
            project=self._options.project,
            title=title,
            utterances=(),
            started=time_of(first, self._clock),
            url=_url(at, message, first),
            meta={
                "kind": "thread" if threaded else "day",
                "channel": channel.label,
                "channel_id": channel.channel_id,
            },
        )
        return document, thread.counter

    def _thread_title(self, message: Message, at: Place) -> str:
        """Return a title from the thread's first message, from a reply when nothing else is had.

        Empty when the first message came with an earlier export: then there is a title already.
        """
        channel = at.channel
        if message.subtype == TOMBSTONE:
            return ""
        if message.ts != message.thread_ts:
            parent = f"{channel.channel_id}:{message.thread_ts}"
            if self._ledger.seen([parent]):
                return ""
        sentence = _MARKS.sub("", first_sentence(said(at.export.speaker.renderer, message)))
        return shorten(
            f"{channel.label}: {sentence}" if sentence else f"{channel.label} thread", 120
        )


def _url(at: Place, message: Message, first: str) -> str | None:
    """Return the address of a message, when a file's address told the workspace's."""
    directory = at.export.directory
    items = message.record.get("files") or [message.record.get("file")]
    for item in items if isinstance(items, list) and directory.domain is None else ():
        permalink = item.get("permalink") if isinstance(item, dict) else None
        match = _WORKSPACE.match(permalink) if isinstance(permalink, str) else None
        if match and match[1] != "files":
            directory.domain = match[1]
    if directory.domain is None or at.channel.channel_id.startswith("name:"):
        return None
    return (
        f"https://{directory.domain}.slack.com/archives/{at.channel.channel_id}"
        f"/p{first.replace('.', '')}"
    )


def unknown_blocks(renderer: Renderer, place: str) -> Iterator[UnknownRecord]:
    """Yield the blocks of unknown types that were met since the last call."""
    for name, count in renderer.unknown.items():
        yield from (UnknownRecord(place, f"block {name}", kept=True) for _ in range(count))
    renderer.unknown.clear()

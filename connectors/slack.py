"""Slack exports: folders and zips of `<channel>/YYYY-MM-DD.json`, and dumps of single channels.

A thread is a document, and so is what was said outside threads in one channel on one day (UTC).
A message is known by channel and `ts`; an edited one replaces its earlier version in place.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from connectors.archive import Member, walk_members
from connectors.base import Item, Ledger, ReadOptions
from connectors.pieces import PartCounter
from connectors.reports import named_or_counted
from connectors.revisions import Unit, Units, remember
from connectors.slack_directory import METADATA, Channel, Directory
from connectors.slack_files import (
    channel_and_messages,
    list_in,
    named_by_dump,
    not_ours,
    root_of,
    value_in,
    with_replies,
)
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
from connectors.walk import existing_roots
from context_engine.clock import Clock, SystemClock
from context_engine.errors import BadInputError
from context_engine.events import BadRecord, SourceDocument, UnknownRecord

SOURCE = "slack"
REMEMBERED = 50_000
"""Threads of this run whose title and length are kept at hand."""
_MARKS = re.compile(r"\*\*|~~|`+")
_WORKSPACE = re.compile(r"https://([a-z0-9][a-z0-9-]{0,60}(?:\.enterprise)?)\.slack\.com/files/")


class SlackConnector:
    """The source `slack`."""

    name = SOURCE
    accepts = "Slack: a workspace export (folder or zip), or channel files written by slackdump"
    default_paths: tuple[Path, ...] = ()

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()

    def read(self, paths: Sequence[Path], ledger: Ledger, options: ReadOptions) -> Iterator[Item]:
        """Yield threads and days of channels as far as they are new or changed.

        Raises UsageError when no path is given or none exists.
        """
        roots = existing_roots(
            paths, "name a Slack export: its folder, its zip, or a file of a channel"
        )
        run = _Run(ledger, options, self._clock)
        yield from run.directories(roots)
        for item in walk_members(roots, options.progress):
            if not isinstance(item, Member):
                yield item
            elif item.name not in METADATA:
                yield from run.member(item)


@dataclass
class _Thread:
    """What later files need to know of a thread."""

    title: str = ""
    counter: PartCounter = field(default_factory=PartCounter)


@dataclass(frozen=True, slots=True)
class _Export:
    """What one export says about itself, and how its messages are rendered."""

    directory: Directory
    speaker: Speaker


class _Run:
    """Reads the files of one run."""

    def __init__(self, ledger: Ledger, options: ReadOptions, clock: Clock) -> None:
        self._ledger, self._options, self._clock = ledger, options, clock
        self._exports: dict[str, _Export] = {}
        self._threads: OrderedDict[str, _Thread] = OrderedDict()
        self._units = Units(ledger)

    def directories(self, roots: Sequence[Path]) -> Iterator[Item]:
        """Read who and what ids mean, wherever below `roots` (or right above) it is told."""
        above = [
            folder / name
            for root in roots
            for folder in root.absolute().parents[:2]
            for name in METADATA
            if (folder / name).is_file()
        ]
        directories: dict[str, Directory] = {}
        for item in walk_members([*above, *roots]):
            if isinstance(item, Member) and item.name in METADATA:
                directory = directories.setdefault(root_of(item.place), Directory())
                try:
                    directory.take(item.name, list_in(item))
                except BadInputError as error:
                    yield BadRecord(error.place, error.reason)
        self._exports = {root: self._export(each) for root, each in directories.items()}

    def _export(self, directory: Directory) -> _Export:
        owners = directory.owner_ids(self._options.owner_name)
        speaker = Speaker(directory, Renderer(directory), owners, self._options.owner_name)
        return _Export(directory, speaker)

    def _export_of(self, place: str) -> _Export:
        """Return the export a file belongs to: the one whose root is nearest above it."""
        root = root_of(place)
        while root and root not in self._exports:
            root = root_of(root[:-1])
        if root not in self._exports:
            self._exports[root] = self._export(Directory())
        return self._exports[root]

    def member(self, member: Member) -> Iterator[Item]:
        """Read one file: a day of a channel, a dump of a channel, or what is neither."""
        if not member.name.lower().endswith(".json"):
            yield not_ours(member)
            return
        try:
            value = value_in(member)
        except BadInputError as error:
            yield BadRecord(error.place, error.reason)
            return
        folder, records = channel_and_messages(member, value)
        if records is None:
            yield not_ours(member)
            return
        export = self._export_of(member.place)
        channel = export.directory.channel(folder, export.speaker.owners)
        if isinstance(value, dict) and export.directory.channel_name(channel.channel_id) is None:
            channel = named_by_dump(channel, value)
        yield from named_or_counted(
            self._file(member.place, channel, export, records), member.place
        )

    def _file(
        self, place: str, channel: Channel, export: _Export, records: list[Any]
    ) -> Iterator[Item]:
        messages: list[Message] = []
        for number, record in enumerate(with_replies(records), 1):
            message = self._message(record, f"{place}#{number}")
            if isinstance(message, Message):
                messages.append(message)
            elif message is not None:
                yield message
        messages.sort(key=lambda message: message.order)
        for day, group in groupby(messages, lambda message: f"{message.at:%Y-%m-%d}"):
            key = f"{SOURCE}:{channel.channel_id}/{day}"
            unit = self._units.open(key)
            for message in group:
                yield from self._take(unit, message, _Place(place, channel, export))
            yield from self._units.close(unit)
        yield from _unknown_blocks(export.speaker.renderer, place)

    def _message(self, record: Any, place: str) -> Message | BadRecord | UnknownRecord | None:
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

    def _take(self, unit: Unit, message: Message, at: _Place) -> Iterator[Item]:
        document, counter = self._document(message, at)
        native_id = f"{at.channel.channel_id}:{message.ts}"
        if message.subtype == TOMBSTONE:
            if not unit.knows(native_id):
                yield UnknownRecord(at.place, TOMBSTONE)
            for name in (native_id, f"{native_id}/shown"):
                unit.withdraw(document, name, at=message.at)
            return
        if message.subtype is not None and message.subtype not in SPEECH:
            # its text is taken all the same: a new kind of message is still a message
            yield UnknownRecord(at.place, message.subtype)
        said_ids = set()
        for utterance in at.export.speaker.utterances(message, at.channel):
            unit.add(document, utterance, counter)
            said_ids.add(utterance.native_id)
        if said_ids and f"{native_id}/shown" not in said_ids:
            unit.withdraw(document, f"{native_id}/shown", at=message.at)

    def _document(self, message: Message, at: _Place) -> tuple[SourceDocument, PartCounter]:
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

    def _thread_title(self, message: Message, at: _Place) -> str:
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


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a message lies."""

    place: str
    channel: Channel
    export: _Export


def _url(at: _Place, message: Message, first: str) -> str | None:
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


def _unknown_blocks(renderer: Renderer, place: str) -> Iterator[UnknownRecord]:
    for name, count in renderer.unknown.items():
        yield from (UnknownRecord(place, f"block {name}") for _ in range(count))
    renderer.unknown.clear()


CONNECTOR = SlackConnector()

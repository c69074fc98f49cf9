"""Slack exports: folders and zips of `<channel>/YYYY-MM-DD.json`, and dumps of single channels.

A thread is a document, and so is what was said outside threads in one channel on one day (UTC).
A message is known by channel and `ts`; an edited one replaces its earlier version in place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from connectors.archive import Member, walk_members
from connectors.base import Item, Ledger, ReadOptions
from connectors.look import Guess, Look
from connectors.reports import read_members
from connectors.slack_directory import METADATA, Channel, Directory
from connectors.slack_files import (
    channel_and_messages,
    is_day,
    list_in,
    named_by_dump,
    not_ours,
    root_of,
    value_in,
    with_replies,
)
from connectors.slack_messages import Message
from connectors.slack_threads import SOURCE, Export, Messages, Place, export_of, unknown_blocks
from connectors.walk import existing_roots
from context_engine.clock import Clock, SystemClock
from context_engine.errors import BadInputError
from context_engine.events import BadRecord


class SlackConnector:
    """The source `slack`."""

    name = SOURCE
    accepts = "Slack: a workspace export (folder or zip), or channel files written by slackdump"
    default_paths: tuple[Path, ...] = ()

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()

    def recognise(self, look: Look) -> Guess | None:
        """Return what `look` shows, None when it is nothing of this source's."""
        days = look.holding((".json",), b'"ts"', b'"type"')
        days = tuple(file for file in days if is_day(file.path))
        dumps = look.holding((".json",), b'"messages"', b'"ts"')
        if not days and not dumps:
            return None
        folders = {file.path.rpartition("/")[0] for file in look.files if is_day(file.path)}
        channels = look.counted(len(folders) + len(dumps), "channel")
        return Guess(f"a Slack export ({channels})")

    def read(self, paths: Sequence[Path], ledger: Ledger, options: ReadOptions) -> Iterator[Item]:
        """Yield threads and days of channels as far as they are new or changed.

        Raises UsageError when no path is given or none exists.
        """
        roots = existing_roots(
            paths, "name a Slack export: its folder, its zip, or a file of a channel"
        )
        run = _Run(ledger, options, self._clock)
        yield from run.directories(roots)
        yield from read_members(roots, options, run.member)


class _Run:
    """Reads the files of one run."""

    def __init__(self, ledger: Ledger, options: ReadOptions, clock: Clock) -> None:
        self._owner_name = options.owner_name
        self._exports: dict[str, Export] = {}
        self._messages = Messages(ledger, options, clock)

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
        self._exports = {
            root: export_of(each, self._owner_name) for root, each in directories.items()
        }

    def _export_of(self, place: str) -> Export:
        """Return the export a file belongs to: the one whose root is nearest above it."""
        root = root_of(place)
        while root and root not in self._exports:
            root = root_of(root[:-1])
        if root not in self._exports:
            self._exports[root] = export_of(Directory(), self._owner_name)
        return self._exports[root]

    def member(self, member: Member) -> Iterator[Item]:
        """Read one file: a day of a channel, a dump of a channel, or what is neither."""
        if member.name in METADATA:
            return
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
        yield from self._file(member.place, channel, export, records)

    def _file(
        self, place: str, channel: Channel, export: Export, records: list[Any]
    ) -> Iterator[Item]:
        messages: list[Message] = []
        for number, record in enumerate(with_replies(records), 1):
            message = self._messages.parse(record, f"{place}#{number}")
            if isinstance(message, Message):
                messages.append(message)
            else:
                yield message
        messages.sort(key=lambda message: message.order)
        for day, group in groupby(messages, lambda message: f"{message.at:%Y-%m-%d}"):
            unit = self._messages.open(channel, day)
            for message in group:
                yield from self._messages.take(unit, message, Place(place, channel, export))
            yield from self._messages.close(unit)
        yield from unknown_blocks(export.speaker.renderer, place)


CONNECTOR = SlackConnector()

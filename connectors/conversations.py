"""Exports of whole conversations: what is new or changed in them becomes events.

An export repeats everything that the one before it held. A conversation is known by its id; its
checkpoint remembers the version of every message. A file is remembered too, so that the same one
is not read again, and a run that was killed goes on behind the last conversation it committed.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO

from connectors.archive import Member
from connectors.base import Item, Ledger, ReadOptions
from connectors.branches import abandoned, in_order
from connectors.claude_layout import unknown_kind
from connectors.conversation_records import Parsed, Thread
from connectors.json_stream import Element, elements
from connectors.pieces import PartCounter
from connectors.reports import read_members
from connectors.revisions import Unit
from connectors.text import first_sentence
from context_engine.clock import parse_utc
from context_engine.errors import BadInputError
from context_engine.events import (
    BadRecord,
    Checkpoint,
    Role,
    SourceDocument,
    UnknownRecord,
)

STATE_VERSION = 1
CHECKPOINT_RECORDS = 200
"""Conversations without news after which the position in the file is committed all the same."""
REMEMBERED = 600
"""Conversations of this run whose state is kept at hand: more than one commit holds."""
ABANDONED_SHOWN = 10


Parse = Callable[[dict[str, Any], str], Parsed]
"""Turns a record, and what to call it, into a thread; None when it holds nothing to keep."""


class Reader:
    """Reads the files of one run of one source."""

    def __init__(self, source: str, ledger: Ledger, options: ReadOptions) -> None:
        self._source, self._ledger, self._options = source, ledger, options
        self._states: OrderedDict[str, Mapping[str, Any]] = OrderedDict()

    def exports(
        self, roots: Sequence[Path], is_ours: Callable[[Member], bool], parse: Parse
    ) -> Iterator[Item]:
        """Yield what is new in the files below `roots` that are ours, and name what is not."""

        def read(member: Member) -> Iterator[Item]:
            if is_ours(member):
                yield from self.file(member, parse)
            elif member.named:
                yield BadRecord(member.place, f"not an export of {self._source} (.json or .zip)")
            else:
                yield UnknownRecord(member.place, unknown_kind(Path(member.name)))

        yield from read_members(roots, self._options, read)

    def file(self, member: Member, parse: Parse) -> Iterator[Item]:
        """Yield what is new in one file of records."""
        if self.is_done(member):
            return
        try:
            with member.open() as stream:
                yield from self.records(member, stream, parse)
        except BadInputError as error:
            yield BadRecord(error.place, error.reason)

    def is_done(self, member: Member) -> bool:
        """Say whether these very bytes were read to their end before."""
        return self._position_of(member).get("done") is True

    def done(self, member: Member) -> Checkpoint:
        """Return what says that all of a file was read and sent."""
        return _position(self._key(member), 0, done=True)

    def _key(self, member: Member) -> str:
        return f"{self._source}:file:{member.identity}"

    def _position_of(self, member: Member) -> Mapping[str, Any]:
        state = self._ledger.checkpoint(self._key(member)) or {}
        return state if state.get("version") == STATE_VERSION else {}

    def records(self, member: Member, stream: BinaryIO, parse: Parse) -> Iterator[Item]:
        """Yield what is new in the records that `stream`, the opened `member`, holds."""
        key, state = self._key(member), self._position_of(member)
        done = state.get("records")
        resumed = committed = number = done if isinstance(done, int) else 0
        try:
            for element in elements(stream):
                if element.number <= resumed:
                    continue
                yield from self._record(element, member.place, parse)
                number = element.number
                if number - committed >= CHECKPOINT_RECORDS:
                    yield _position(key, number, done=False)
                    committed = number
        except BadInputError as error:
            yield BadRecord(error.place, error.reason)
            return
        yield _position(key, number, done=True)

    def _record(self, element: Element, file: str, parse: Parse) -> Iterator[Item]:
        place = f"{file}#{element.number}"
        record = element.parse()
        if isinstance(record, str):
            yield BadRecord(place, record)
            return
        parsed = parse(record, place)
        if isinstance(parsed, Thread):
            digest = blake2b(element.data, digest_size=12).hexdigest()
            yield from self.thread(parsed, place, digest)
        elif parsed is not None:
            yield parsed

    def thread(self, thread: Thread, place: str, digest: str) -> Iterator[Item]:
        """Yield what is new of one conversation. `digest` stands for all that was read of it."""
        key = f"{self._source}:{thread.native_id}"
        known = self._states.get(key) or self._ledger.checkpoint(key)
        if known is not None and known.get("digest") == digest:
            return
        yield from (BadRecord(place, reason) for reason in thread.problems)
        yield from (UnknownRecord(place, kind) for kind in thread.unknown)
        unit = Unit(key, known)
        stale = _is_older(thread, known)
        document = self._document(thread, stale=stale)
        counter = PartCounter()
        for node in in_order(thread.nodes):
            for utterance in node.said:
                if stale and unit.knows(utterance.native_id):
                    counter.place(len(utterance.text))
                else:
                    unit.add(document, utterance, counter)
        for item in unit.items():
            if isinstance(item, Checkpoint):
                yield self._checkpoint(item, thread, digest, known if stale else None)
            else:
                yield item

    def _checkpoint(
        self, made: Checkpoint, thread: Thread, digest: str, newer: Mapping[str, Any] | None
    ) -> Checkpoint:
        updated = thread.updated.isoformat() if thread.updated else None
        own = {"updated": updated, "digest": digest}
        if newer is not None:
            own = {name: newer.get(name) for name in own}
        checkpoint = Checkpoint(made.key, {**made.state, **own})
        self._states[made.key] = checkpoint.state
        if len(self._states) > REMEMBERED:
            self._states.popitem(last=False)
        return checkpoint

    def _document(self, thread: Thread, *, stale: bool) -> SourceDocument:
        title = thread.title or _first_words(thread) or "Conversation"
        left = abandoned(thread.nodes, thread.leaf)
        meta = dict(thread.meta)
        if left:
            meta["abandoned"] = " ".join(left[:ABANDONED_SHOWN])
        return SourceDocument(
            source=self._source,
            native_id=thread.native_id,
            scope=self._options.scope_of(None),
            # without a title a note keeps the one it has
            title="" if stale else title,
            utterances=(),
            started=thread.started,
            project=self._options.project or thread.project,
            url=thread.url,
            meta=meta,
        )


def _position(key: str, records: int, *, done: bool) -> Checkpoint:
    return Checkpoint(key, {"version": STATE_VERSION, "records": records, "done": done})


def _is_older(thread: Thread, known: Mapping[str, Any] | None) -> bool:
    updated = (known or {}).get("updated")
    if not isinstance(updated, str) or thread.updated is None:
        return False
    try:
        return thread.updated < parse_utc(updated)
    except ValueError:
        return False


def _first_words(thread: Thread) -> str:
    said = (each for node in in_order(thread.nodes) for each in node.said)
    return next((first_sentence(each.text) for each in said if each.role is Role.OWNER), "")

"""Sending each message of a unit again exactly when its source changed it.

A unit is what a source gives as one whole: a file, a day of a channel, a comment. Its checkpoint
remembers of every message the version that was sent and the part of the document it lies in, so
that a message keeps its place however the text around it grows, and only news becomes events.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, TypeVar

from connectors.base import EVENT_LIMIT, Item, Ledger
from connectors.pieces import PartCounter, split_utterance
from context_engine.events import Checkpoint, Role, SourceDocument, Utterance
from context_engine.ids import long_id, short_id

REMOVED = "(removed at the source)"
"""Text that takes the place of a message which its source no longer holds."""

MOVED = "(continued in a thread of its own)"
"""Text that takes the place of a message which its source put into another document."""

EVENT_UTTERANCES = 500
"""Utterances of one event: thousands of one-word messages are bounded too."""

STATE_VERSION = 1

UNITS = 600
"""Units of one run whose state is kept at hand: more than one commit holds."""

UNIT_MESSAGES = 200_000
"""Messages in the states kept at hand."""

_Value = TypeVar("_Value")


@dataclass(slots=True)
class _Sent:
    """The version of a message that was sent, and where it lies."""

    version: str
    part: int
    document: str


@dataclass(slots=True)
class _Outgoing:
    """What is to be sent of one document. `last` is its last message, sent before or not."""

    template: SourceDocument
    placed: list[tuple[int, Utterance]] = field(default_factory=list)
    last: tuple[int, Utterance] | None = None


class Unit:
    """Compares one unit with what was sent of it before. `state` is that of its checkpoint."""

    def __init__(self, key: str, state: Mapping[str, Any] | None) -> None:
        self._key = key
        self._sent, self._fronts = _load(state)
        self._met: set[str] = set()
        self._outgoing: dict[str, _Outgoing] = {}
        self._changed = state is None
        stamp = state.get("stamp") if state else None
        self._stamp = stamp if isinstance(stamp, str) else ""

    @property
    def stamp(self) -> str:
        """What `mark` noted last, in an earlier reading too; empty at first."""
        return self._stamp

    def mark(self, stamp: str) -> None:
        """Note which version was read, for sources whose versions may arrive in any order."""
        self._changed = self._changed or stamp != self._stamp
        self._stamp = stamp

    def add(self, document: SourceDocument, utterance: Utterance, counter: PartCounter) -> None:
        """Take in a message. `document` is the one it belongs to, without utterances.

        The same message again in one reading adds nothing.
        """
        outgoing = self._outgoing.setdefault(document.native_id, _Outgoing(document))
        if not outgoing.template.title:
            outgoing.template = document
        for piece in split_utterance(utterance):
            if piece.native_id not in self._met:
                self._met.add(piece.native_id)
                self._piece(outgoing, piece, counter.place(len(piece.text)))

    def knows(self, native_id: str) -> bool:
        """Say whether a version of this message was sent before."""
        return native_id in self._sent

    def withdraw(
        self,
        template: SourceDocument,
        native_id: str,
        text: str = REMOVED,
        at: datetime | None = None,
    ) -> None:
        """Replace a message that was sent before by `text`, in the document where it lies.

        template: gives all but the document's name and title. at: when the message was said.
        """
        sent = self._sent.get(native_id)
        if sent is None:
            return
        self._met.add(native_id)
        notice = Utterance(native_id, "source", Role.OTHER, at, text)
        version = _version_of(notice)
        if sent.version != version:
            # no title: it stays what it is
            old = replace(template, native_id=sent.document, title="")
            outgoing = self._outgoing.setdefault(sent.document, _Outgoing(old))
            outgoing.placed.append((sent.part, notice))
            self._sent[native_id] = replace(sent, version=version)
            self._changed = True

    def withdraw_missing(self, template: SourceDocument) -> None:
        """Withdraw every message that this reading did not meet: the unit is all there is."""
        for native_id in [name for name in self._sent if name not in self._met]:
            self.withdraw(template, native_id)

    def items(self) -> Iterator[Item]:
        """Yield the news as events and then, when there are any, the unit's checkpoint."""
        for outgoing in self._outgoing.values():
            self._front(outgoing)
            yield from pack(outgoing.template, outgoing.placed)
        if self._changed:
            yield Checkpoint(self._key, self.state())

    def state(self) -> dict[str, Any]:
        """Return what the constructor takes; JSON values."""
        sent = {name: [it.version, it.part, it.document] for name, it in self._sent.items()}
        state = {"version": STATE_VERSION, "messages": sent, "fronts": self._fronts}
        return {**state, "stamp": self._stamp} if self._stamp else state

    def _piece(self, outgoing: _Outgoing, piece: Utterance, part: int) -> None:
        document, version = outgoing.template.native_id, _version_of(piece)
        sent = self._sent.get(piece.native_id)
        if sent is not None and sent.document != document:
            self.withdraw(outgoing.template, piece.native_id, MOVED, piece.at)
            sent = None
        part = sent.part if sent else part
        outgoing.last = (part, piece)
        if sent is None or sent.version != version:
            outgoing.placed.append(outgoing.last)
            self._sent[piece.native_id] = _Sent(version, part, document)
            self._changed = True

    def _front(self, outgoing: _Outgoing) -> None:
        """Send the last message again when only the title or the metadata changed."""
        template = outgoing.template
        front = _front_of(template)
        if not template.title or self._fronts.get(template.native_id) == front:
            return
        if not outgoing.placed and outgoing.last:
            outgoing.placed.append(outgoing.last)
        self._fronts[template.native_id] = front
        self._changed = True


class Units:
    """The units of one run: those read a moment ago are not committed yet, so they are kept."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._recent: OrderedDict[str, Mapping[str, Any]] = OrderedDict()
        self._messages = 0

    def open(self, key: str) -> Unit:
        """Return the unit of this checkpoint key as it was left."""
        return Unit(key, self._recent.get(key) or self._ledger.checkpoint(key))

    def close(self, unit: Unit) -> Iterator[Item]:
        """Yield what `unit.items()` yields and remember its state."""
        for item in unit.items():
            if isinstance(item, Checkpoint):
                self._keep(item.key, item.state)
            yield item

    def _keep(self, key: str, state: Mapping[str, Any]) -> None:
        self._messages += len(state["messages"]) - _size(self._recent.pop(key, {}))
        self._recent[key] = state
        while len(self._recent) > UNITS or (
            self._messages > UNIT_MESSAGES and len(self._recent) > 1
        ):
            self._messages -= _size(self._recent.popitem(last=False)[1])


def _size(state: Mapping[str, Any]) -> int:
    return len(state.get("messages", ()))


def remember(kept: OrderedDict[str, _Value], key: str, value: _Value, limit: int) -> None:
    """Put a value in front of `kept`, which holds the latest `limit`."""
    kept[key] = value
    kept.move_to_end(key)
    if len(kept) > limit:
        kept.popitem(last=False)


def pack(
    template: SourceDocument, placed: Iterable[tuple[int, Utterance]]
) -> Iterator[SourceDocument]:
    """Yield `template` with these messages, each with its part, in events of bounded size."""
    by_part: dict[int, list[Utterance]] = {}
    for part, utterance in placed:
        by_part.setdefault(part, []).append(utterance)
    for part, utterances in by_part.items():
        for group in _groups(utterances):
            yield replace(
                template,
                utterances=tuple(group),
                part=part,
                version=_content(template, group),
            )


def _groups(utterances: Sequence[Utterance]) -> Iterator[list[Utterance]]:
    group: list[Utterance] = []
    characters = 0
    for utterance in utterances:
        length = len(utterance.text)
        if group and (characters + length > EVENT_LIMIT or len(group) >= EVENT_UTTERANCES):
            yield group
            group, characters = [], 0
        group.append(utterance)
        characters += length
    if group:
        yield group


def _content(template: SourceDocument, group: Sequence[Utterance]) -> str:
    messages = (piece for u in group for piece in (u.native_id, u.role, u.author, u.text))
    return long_id(_front_of(template), *messages)


def _version_of(utterance: Utterance) -> str:
    # not the author: a person who takes another name has not said everything again
    return short_id("version", utterance.role.value, utterance.text)


def _front_of(document: SourceDocument) -> str:
    meta = [word for item in sorted(document.meta.items()) for word in item]
    return short_id("front", document.title, document.project or "", *meta)


def _load(state: Mapping[str, Any] | None) -> tuple[dict[str, _Sent], dict[str, str]]:
    """Return what `Unit.state` saved; nothing when another version saved it."""
    if not state or state.get("version") != STATE_VERSION:
        return {}, {}
    try:
        sent = {name: _Sent(*values) for name, values in state["messages"].items()}
        return sent, dict(state["fronts"])
    except (AttributeError, KeyError, TypeError, ValueError):
        return {}, {}

"""Sending each message of a unit again exactly when its source changed it.

A unit is what a source gives as one whole: a file, a day of a channel, a comment. Its checkpoint
remembers of every message the version that was sent and the part of the document it lies in, so
that a message keeps its place however the text around it grows, and only news becomes events.
What changes something that was sent before gets a `revision`, so that the latest state counts,
one that was there before too.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, TypeVar

from connectors.base import Item, Ledger
from connectors.packing import front_of, pack
from connectors.pieces import PartCounter, split_utterance
from context_engine.clock import Clock, SystemClock
from context_engine.events import MOVED, REMOVED, Checkpoint, Role, SourceDocument, Utterance
from context_engine.ids import short_id

FOR_GOOD = 1 << 62
"""For `edited` of what was deleted where nothing comes back: later than any edit."""

STATE_VERSION = 1

UNITS = 600
"""Units of one run whose state is kept at hand: more than one commit holds."""

UNIT_MESSAGES = 200_000
"""Messages in the states kept at hand."""

_Value = TypeVar("_Value")


@dataclass(slots=True)
class _Sent:
    """The version of a message that was sent, where it lies, and when its source edited it."""

    version: str
    part: int
    document: str
    edited: int = 0

    def state(self) -> list[Any]:
        state = [self.version, self.part, self.document]
        return [*state, self.edited] if self.edited else state


@dataclass(slots=True)
class _Outgoing:
    """What is to be sent of one document. `last` is its last message, sent before or not.

    revised: something is among it that changes what was sent before.
    """

    template: SourceDocument
    placed: list[tuple[int, Utterance]] = field(default_factory=list)
    last: tuple[int, Utterance] | None = None
    revised: bool = False
    withdrawn: bool = False


class Unit:
    """Compares one unit with what was sent of it before. `state` is that of its checkpoint."""

    def __init__(
        self, key: str, state: Mapping[str, Any] | None, clock: Clock | None = None
    ) -> None:
        self._key, self._clock = key, clock or SystemClock()
        loaded = _load(state)
        self._sent, self._fronts, self._gone, self._revision = loaded
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

    def add(
        self,
        document: SourceDocument,
        utterance: Utterance,
        counter: PartCounter,
        *,
        edited: int = 0,
    ) -> None:
        """Take in a message. `document` is the one it belongs to, without utterances.

        edited: when its source changed it last (any growing number), so that an older state of
        it, read later, changes nothing. Without it the latest reading counts.
        The same message again in one reading adds nothing.
        """
        outgoing = self._going_out(document)
        if not outgoing.template.title:
            outgoing.template = document
        for piece in split_utterance(utterance):
            if piece.native_id not in self._met:
                self._met.add(piece.native_id)
                self._piece(outgoing, piece, counter.place(len(piece.text)), edited)
        if document.native_id in self._gone:
            self._gone.discard(document.native_id)
            outgoing.revised = self._changed = True

    def knows(self, native_id: str) -> bool:
        """Say whether a version of this message was sent before."""
        return native_id in self._sent

    def withdraw(
        self,
        template: SourceDocument,
        native_id: str,
        *,
        at: datetime | None = None,
        edited: int = 0,
        title: str = "",
    ) -> None:
        """Say that the source deleted a message that was sent before, wherever it lies.

        template: gives all but the document's name and title. at: when the message was said.
        title: what its document is called from now on, where its words made the title.
        edited: as for `add`; FOR_GOOD where a deleted message never comes back.
        """
        notice = Utterance(native_id, "source", Role.OTHER, at, REMOVED, withdrawn=True)
        self._replace(replace(template, title=title), notice, edited)

    def document_of(self, native_id: str) -> str | None:
        """Return the name of the document where a message that was sent before lies."""
        sent = self._sent.get(native_id)
        return sent.document if sent else None

    def missing(self) -> list[tuple[str, str]]:
        """Return the messages that were sent before and not met in this reading.

        Each with the name of the document where it lies.
        """
        return [(name, sent.document) for name, sent in self._sent.items() if name not in self._met]

    def withdraw_missing(self, template: SourceDocument) -> None:
        """Withdraw every message that this reading did not meet: the unit is all there is."""
        for native_id in [name for name in self._sent if name not in self._met]:
            self.withdraw(template, native_id)

    def withdraw_document(self, template: SourceDocument) -> None:
        """Say that the source deleted a whole document of which something was sent before.

        What was sent stays known: any `add` to the document brings it back.
        """
        name = template.native_id
        if name not in self._gone and any(sent.document == name for sent in self._sent.values()):
            self._gone.add(name)
            self._going_out(replace(template, title="")).withdrawn = self._changed = True

    def items(self) -> Iterator[Item]:
        """Yield the news as events and then, when there are any, the unit's checkpoint."""
        for outgoing in self._outgoing.values():
            self._front(outgoing)
            template = outgoing.template
            if outgoing.revised or outgoing.withdrawn:
                template = replace(template, revision=self._next_revision())
            yield from pack(template, outgoing.placed)
            if outgoing.withdrawn:
                yield replace(template, withdrawn=True)
        if self._changed:
            yield Checkpoint(self._key, self.state())

    def state(self) -> dict[str, Any]:
        """Return what the constructor takes; JSON values."""
        sent = {name: it.state() for name, it in self._sent.items()}
        state: dict[str, Any] = {
            "version": STATE_VERSION,
            "messages": sent,
            "fronts": self._fronts,
            "gone": sorted(self._gone),
            "revision": self._revision,
            "stamp": self._stamp,
        }
        needed = ("version", "messages", "fronts")
        return {name: value for name, value in state.items() if value or name in needed}

    def _going_out(self, document: SourceDocument) -> _Outgoing:
        return self._outgoing.setdefault(document.native_id, _Outgoing(document))

    def _next_revision(self) -> int:
        # a clock that was set back must not make the latest state an old one
        now = int(self._clock.now().timestamp() * 1000)
        self._revision = max(now, self._revision + 1)
        return self._revision

    def _piece(self, outgoing: _Outgoing, piece: Utterance, part: int, edited: int) -> None:
        document, version = outgoing.template.native_id, _version_of(piece)
        sent = self._sent.get(piece.native_id)
        if sent is not None and edited < sent.edited:
            return
        moved = sent is not None and sent.document != document
        if moved:
            # no title: the document that it leaves keeps its own
            left = replace(outgoing.template, title="")
            self._replace(left, replace(piece, text=MOVED), edited)
        part = sent.part if sent and not moved else part
        outgoing.last = (part, piece)
        if sent is None or moved or sent.version != version:
            outgoing.placed.append(outgoing.last)
            outgoing.revised = outgoing.revised or sent is not None
            self._changed = True
        elif edited == sent.edited:
            return
        self._sent[piece.native_id] = _Sent(version, part, document, edited)

    def _replace(self, template: SourceDocument, notice: Utterance, edited: int) -> None:
        """Put `notice` into the place of the message of its id, in the document where it lies."""
        sent = self._sent.get(notice.native_id)
        if sent is None or 0 < edited < sent.edited:
            return
        self._met.add(notice.native_id)
        version = _version_of(notice)
        if sent.version != version:
            outgoing = self._going_out(replace(template, native_id=sent.document))
            if template.title:
                outgoing.template = replace(outgoing.template, title=template.title)
            outgoing.placed.append((sent.part, notice))
            outgoing.revised = self._changed = True
            latest = max(edited, sent.edited)
            self._sent[notice.native_id] = replace(sent, version=version, edited=latest)

    def _front(self, outgoing: _Outgoing) -> None:
        """Send the last message again when only the title or the metadata changed."""
        template = outgoing.template
        known, front = self._fronts.get(template.native_id), front_of(template)
        if template.title and known != front:
            self._fronts[template.native_id] = front
            outgoing.revised = outgoing.revised or known is not None
            self._changed = True
        elif not outgoing.revised:
            return
        if not outgoing.placed and outgoing.last:
            outgoing.placed.append(outgoing.last)


class Units:
    """The units of one run: those read a moment ago are not committed yet, so they are kept.

    kept: how many; 0 where each checkpoint is committed before the next unit is opened. A run
    that goes on for days then sees what another committed meanwhile.
    """

    def __init__(self, ledger: Ledger, clock: Clock | None = None, kept: int = UNITS) -> None:
        self._ledger, self._clock, self._kept = ledger, clock, kept
        self._recent: OrderedDict[str, Mapping[str, Any]] = OrderedDict()
        self._messages = 0

    def open(self, key: str) -> Unit:
        """Return the unit of this checkpoint key as it was left."""
        return Unit(key, self._recent.get(key) or self._ledger.checkpoint(key), self._clock)

    def close(self, unit: Unit) -> Iterator[Item]:
        """Yield what `unit.items()` yields and remember its state."""
        for item in unit.items():
            if isinstance(item, Checkpoint):
                self._keep(item.key, item.state)
            yield item

    def _keep(self, key: str, state: Mapping[str, Any]) -> None:
        self._messages += len(state["messages"]) - _size(self._recent.pop(key, {}))
        self._recent[key] = state
        while len(self._recent) > self._kept or (
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


def _version_of(utterance: Utterance) -> str:
    if utterance.withdrawn:
        return short_id("version", "withdrawn")
    # not the author: a person who takes another name has not said everything again
    return short_id("version", utterance.role.value, utterance.text)


_State = tuple[dict[str, _Sent], dict[str, str], set[str], int]


def _load(state: Mapping[str, Any] | None) -> _State:
    """Return what `Unit.state` saved; nothing when another version saved it."""
    if not state or state.get("version") != STATE_VERSION:
        return {}, {}, set(), 0
    try:
        sent = {name: _Sent(*values) for name, values in state["messages"].items()}
        gone, revision = set(state.get("gone", ())), int(state.get("revision", 0))
        return sent, dict(state["fronts"]), gone, revision
    except (AttributeError, KeyError, TypeError, ValueError):
        return {}, {}, set(), 0

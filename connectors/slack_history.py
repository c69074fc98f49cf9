"""Catching up with the channels of a workspace: what is new, edited or deleted since last time.

Slack tells what was said in a span of time, latest first, without replies, and never what was
deleted. So each run reads the last days of a channel again and compares; a thread is read again
whole when its last reply is another or is young. What is older is read once, day by day back to
the beginning, and that is remembered: a run that was interrupted goes on where it stopped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from connectors.base import Item, Ledger, ReadOptions
from connectors.revisions import Unit
from connectors.slack_api import RefusedError
from connectors.slack_directory import Channel
from connectors.slack_messages import TOMBSTONE, Message, in_thread
from connectors.slack_spans import DAY, Cursor, Whole, day_start, load_cursor, second_of
from connectors.slack_threads import SOURCE, Messages, Place, unknown_blocks
from connectors.slack_workspace import Workspace
from context_engine.clock import Clock
from context_engine.events import BadRecord, UnknownRecord

GRACE = 300
"""Seconds within which a message that Slack does not show may still be on its way to be shown."""

_TS = re.compile(r"[^:]*:(\d+\.\d+)")
_ByTs = dict[str, Message]


class CatchUp:
    """Reads what the channels of a workspace hold. One for a run, however long that follows."""

    def __init__(
        self,
        workspace: Workspace,
        messages: Messages,
        ledger: Ledger,
        options: ReadOptions,
        clock: Clock,
    ) -> None:
        self.workspace = workspace
        self._messages, self._ledger = messages, ledger
        self._options, self._clock = options, clock
        self.fresh: set[tuple[str, str]] = set()
        """Channel and ts of messages of which an event told a later state than what was read."""

    def items(self) -> Iterator[Item]:
        """Yield the news of all channels."""
        self.fresh.clear()
        yield from self.workspace.refresh()
        for channel in self.workspace.channels():
            try:
                yield from self._channel(channel)
            except RefusedError as error:
                yield BadRecord(f"slack {channel.label}", error.reason)

    def thread(self, channel: Channel, ts: str) -> Iterator[Item]:
        """Yield the news of one thread."""
        yield from self._settle(channel, self._replies(channel, ts) or {}, None)

    def place(self, channel: Channel) -> Place:
        """Return where the messages of a channel lie."""
        return Place(f"slack {channel.label}", channel, self.workspace.export)

    def _channel(self, channel: Channel) -> Iterator[Item]:
        key, settings = f"{SOURCE}:{channel.channel_id}/live", self._options.live.slack
        if not self._options.follow:
            self.workspace.api.place = f"slack {channel.label}"
        cursor = load_cursor(self._ledger.checkpoint(key), channel.label)
        now = int(self._clock.now().timestamp())
        window = settings.window_days * DAY
        floor = self._floor(now)
        since = day_start(now - window)
        if not cursor.high or self._options.since:
            since = max(since, floor)
        threads: dict[str, str] = {}
        yield from self._window(channel, cursor, (since, now, settings.reply_days), threads)
        if 0 < cursor.high < since:
            # nothing was read for a long time
            for _, messages in self._days(channel, day_start(cursor.high - window), since):
                yield from self._settle(channel, messages, None)
        low = since if cursor.low is None else cursor.low
        cursor = replace(cursor, low=low, high=now, threads=threads)
        yield cursor.checkpoint(key)
        if low <= floor:
            return
        for start, messages in self._days(channel, floor, low):
            yield from self._settle(channel, messages, None)
            yield replace(cursor, low=start).checkpoint(key)
        yield replace(cursor, low=floor).checkpoint(key)

    def _floor(self, now: int) -> int:
        """Return the second before which nothing is wanted."""
        days, since = self._options.live.slack.history_days, self._options.since
        first = now - days * DAY if days else 0
        return day_start(max(first, int(since.timestamp()) if since else 0))

    def _window(
        self,
        channel: Channel,
        cursor: Cursor,
        span: tuple[int, int, int],
        threads: dict[str, str],
    ) -> Iterator[Item]:
        """Yield the news of the last days; put the state of their threads into `threads`."""
        since, now, reply_days = span
        messages: _ByTs = {}
        seconds: list[int] = []
        for page in self._history(channel, since, None):
            seconds += filter(None, map(second_of, page))
            for message in self._parsed(channel, page, cursor.high):
                if isinstance(message, Message):
                    messages[message.ts] = message
                else:
                    yield message
        again = set()
        for parent in [each for each in messages.values() if _is_parent(each)]:
            last, threads[parent.ts] = _replied(parent)
            if last < now - reply_days * DAY and threads[parent.ts] == cursor.threads.get(
                parent.ts
            ):
                continue
            replies = self._replies(channel, parent.ts)
            if replies is None:
                del threads[parent.ts]
            else:
                again.add(parent.ts)
                messages |= replies
        whole = Whole(
            since,
            now - GRACE,
            frozenset(again),
            min(seconds, default=now),
            cache(lambda: self._shows_before(channel, since)),
        )
        yield from self._settle(channel, messages, whole)

    def _days(self, channel: Channel, since: int, until: int) -> Iterator[tuple[int, _ByTs]]:
        """Yield, latest first, the start of each day and what was said on it, replies included."""
        pending: dict[int, _ByTs] = {}
        for page in self._history(channel, since, until):
            for message in self._parsed(channel, page, None):
                if isinstance(message, Message):
                    pending.setdefault(day_start(message.order[0]), {})[message.ts] = message
            for start in sorted(pending, reverse=True)[:-1]:
                yield start, self._with_replies(channel, pending.pop(start))
        for start in sorted(pending, reverse=True):
            yield start, self._with_replies(channel, pending.pop(start))

    def _with_replies(self, channel: Channel, messages: _ByTs) -> _ByTs:
        for parent in [each for each in messages.values() if _is_parent(each)]:
            messages |= self._replies(channel, parent.ts) or {}
        return messages

    def _history(self, channel: Channel, since: int, until: int | None) -> Iterator[list[Any]]:
        """Yield pages of what was said from `since` on, before `until`; no replies."""
        span = {"channel": channel.channel_id, "oldest": f"{since}.000000", "inclusive": "true"}
        if until is not None:
            span["latest"] = f"{until - 1}.999999"
        yield from self.workspace.api.pages("conversations.history", "messages", **span)

    def _shows_before(self, channel: Channel, second: int) -> bool:
        """Ask whether Slack shows any message from before that second."""
        latest = f"{second}.000000"
        shown = self.workspace.api.call(
            "conversations.history", channel=channel.channel_id, latest=latest, limit="1"
        )
        return bool(shown.get("messages"))

    def _replies(self, channel: Channel, ts: str) -> _ByTs | None:
        """Return a thread, its first message included; None when there is none."""
        found: _ByTs = {}
        try:
            for page in self.workspace.api.pages(
                "conversations.replies", "messages", channel=channel.channel_id, ts=ts
            ):
                parsed = self._parsed(channel, page, None)
                found |= {each.ts: each for each in parsed if isinstance(each, Message)}
        except RefusedError as error:
            if error.code != "thread_not_found":
                raise
            return None
        return found

    def _parsed(
        self, channel: Channel, records: Sequence[Any], known: int | None
    ) -> Iterator[Message | BadRecord | UnknownRecord]:
        """Yield messages, and what is none, once: what is younger than `known`."""
        for record in records:
            parsed = self._messages.parse(record, f"slack {channel.label}")
            if isinstance(parsed, Message) or known is None or second_of(record) >= known:
                yield parsed

    def _settle(
        self, channel: Channel, messages: Mapping[str, Message], whole: Whole | None
    ) -> Iterator[Item]:
        """Yield what of these messages is new, a day at a time, and what was deleted.

        Nothing is open while a checkpoint is yielded: events may come in between.
        """
        at = self.place(channel)
        by_day: dict[str, list[Message]] = {}
        for message in sorted(messages.values(), key=lambda each: each.order):
            by_day.setdefault(f"{message.at:%Y-%m-%d}", []).append(message)
        for day in sorted({*by_day, *(whole.days() if whole else ())}):
            unit = self._messages.open(channel, day)
            if day not in by_day and not unit.missing():
                continue
            for message in by_day.get(day, ()):
                if (channel.channel_id, message.ts) not in self.fresh:
                    yield from self._messages.take(unit, message, at)
            for message in self._deleted(unit, channel, whole) if whole else ():
                self._messages.gone(unit, message, at)
            yield from self._messages.close(unit)
        yield from unknown_blocks(at.export.speaker.renderer, at.place)

    def _deleted(self, unit: Unit, channel: Channel, whole: Whole) -> Iterator[Message]:
        """Yield in place of each message that should have been there and was not a tombstone."""
        for name, document in unit.missing():
            match = _TS.match(name)
            ts, thread = match[1] if match else "", document.rpartition("/")[2]
            by_itself = "-" in thread or thread == ts
            if not (by_itself or thread in whole.threads):
                continue
            if (channel.channel_id, ts) in self.fresh or not whole.covers(second_of({"ts": ts})):
                continue
            named = {} if "-" in thread else {"thread_ts": thread, "reply_count": 1}
            stone = {"type": "message", "subtype": TOMBSTONE, "ts": ts, **named}
            parsed = self._messages.parse(stone, "")
            if isinstance(parsed, Message):
                yield parsed


def _is_parent(message: Message) -> bool:
    return in_thread(message) and message.thread_ts == message.ts


def _replied(parent: Message) -> tuple[int, str]:
    """Return when a thread was last replied to, in seconds, and what changes with its replies."""
    last = parent.record.get("latest_reply")
    return second_of({"ts": last}), f"{last}/{parent.record.get('reply_count')}"

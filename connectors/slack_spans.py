"""What was read of a Slack channel: spans of time in seconds since 1970, and its threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from context_engine.events import Checkpoint

STATE_VERSION = 1
DAY = 86_400


@dataclass(frozen=True)
class Cursor:
    """What was read of a channel: all between `low` and `high`, in seconds since 1970.

    low: None before the first run. threads: last reply and number of replies by a thread's ts.
    """

    label: str
    low: int | None = None
    high: int = 0
    threads: Mapping[str, str] = field(default_factory=dict)

    def checkpoint(self, key: str) -> Checkpoint:
        """Return the checkpoint that `load_cursor` reads."""
        threads = dict(self.threads)
        state = {"label": self.label, "low": self.low, "high": self.high, "threads": threads}
        return Checkpoint(key, {"version": STATE_VERSION, **state})


@dataclass(frozen=True)
class Whole:
    """What was read whole, so that what is missing in it was deleted.

    since, until: seconds between which all was read that is no reply. first: the second of the
    first message in it. begins_before: says whether Slack shows anything before `since`; where it
    does not, what is missing before `first` may have run out: plans and rules of retention have
    Slack forget old messages, which nobody deleted.
    """

    since: int
    until: int
    threads: frozenset[str]
    first: int
    begins_before: Callable[[], bool]

    def covers(self, second: int) -> bool:
        """Say whether a message of that second would have been read."""
        return self.since <= second <= self.until and (second >= self.first or self.begins_before())

    def days(self) -> Iterator[str]:
        """Yield the days, as the units of messages are called."""
        return (day_name(second) for second in range(self.since, self.until + 1, DAY))


def load_cursor(state: Mapping[str, Any] | None, label: str) -> Cursor:
    """Return what was read of a channel; nothing when it had another name then.

    Read again from the beginning, all its notes get the new name, and nothing else changes.
    """
    if not state or state.get("version") != STATE_VERSION or state.get("label") != label:
        return Cursor(label)
    return Cursor(label, state.get("low"), int(state["high"]), dict(state["threads"]))


def second_of(record: Any) -> int:
    """Return the second of a record's `ts`, 0 when it has none."""
    ts = record.get("ts") if isinstance(record, dict) else None
    whole = ts.partition(".")[0] if isinstance(ts, str) else ""
    return int(whole[:12]) if whole.isdecimal() else 0


def day_start(second: int) -> int:
    """Return the first second of a day (UTC)."""
    return max(0, second - second % DAY)


def day_name(second: int) -> str:
    """Return the day as the units of messages are called: 2026-11-02."""
    return f"{datetime.fromtimestamp(second, UTC):%Y-%m-%d}"

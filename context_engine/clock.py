"""Time, injectable: UTC for storage, a monotonic reading for timeouts."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """What the engine needs to know about time."""

    def now(self) -> datetime:
        """Return the current time, aware, in UTC."""
        ...

    def monotonic(self) -> float:
        """Return seconds that never go backwards."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Return the current time, aware, in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Return seconds that never go backwards."""
        return time.monotonic()


class ManualClock:
    """A clock that a test moves by hand."""

    def __init__(self, start: datetime) -> None:
        self._now = start
        self._monotonic = 0.0

    def now(self) -> datetime:
        """Return the time it was set to."""
        return self._now

    def monotonic(self) -> float:
        """Return the seconds it was moved by so far."""
        return self._monotonic

    def advance(self, seconds: float) -> None:
        """Move both readings forward."""
        from datetime import timedelta

        self._now += timedelta(seconds=seconds)
        self._monotonic += seconds


def isoformat(moment: datetime) -> str:
    """Return `moment` as UTC ISO 8601 with a Z, to the second: 2026-11-02T09:05:11Z."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def parse_utc(text: str) -> datetime:
    """Parse ISO 8601 into an aware UTC datetime; a missing offset means UTC.

    Raises ValueError when `text` is no ISO 8601 time.
    """
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    return moment.astimezone(UTC)

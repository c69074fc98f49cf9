"""What all sources share that are asked over the network: they try again, and say why they stop.

A request that failed for a moment is made again, with growing pauses or the one that the service
asked for. What a person must mend (a token, a scope) stops the run with one sentence that says so.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import TypeVar

from context_engine.errors import DependencyDownError

ATTEMPTS = 6
"""Requests for one reply at most."""

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 30.0
"""Seconds; the pause doubles with each attempt that failed, up to this."""

LONGEST_ASKED = 300.0
"""Seconds that a service may ask us to wait within a run; for longer the run ends."""

TIMEOUT = 30.0
"""Seconds without a byte after which a request has failed."""

REPLY_LIMIT = 64 << 20
"""Bytes of one reply."""

Pause = Callable[[float], None]
_Reply = TypeVar("_Reply")


class TryAgainError(Exception):
    """A request failed for a moment. `after`: seconds that the service asked us to wait."""

    def __init__(self, reason: str, after: float | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.after = after


def persistent(service: str, request: Callable[[], _Reply], pause: Pause) -> _Reply:
    """Return what `request` returns, calling it again as long as it raises TryAgainError.

    Raises DependencyDownError when it goes on failing, or when the service asks for a long wait.
    """
    reason = ""
    for attempt in range(ATTEMPTS):
        try:
            return request()
        except TryAgainError as error:
            reason = error.reason
            if attempt + 1 < ATTEMPTS:
                pause(_seconds(service, error, attempt))
    raise DependencyDownError(
        service, f"{reason} ({ATTEMPTS} attempts); what was read is kept, run again later"
    )


def _seconds(service: str, error: TryAgainError, attempt: int) -> float:
    if error.after is None:
        # not all clients at the same moment
        pause = min(LONGEST_PAUSE, FIRST_PAUSE * float(2**attempt))
        return pause * random.uniform(0.5, 1.0)  # noqa: S311 - no secret
    if error.after > LONGEST_ASKED:
        until = datetime.now(UTC) + timedelta(seconds=error.after)
        raise DependencyDownError(
            service, f"{error.reason}; what was read is kept, run again after {until:%H:%M} UTC"
        ) from error
    return max(error.after, 0.0)


def retry_after(value: str | None) -> float | None:
    """Return the seconds of a Retry-After header, a number or a date; None when it says neither."""
    if not value:
        return None
    if value.strip().isdecimal():
        return float(value.strip()[:9])
    try:
        when = parsedate_to_datetime(value)
    except ValueError:
        return None
    if when.tzinfo is None:
        return None
    return max(0.0, (when - datetime.now(UTC)).total_seconds())

"""A token bucket per client."""

from __future__ import annotations

from dataclasses import dataclass

from context_engine.clock import Clock

STRANGERS_SHARE = 10
"""All requests without a valid token together may be this part of what one client may make."""


@dataclass
class _Bucket:
    tokens: float
    at: float


class RateLimiter:
    """Lets each client make `per_minute` requests a minute, in bursts of as many.

    Requests without a valid token share one bucket, so there are never more buckets than clients.
    Used from the event loop only.
    """

    def __init__(self, per_minute: int, clock: Clock) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._buckets: dict[str | None, _Bucket] = {}

    def wait(self, client: str | None) -> float:
        """Count one request; return 0.0 when it may pass, else the seconds to wait."""
        rate = self._per_minute
        if client is None:
            rate = max(rate // STRANGERS_SHARE, 1)
        now = self._clock.monotonic()
        bucket = self._buckets.setdefault(client, _Bucket(rate, now))
        bucket.tokens = min(rate, bucket.tokens + (now - bucket.at) * rate / 60)
        bucket.at = now
        if bucket.tokens < 1:
            return (1 - bucket.tokens) * 60 / rate
        bucket.tokens -= 1
        return 0.0

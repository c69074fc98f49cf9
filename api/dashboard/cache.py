"""Answers that are costly to count, kept for a while; an old one is shown while it is renewed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from context_engine.clock import Clock
from context_engine.logs import get_logger

T = TypeVar("T")

log = get_logger(__name__)


@dataclass
class _Kept:
    value: Any
    at: float
    renewing: bool = False


class Cache:
    """Thread-safe. Only the first asker of a key ever waits for it."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: dict[str, _Kept] = {}

    def get(self, key: str, seconds: float, compute: Callable[[], T]) -> T:
        """Return what `compute` gave at most about `seconds` ago."""
        with self._lock:
            kept = self._kept.get(key)
            stale = kept is not None and self._clock.monotonic() - kept.at >= seconds
            renew = kept is not None and stale and not kept.renewing
            if kept is not None and renew:
                kept.renewing = True
        if kept is None:
            return self._store(key, compute())
        if renew:
            threading.Thread(target=self._renew, args=(key, kept, compute), daemon=True).start()
        value: T = kept.value
        return value

    def forget(self, *keys: str) -> None:
        """Count these anew: a person has just changed them."""
        with self._lock:
            for key in keys:
                self._kept.pop(key, None)

    def _renew(self, key: str, kept: _Kept, compute: Callable[[], object]) -> None:
        try:
            self._store(key, compute())
        except Exception:
            log.exception("a figure of the dashboard could not be renewed", figure=key)
            kept.renewing = False

    def _store(self, key: str, value: T) -> T:
        with self._lock:
            self._kept[key] = _Kept(value, self._clock.monotonic())
        return value

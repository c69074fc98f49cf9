"""What changed in the vaults: the file system's hints at once, a full scan now and then.

Hints get lost (limits, network drives, a sleeping laptop), so they are never relied upon.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from watchfiles import watch

from context_engine.logs import get_logger
from context_engine.scopes import Scope

SCAN_SECONDS = 60.0
SCAN_SECONDS_UNWATCHED = 3.0
"""When the file system gives no hints, scans alone keep an edit searchable within seconds."""
_HINT_MS = 1_000

log = get_logger(__name__)


@dataclass(frozen=True)
class Changed:
    """A file to look at, or with `path` None a whole vault to scan."""

    scope: Scope
    path: str | None


def watch_vaults(roots: Mapping[Scope, Path], stop: threading.Event) -> Iterator[Changed]:
    """Yield what to look at until `stop` is set; begins with a scan of every vault."""
    while not stop.is_set():
        yield from (Changed(scope, None) for scope in roots)
        try:
            yield from _hints(roots, stop, time.monotonic() + SCAN_SECONDS)
        except OSError as error:
            log.warning("vaults cannot be watched, scanning instead", reason=str(error))
            stop.wait(SCAN_SECONDS_UNWATCHED)


def _hints(roots: Mapping[Scope, Path], stop: threading.Event, until: float) -> Iterator[Changed]:
    changes = watch(
        *roots.values(),
        stop_event=stop,
        debounce=200,
        step=50,
        rust_timeout=_HINT_MS,
        yield_on_timeout=True,
        raise_interrupt=False,
        ignore_permission_denied=True,
    )
    for batch in changes:
        for _, name in batch:
            for scope, root in roots.items():
                if name.endswith(".md") and Path(name).is_relative_to(root):
                    yield Changed(scope, Path(name).relative_to(root).as_posix())
        if time.monotonic() >= until:
            return

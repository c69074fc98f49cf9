"""Telling the indexer, through the outbox, that a note was written."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from context_engine.scopes import Scope
from context_engine.settings import Settings

if TYPE_CHECKING:
    from workers.outbox import Outbox


class OutboxNotifier:
    """Adds an index job for each note. The outbox is opened with the first one."""

    def __init__(self, settings: Settings) -> None:
        self._path = settings.paths.outbox
        self._lock = threading.Lock()
        self._outbox: Outbox | None = None

    def __call__(self, scope: Scope, path: str) -> None:
        """Ask for `path` of the vault of `scope` to be indexed."""
        from workers.indexer_jobs import index_job

        self._open().add([index_job(scope.value, path)])

    def _open(self) -> Outbox:
        from workers.outbox import Outbox

        with self._lock:
            if self._outbox is None:
                self._outbox = Outbox(self._path)
            return self._outbox

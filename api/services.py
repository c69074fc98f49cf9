"""What operations work with, opened from settings when it is first needed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta

from api.operations.base import Services, tell_nobody
from context_engine.clock import Clock, SystemClock
from context_engine.errors import ContextEngineError
from context_engine.logs import get_logger
from context_engine.scopes import Scope
from context_engine.settings import Settings
from index.model import SearchRequest

Notify = Callable[[Scope, str], None]
"""Told the scope and vault path of a note that was just written."""

_WARM_UP = "ウォームアップ warm up"

log = get_logger(__name__)


class Engine:
    """Opens the index and the embedder once, on first use, from whichever thread needs them."""

    def __init__(
        self, settings: Settings, notify: Notify | None = None, clock: Clock | None = None
    ) -> None:
        self._settings = settings
        self._notify = notify
        self._clock = clock or SystemClock()
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._services: Services | None = None

    def services(self) -> Services:
        """Return the services; the first call loads libraries, not yet weights."""
        with self._lock:
            if self._services is None:
                self._services = self._open()
            return self._services

    def warm(self) -> None:
        """Do once what makes the first query slow: load weights, open every index, read projects.

        Never raises: what is broken here will be said by the query that needs it.
        """
        try:
            for scope in Scope:
                if not self._stopping.is_set():
                    services = self.services()
                    services.index.search(scope, SearchRequest(_WARM_UP, limit=1))
                    services.shelf.identity_card(services.home, scope)
                    services.shelf.projects(services.home, scope)
        except ContextEngineError as error:
            log.warning("warm_up_incomplete", reason=str(error))

    def stop_warming(self) -> None:
        """Make `warm` return after the step it is at."""
        self._stopping.set()

    def _open(self) -> Services:
        from api.remembered import RememberingEmbedder
        from api.usage.log import FILE, UsageLog
        from index.embedding.factory import make_embedder
        from index.search import Searcher

        settings = self._settings
        home = settings.paths
        embedder = make_embedder(settings.embedding, settings.models_dir, settings.ollama_url)
        return Services(
            home=home,
            index=Searcher(home, RememberingEmbedder(embedder)),
            owner_name=settings.owner_name,
            clock=self._clock,
            redaction=settings.redaction_options,
            project_silence=timedelta(days=settings.project_silence_days),
            notify=self._notify or tell_nobody,
            usage=UsageLog(home.state / FILE, self._clock),
        )

"""What the pages work with, opened when it is first needed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from api.audit import AuditLog
from api.dashboard.cache import Cache
from api.operations.base import Services
from context_engine.clock import Clock
from context_engine.home import Home
from context_engine.settings import Settings

if TYPE_CHECKING:
    from workers.outbox import Outbox

CLIENT = "dashboard"
"""The name under which the owner appears in the audit log."""


@dataclass(frozen=True)
class Deck:
    """One home, as its dashboard sees it. Used from many threads."""

    settings: Settings
    services: Callable[[], Services]
    audit: AuditLog
    clock: Clock
    stopping: threading.Event = field(default_factory=threading.Event)
    """Set when the server ends: streams that would go on for ever must not hold it up."""

    @property
    def home(self) -> Home:
        """Paths of the home."""
        return self.settings.paths

    @cached_property
    def cache(self) -> Cache:
        """Figures that are costly to count."""
        return Cache(self.clock)

    @cached_property
    def outbox(self) -> Outbox:
        """Events and jobs."""
        from workers.outbox import Outbox

        return Outbox(self.home.outbox, clock=self.clock)

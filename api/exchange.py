"""One request on its way through: what its audit line will say, filled in as it becomes known."""

from __future__ import annotations

from dataclasses import dataclass

from api.audit import AuditEntry, AuditLog
from api.caller import Caller
from api.operations.registry import OPERATIONS
from context_engine.clock import Clock
from context_engine.metrics import count, observe

_MAX_ACTION = 200
_SEARCHES = frozenset({"search", "search_knowledge", "query_self"})


@dataclass
class Exchange:
    """Mutable on purpose: the outermost layer writes it, inner layers know what to write."""

    transport: str
    action: str
    started: float
    """Monotonic seconds."""
    caller: Caller | None = None
    outcome: str = "ok"
    results: tuple[str, ...] = ()
    recorded: bool = True
    """False for what a stranger could repeat for ever: it would fill the disk."""

    def record(self, log: AuditLog, clock: Clock) -> None:
        """Write the audit line.

        Raises AuditError when that is not possible.
        """
        self._count(clock)
        if not self.recorded:
            return
        log.write(
            AuditEntry(
                at=clock.now(),
                transport=self.transport,
                action=self.action[:_MAX_ACTION],
                outcome=self.outcome,
                client=self.caller.client if self.caller else None,
                scope=self.caller.scope.value if self.caller else None,
                results=self.results,
                milliseconds=(clock.monotonic() - self.started) * 1000,
            )
        )

    def _count(self, clock: Clock) -> None:
        # a caller chooses paths and method names: only what there is becomes a label
        operation = self.action if self.action in OPERATIONS else "other"
        client = self.caller.client if self.caller else "unknown"
        count("requests_total", client=client, operation=operation, outcome=self.outcome)
        observe("request_seconds", clock.monotonic() - self.started, operation=operation)
        if operation in _SEARCHES and self.outcome == "ok":
            count("searches_total", found="some" if self.results else "none")

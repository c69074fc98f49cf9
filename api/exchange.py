"""One request on its way through: what its audit line will say, filled in as it becomes known."""

from __future__ import annotations

from dataclasses import dataclass

from api.audit import AuditEntry, AuditLog
from api.caller import Caller
from context_engine.clock import Clock

_MAX_ACTION = 200


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

"""What a person sees of the routines: when they ran, when they run next, which keep failing."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from api.routines.history import FAILURES_TO_REPORT, History, Run
from api.routines.runner import is_busy
from api.routines.schedule import next_due
from context_engine.clock import isoformat
from context_engine.settings import Settings


@dataclass(frozen=True)
class RoutineState:
    """One routine as it is now."""

    name: str
    source: str
    when: str
    """Its cron line, or `every 6h`."""
    paused: bool
    running: bool
    next_run: str | None
    """UTC; in the past when it was missed and starts with the engine. None while paused."""
    failures: int
    """Runs that failed one after the other, up to now."""
    last: Run | None

    @property
    def failing(self) -> bool:
        """Whether a person should look."""
        return self.failures >= FAILURES_TO_REPORT

    def as_json(self) -> dict[str, Any]:
        """Return the state as it is printed."""
        return asdict(self) | {"failing": self.failing}


def routine_states(settings: Settings) -> list[RoutineState]:
    """Return every routine of the settings."""
    if not settings.routine:
        return []
    with History(settings.paths.routines) as history:
        states = []
        for routine in settings.routine:
            name = routine.name
            paused = history.paused(name)
            due = next_due(routine, last=history.last_started(name), since=history.since(name))
            states.append(
                RoutineState(
                    name=name,
                    source=routine.source,
                    when=routine.cron or f"every {routine.every}",
                    paused=paused,
                    running=is_busy(settings.paths, name),
                    next_run=None if paused else isoformat(due),
                    failures=history.failures(name),
                    last=next(iter(history.runs(name, 1)), None),
                )
            )
    return states


def problems(states: list[RoutineState]) -> list[str]:
    """Return one sentence for each routine that keeps failing."""
    return [
        f"routine {state.name} failed {state.failures} times in a row"
        + (f": {state.last.error}" if state.last and state.last.error else "")
        for state in states
        if state.failing
    ]

"""The thread of `up` that starts what is due, each run in a process of its own."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from api.routines.history import History
from api.routines.schedule import next_due
from context_engine.clock import Clock, SystemClock
from context_engine.logs import get_logger
from context_engine.routine_settings import RoutineSettings, seconds_of
from context_engine.settings import Settings
from workers.supervisor import child_environment, child_python

AT_ONCE = 2
"""Runs side by side; what is due besides waits for one to end."""
LOOK_SECONDS = 20.0
"""How often pauses and runs by hand are looked for."""
RUNNING_SECONDS = 1.0
STOP_SECONDS = 10.0
OUTPUT_BYTES = 1_000_000
"""What runs write to stderr is begun anew at this size; the log has what counts."""

log = get_logger(__name__)


@dataclass
class _Child:
    process: subprocess.Popen[bytes]
    deadline: float
    """Monotonic seconds."""


class Keeper:
    """Keeps the routines of one home."""

    def __init__(
        self,
        settings: Settings,
        *,
        clock: Clock | None = None,
        command: Callable[[str], Sequence[str]] | None = None,
    ) -> None:
        self._settings = settings
        self._clock = clock or SystemClock()
        self._command = command or _command
        self._environment = child_environment(settings.paths, dict(os.environ))
        self._children: dict[str, _Child] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="routines", daemon=True)

    def start(self) -> None:
        """Begin; without routines there is nothing to begin."""
        if self._settings.routine:
            self._thread.start()

    def stop(self) -> None:
        """End; runs are told to stop and go on from where they were next time."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(timeout=STOP_SECONDS)
        for child in self._children.values():
            child.process.terminate()
        for child in self._children.values():
            _end(child.process)

    def step(self) -> float:
        """Start what is due; return the seconds until there may be more to do."""
        self._reap()
        with History(self._settings.paths.routines, self._clock) as history:
            waits = [self._look_after(routine, history) for routine in self._settings.routine]
        if self._children:
            return RUNNING_SECONDS
        return min([LOOK_SECONDS, *waits])

    def _look_after(self, routine: RoutineSettings, history: History) -> float:
        since = history.since(routine.name)
        if routine.name in self._children or history.paused(routine.name):
            return LOOK_SECONDS
        due = next_due(routine, last=history.last_started(routine.name), since=since)
        wait = (due - self._clock.now()).total_seconds()
        if wait <= 0 and len(self._children) < AT_ONCE:
            self._spawn(routine)
        return max(wait, RUNNING_SECONDS)

    def _spawn(self, routine: RoutineSettings) -> None:
        path = self._settings.paths.logs / "routines.out"
        grown = path.exists() and path.stat().st_size > OUTPUT_BYTES
        with path.open("wb" if grown else "ab") as output:
            process = subprocess.Popen(  # noqa: S603 - our own command line
                self._command(routine.name),
                cwd=self._settings.paths.root,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=output,
                start_new_session=True,
            )
        log.info("routine started", routine=routine.name, pid=process.pid)
        deadline = time.monotonic() + seconds_of(routine.timeout)
        self._children[routine.name] = _Child(process, deadline)

    def _reap(self) -> None:
        for name, child in list(self._children.items()):
            if child.process.poll() is None and time.monotonic() > child.deadline:
                log.warning("routine takes too long, ending it", routine=name)
                child.process.terminate()
                _end(child.process)
            if child.process.poll() is not None:
                log.info("routine ended", routine=name, exit=child.process.returncode)
                del self._children[name]

    def _loop(self) -> None:
        wait = 0.0
        while not self._stop.wait(wait):
            try:
                wait = self.step()
            except Exception:
                log.exception("routines failed, go on")
                wait = LOOK_SECONDS


def _command(name: str) -> list[str]:
    return child_python("api.routines.process", name)


def _end(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(timeout=STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()

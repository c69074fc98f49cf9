"""One supervisor per home: starts the parts, restarts what dies, stops all cleanly."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from context_engine.errors import AlreadyRunningError, ContextEngineError, DeadlineExceededError
from context_engine.home import Home
from context_engine.logs import get_logger
from workers import liveness

BACKOFF_SECONDS = (0.2, 0.5, 1.0, 2.0, 5.0, 15.0, 30.0)
STABLE_SECONDS = 30.0
"""A part that ran so long starts its backoff anew."""
STOP_SECONDS = 15.0
POLL_SECONDS = 0.1

log = get_logger(__name__)


@dataclass(frozen=True)
class Part:
    """One child process. `command` is called before each start and may prepare things."""

    name: str
    command: Callable[[], Sequence[str]]
    ready: Callable[[], bool]
    ready_seconds: float = 60.0
    needed_first: bool = False
    """The parts after it start when it is ready; else they start side by side."""


@dataclass
class _Running:
    part: Part
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    restarts: int = 0
    next_start: float = 0.0
    last_exit: int | None = None
    failures: int = field(default=0)
    said_before: int = 0
    """Bytes that its output file held when it was started."""


class Supervisor:
    """Runs parts in order; `state/supervisor.json` says which, for `status`."""

    def __init__(
        self,
        home: Home,
        parts: Sequence[Part],
        *,
        environment: dict[str, str],
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._tell = tell
        self._home = home
        self._children = [_Running(part) for part in parts]
        self._environment = environment
        self._stop = threading.Event()
        self._lock: IO[str] | None = None

    def start(self, prepare: Callable[[], None] = lambda: None) -> None:
        """Take the home and start every part; returns when all are ready.

        prepare: what nobody else may do meanwhile; runs when the home is taken.
        Raises AlreadyRunningError, ContextEngineError when a part does not come up.
        """
        self._lock = take_home(self._home)
        try:
            prepare()
            for child in self._children:
                self._spawn(child)
                if child.part.needed_first:
                    self._await_ready(child)
            for child in self._children:
                self._await_ready(child)
            self._publish()
        except BaseException:
            self.stop()
            raise

    def run(self) -> None:
        """Watch over the parts until `request_stop`."""
        while not self._stop.wait(POLL_SECONDS):
            try:
                self.watch_once()
            except Exception:
                log.exception("watching failed, goes on")

    def watch_once(self) -> None:
        """Restart what died and whose pause is over."""
        now = time.monotonic()
        changed = False
        for child in self._children:
            if child.process is not None and child.process.poll() is not None:
                self._note_death(child, now)
                changed = True
            if child.process is None and now >= child.next_start:
                self._respawn(child, now)
                changed = True
        if changed:
            self._publish()

    def request_stop(self) -> None:
        """Make `run` return; safe in a signal handler."""
        self._stop.set()

    def stop(self) -> None:
        """Stop the parts in reverse order: politely, then by force."""
        for child in reversed(self._children):
            self._terminate(child)
        with contextlib.suppress(FileNotFoundError):
            _status_file(self._home).unlink()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _spawn(self, child: _Running) -> None:
        command = list(child.part.command())
        log_path = self._home.logs / f"{child.part.name}.out"
        with log_path.open("ab") as output:
            child.said_before = output.tell()
            child.process = subprocess.Popen(  # noqa: S603 - our own command lines
                command,
                cwd=self._home.root,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C reaches the supervisor alone; it stops the rest
            )
        child.started = time.monotonic()

    def _respawn(self, child: _Running, now: float) -> None:
        try:
            self._spawn(child)
        except (OSError, ContextEngineError) as error:
            log.warning("part does not start", part=child.part.name, error=str(error))
            child.failures += 1
            child.next_start = now + _pause(child.failures)
        else:
            child.restarts += 1

    def _note_death(self, child: _Running, now: float) -> None:
        if child.process is None:
            return
        child.last_exit = child.process.returncode
        child.process = None
        if now - child.started >= STABLE_SECONDS:
            child.failures = 0
        pause = _pause(child.failures)
        child.failures += 1
        child.next_start = now + pause
        self._tell(f"{child.part.name} died (exit {child.last_exit}), starting it again")
        log.warning("part died", part=child.part.name, exit=child.last_exit, restart_in=pause)

    def _await_ready(self, child: _Running) -> None:
        deadline = time.monotonic() + child.part.ready_seconds
        while not child.part.ready():
            if self._stop.is_set():
                raise ContextEngineError("stopped while starting")
            if child.process is None or child.process.poll() is not None:
                raise ContextEngineError(
                    f"{child.part.name} ended while starting; see "
                    f"{self._home.logs / (child.part.name + '.out')}:\n{self._tail(child)}"
                )
            if time.monotonic() > deadline:
                raise DeadlineExceededError(f"starting {child.part.name}", child.part.ready_seconds)
            time.sleep(0.03)

    def _tail(self, child: _Running) -> str:
        path = self._home.logs / f"{child.part.name}.out"
        text = path.read_bytes()[child.said_before :].decode("utf-8", "replace")
        return "\n".join(text.splitlines()[-8:])

    def _terminate(self, child: _Running) -> None:
        process = child.process
        if process is None or process.poll() is not None:
            return
        process.terminate()
        try:
            process.wait(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            log.warning("part does not stop, killing it", part=child.part.name)
            process.kill()
            process.wait()

    def _publish(self) -> None:
        parts = [
            {
                "name": child.part.name,
                "pid": child.process.pid if child.process is not None else None,
                "restarts": child.restarts,
                "last_exit": child.last_exit,
            }
            for child in self._children
        ]
        # for `status` to read; a full disk must not stop the watching
        with contextlib.suppress(OSError):
            self._write_status(parts)

    def _write_status(self, parts: list[dict[str, Any]]) -> None:
        path = _status_file(self._home)
        temporary = path.with_suffix(".tmp")
        temporary.write_text(json.dumps({"pid": os.getpid(), "parts": parts}), encoding="utf-8")
        temporary.replace(path)


def _pause(failures: int) -> float:
    return BACKOFF_SECONDS[min(failures, len(BACKOFF_SECONDS) - 1)]


def _status_file(home: Home) -> Path:
    return home.state / "supervisor.json"


def take_home(home: Home) -> IO[str]:
    """Return the lock of `home`, held until it is closed.

    Raises AlreadyRunningError naming the process that has it.
    """
    path = home.state / "supervisor.lock"
    lock = liveness.try_lock(path)
    for _ in range(10):
        if lock is not None:
            break
        time.sleep(0.05)  # `is_running` holds it for an instant
        lock = liveness.try_lock(path)
    if lock is None:
        holder = path.read_text(encoding="utf-8").strip() or "another process"
        raise AlreadyRunningError(
            f"a context engine already runs on {home.root} (pid {holder}); "
            "stop it with Ctrl-C there, or choose another home with CE_HOME"
        )
    lock.truncate(0)
    lock.write(str(os.getpid()))
    lock.flush()
    return lock


def is_running(home: Home) -> bool:
    """Return whether a supervisor holds this home."""
    if not (home.state / "supervisor.lock").exists():
        return False
    lock = liveness.try_lock(home.state / "supervisor.lock")
    if lock is None:
        return True
    lock.close()
    return False


def parts_alive(home: Home) -> list[dict[str, Any]]:
    """Return name, pid, alive, restarts of each part of the running supervisor."""
    if not is_running(home):
        return []
    try:
        status = json.loads(_status_file(home).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return []
    return [part | {"alive": _pid_alive(part["pid"])} for part in status["parts"]]


def _pid_alive(pid: int | None) -> bool:
    if pid is None:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


@contextlib.contextmanager
def stop_on_signals(supervisor: Supervisor) -> Iterator[None]:
    """Turn SIGINT and SIGTERM into `request_stop` while the block runs."""
    previous = {
        number: signal.signal(number, lambda *_: supervisor.request_stop())
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def child_python(module: str, *arguments: str) -> list[str]:
    """Return the command that runs one of our modules.

    -P keeps the working directory off the import path: our package names are common, and the
    folder somebody stands in may hold others of the same name.
    """
    return [sys.executable, "-P", "-m", module, *arguments]


def child_environment(home: Home, environment: dict[str, str]) -> dict[str, str]:
    """Return what a child gets: the caller's environment, the home fixed, imports made safe."""
    kept = {k: v for k, v in environment.items() if k not in ("PYTHONPATH", "PYTHONSTARTUP")}
    return kept | {"CE_HOME": str(home.root), "PYTHONSAFEPATH": "1", "PYTHONUNBUFFERED": "1"}


def exit_with_parent(
    interval: float = 1.0, *, last_wish: Callable[[], None] = lambda: None
) -> None:
    """End this process when the one that started it is gone (a killed supervisor).

    last_wish: called just before, for what nobody else cleans up.
    """
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(interval)
        last_wish()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()

"""The parts of a running engine, and running them for as long as a command needs them."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from context_engine.settings import Settings
from workers import embedded_broker
from workers.supervisor import (
    Part,
    Supervisor,
    child_environment,
    child_python,
    is_running,
)


def broker_part(settings: Settings) -> Part:
    """Return the embedded broker."""
    home = settings.paths
    return Part(
        "broker",
        command=lambda: embedded_broker.prepare(home),
        ready=lambda: embedded_broker.is_ready(home),
        needed_first=True,
    )


def python_part(name: str, module: str, ready_file: Path, *arguments: str) -> Part:
    """Return a part that is one of our modules, ready when it touches `ready_file`."""

    def command() -> Sequence[str]:
        ready_file.unlink(missing_ok=True)
        return child_python(module, *arguments)

    return Part(name, command=command, ready=ready_file.exists)


def engine_parts(settings: Settings) -> list[Part]:
    """Return what turns events into notes and chunks: broker and workers."""
    ready = settings.paths.state / "workers"
    parts = [
        python_part("worker", "workers.main", ready / "worker.ready", "worker"),
        python_part("extractor", "workers.main", ready / "extractor.ready", "extractor"),
        python_part("indexer", "workers.indexer", ready / "indexer.ready"),
    ]
    return parts if settings.redis_url else [broker_part(settings), *parts]


def make_supervisor(
    settings: Settings, parts: Sequence[Part], *, tell: Callable[[str], None] = lambda _: None
) -> Supervisor:
    """Return a supervisor whose children see this process's environment.

    tell: hears, for a person, of parts that died.
    """
    settings.paths.create()
    environment = child_environment(settings.paths, dict(os.environ))
    return Supervisor(settings.paths, parts, environment=environment, tell=tell)


@contextlib.contextmanager
def engine(settings: Settings) -> Iterator[bool]:
    """Have the engine running inside the block: the one of `up`, else one of our own.

    Yields True when it was running already. Our own is stopped at the end.
    """
    if is_running(settings.paths):
        yield True
        return
    supervisor = make_supervisor(settings, engine_parts(settings))
    supervisor.start()
    watcher = threading.Thread(target=supervisor.run, name="supervisor", daemon=True)
    watcher.start()
    try:
        yield False
    finally:
        supervisor.request_stop()
        watcher.join()
        supervisor.stop()

"""All checks, in the order in which a person would mend things."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from api.doctor import home, machine, seals, servers
from api.doctor.model import Check, bad
from context_engine.errors import ContextEngineError
from context_engine.settings import Settings


def examine(settings: Settings, user_home: Path) -> Iterator[Check]:
    """Yield every finding. What breaks while it is looked at is a finding too."""
    yield from _safely("home", lambda: [home.home(settings)])
    if not settings.paths.root.is_dir():
        yield from _each(settings, machine.CHECKS)
        return
    yield from _safely("format", lambda: [home.left_by_newer(settings.paths)])
    yield from _each(settings, (home.permissions, home.disk))
    yield from _each(settings, (*machine.CHECKS, machine.embedding, home.index))
    yield from _safely("engine", lambda: [servers.engine(settings)])
    yield from _safely("broker", lambda: servers.broker(settings))
    yield from _safely("ollama", lambda: servers.ollama(settings))
    yield from _each(settings, (home.client_tokens, seals.seals, home.quarantine, home.routines))
    yield from _safely("assistants", lambda: home.assistants(user_home))


def _each(settings: Settings, checks: Iterable[Callable[[Settings], Check]]) -> Iterator[Check]:
    for check in checks:
        yield from _safely(check.__name__, partial(_one, check, settings))


def _one(check: Callable[[Settings], Check], settings: Settings) -> list[Check]:
    return [check(settings)]


def _safely(name: str, look: Callable[[], Iterable[Check]]) -> Iterator[Check]:
    try:
        yield from look()
    except (ContextEngineError, OSError, ValueError) as error:
        yield bad(name, f"{type(error).__name__}: {error}", "context-engine logs")

"""The indexer as operations see it: what it was asked for, how far it is, whether it is there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from context_engine.clock import Clock
from context_engine.home import Home
from context_engine.scopes import Scope

if TYPE_CHECKING:
    from workers.outbox import Outbox
    from workers.outbox_model import NewJob

JUST_NOW = timedelta(seconds=60)
"""Who asks so soon after it was finished wants to hear that it is, not to have it done again."""

_UNFINISHED = ("pending", "queued", "running", "waiting")


class IndexWork(StrEnum):
    """What the indexer can be asked for."""

    SCAN = "scan"
    """Compare every file with the index and follow what changed."""
    REBUILD = "rebuild"
    """Build the index anew beside the one in use: all that a scan does, and more."""


@dataclass(frozen=True)
class Asked:
    """What came of asking."""

    queued: IndexWork | None
    """None: it is under way, or was finished just now."""
    under_way: tuple[IndexWork, ...]
    finished: datetime | None
    """When such work was finished last, as far as the outbox remembers."""
    given_up: bool = False
    """Whether the engine had given it up the last time."""
    held_up: bool = False
    """Whether it waits for something that is away."""


@dataclass(frozen=True)
class _Known:
    """The outbox's row of one kind of work on one scope."""

    work: IndexWork
    state: str
    updated: datetime


def ask_indexer(home: Home, scope: Scope, work: IndexWork, clock: Clock) -> Asked:
    """Hand `work` on one scope's index to the outbox, durable when this returns.

    Asking for what is under way adds nothing; neither does asking just after it was finished,
    while an indexer runs, since it follows newer changes by itself.
    """
    with _outbox(home, clock) as outbox:
        before = _known(outbox, scope)
        finished = max(_done(before), default=None)
        if _is_seen_to(before, work) or (_is_fresh(before, work, clock) and indexer_runs(home)):
            held_up = any(each.state == "waiting" for each in before)
            return Asked(None, _under_way(before), finished, held_up=held_up)
        given_up = any(each.work is work and each.state == "quarantined" for each in before)
        outbox.add([_job(scope, work)])
        return Asked(work, _under_way(_known(outbox, scope)), finished, given_up=given_up)


def indexer_runs(home: Home) -> bool:
    """Return whether some process works on what is handed over."""
    from workers.liveness import is_alive

    folder = home.state / "workers"
    return any(is_alive(folder, path.stem) for path in folder.glob("indexer-*.lock"))


def _known(outbox: Outbox, scope: Scope) -> tuple[_Known, ...]:
    works = {_job(scope, work).key: work for work in IndexWork}
    rows = outbox.connection().execute(
        "SELECT key, state, updated FROM job WHERE key IN (?, ?)", tuple(works)
    )
    return tuple(
        _Known(works[key], state, datetime.fromtimestamp(updated, UTC))
        for key, state, updated in rows
    )


def _is_seen_to(known: tuple[_Known, ...], work: IndexWork) -> bool:
    return any(each in (work, IndexWork.REBUILD) for each in _under_way(known))


def _is_fresh(known: tuple[_Known, ...], work: IndexWork, clock: Clock) -> bool:
    done = _done(each for each in known if each.work in (work, IndexWork.REBUILD))
    return any(abs(clock.now() - moment) < JUST_NOW for moment in done)


def _under_way(known: tuple[_Known, ...]) -> tuple[IndexWork, ...]:
    states = {each.work: each.state for each in known}
    return tuple(work for work in IndexWork if states.get(work) in _UNFINISHED)


def _done(known: Iterable[_Known]) -> Iterator[datetime]:
    return (each.updated for each in known if each.state == "done")


def _job(scope: Scope, work: IndexWork) -> NewJob:
    from workers.indexer_jobs import reindex_job

    return reindex_job(scope, rebuild=work is IndexWork.REBUILD)


@contextmanager
def _outbox(home: Home, clock: Clock) -> Iterator[Outbox]:
    from workers.outbox import Outbox

    outbox = Outbox(home.outbox, clock=clock)
    try:
        yield outbox
    finally:
        outbox.close()

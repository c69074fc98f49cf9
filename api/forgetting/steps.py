"""Forgetting in steps that may each be repeated: a kill in the middle is gone on from.

Tombstones come first, so that nothing that still runs brings back what the next steps take out;
then the plan is written down, and everything goes. The plan holds names, no text, and goes last.
"""

from __future__ import annotations

import dataclasses
import fcntl
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

from api.forgetting.databases import purge_index, purge_outbox, purge_recent
from api.forgetting.evidence import strip_evidence
from api.forgetting.files import blacken_logs, purge_journal, remove_notes
from api.forgetting.plan import Plan, Section
from api.forgetting.transport import purge_broker
from api.review.journal import append
from context_engine.clock import Clock, SystemClock
from context_engine.home import Home
from context_engine.scopes import Scope
from context_engine.settings import Settings
from index.schema import locked
from vault.tombstones import bury


def carry_out(settings: Settings, plan: Plan, clock: Clock | None = None) -> tuple[str, ...]:
    """Forget what `plan` names, for good; return what is left to do, in words.

    Raises DeadlineExceededError and NoteConflictError when something would not let go; calling
    again, or the next start of the engine, goes on.
    """
    home = settings.paths
    with _alone(home):
        bury(home, plan.graves, (clock or SystemClock()).now())
        return _steps(settings, plan, _write(home, plan))


def finish_interrupted(settings: Settings, *, starting: bool = False) -> int:
    """Go on with what a kill interrupted; return how much there was.

    `starting`: the engine's parts, its broker included, are still to be started.
    """
    if not any(_folder(settings.paths).glob("*.json")):
        return 0
    with _alone(settings.paths):
        found = sorted(_folder(settings.paths).glob("*.json"))
        for path in found:
            _finish(settings, path, starting=starting)
        return len(found)


def _finish(settings: Settings, path: Path, *, starting: bool) -> None:
    try:
        plan = _read(path)
    except (orjson.JSONDecodeError, KeyError, IndexError, ValueError):
        # killed while writing it: nothing was taken out yet, and the tombstones stand
        path.unlink()
        return
    _steps(settings, plan, path, starting=starting)


@contextmanager
def _alone(home: Home) -> Iterator[None]:
    """Let one process forget at a time."""
    home.locks.mkdir(mode=0o700, parents=True, exist_ok=True)
    with locked(home.locks / "forget.lock", fcntl.LOCK_EX):
        yield


def _steps(
    settings: Settings, plan: Plan, written: Path, *, starting: bool = False
) -> tuple[str, ...]:
    home = settings.paths
    remove_notes(home, plan)
    strip_evidence(home, plan)
    purge_outbox(home.outbox, plan)
    for scope in plan.scopes:
        notes = [path for one, path in plan.notes if one is scope]
        purge_index(home, scope, [*notes, *(p.path for p in plan.sections if p.scope is scope)])
    problem = purge_broker(settings, plan, starting=starting)
    purge_recent(home.state / "recent.db")
    purge_journal(home, plan)
    # what ran meanwhile may have written names again
    purge_outbox(home.outbox, plan)
    blacken_logs(home, plan.phrases)
    if problem is None:
        written.unlink(missing_ok=True)
        return ()
    return (problem,)


def _folder(home: Home) -> Path:
    return home.state / "forget"


def _write(home: Home, plan: Plan) -> Path:
    _folder(home).mkdir(mode=0o700, parents=True, exist_ok=True)
    path = _folder(home) / f"{secrets.token_hex(6)}.json"
    # what was said is no part of it
    named = dataclasses.replace(plan, graves=(), left=(), identity=())
    data: dict[str, Any] = dataclasses.asdict(named)
    append(path, [data])
    return path


def _read(path: Path) -> Plan:
    data = orjson.loads(path.read_bytes().splitlines()[0])
    return Plan(
        notes=tuple((Scope(scope), note) for scope, note in data["notes"]),
        sections=tuple(
            Section(Scope(part["scope"]), part["path"], part["insight_id"])
            for part in data["sections"]
        ),
        events=tuple(data["events"]),
        insights=tuple(data["insights"]),
        phrases=tuple(data["phrases"]),
    )

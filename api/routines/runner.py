"""One run of one routine, by whoever asks: `up`, a person, an outside scheduler."""

from __future__ import annotations

import glob
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from api.routines.history import History
from context_engine.clock import SystemClock
from context_engine.errors import ContextEngineError, UsageError
from context_engine.home import Home
from context_engine.logs import get_logger
from context_engine.routine_settings import KINDS, RoutineSettings
from context_engine.scopes import Scope
from context_engine.settings import Settings
from workers.liveness import try_lock

SETTLED_SECONDS = 20.0
"""A file that `*` found and that changed so shortly ago may still be downloading: next time."""

log = get_logger(__name__)

Counts = Mapping[str, Any]


@dataclass(frozen=True)
class RunResult:
    """What a run did. `outcome` is ok, failed or busy (it is running already)."""

    routine: str
    outcome: str
    counts: Counts
    error: str | None = None


def routine_named(settings: Settings, name: str) -> RoutineSettings:
    """Return one routine.

    Raises UsageError naming those there are.
    """
    for routine in settings.routine:
        if routine.name == name:
            return routine
    known = ", ".join(routine.name for routine in settings.routine) or "none yet"
    raise UsageError(
        f"there is no routine {name!r} in {settings.paths.config_file}; known: {known}"
    )


def run_routine(settings: Settings, routine: RoutineSettings) -> RunResult:
    """Run it now, unless it is running; the history says what came of it. Never raises for it."""
    with _alone(settings.paths, routine.name) as alone:
        if not alone:
            return RunResult(routine.name, "busy", {})
        with History(settings.paths.routines) as history:
            run_id = history.begin(routine.name)
            try:
                counts, error = _attempt(settings, routine)
            except KeyboardInterrupt:
                history.interrupt(run_id)
                raise
            history.end(run_id, counts, error)
    return RunResult(routine.name, "ok" if error is None else "failed", counts, error)


def _attempt(settings: Settings, routine: RoutineSettings) -> tuple[Counts, str | None]:
    try:
        counts = _work_of(routine)(settings, routine)
    except ContextEngineError as error:
        log.warning("routine failed", routine=routine.name, error=str(error))
        return {}, str(error)
    except Exception as error:
        log.exception("routine failed", routine=routine.name)
        return {}, f"{type(error).__name__}: {error}"
    return counts, None


@contextmanager
def _alone(home: Home, name: str) -> Iterator[bool]:
    lock = try_lock(home.locks / f"routine-{name}.lock")
    try:
        yield lock is not None
    finally:
        if lock is not None:
            lock.close()


def is_busy(home: Home, name: str) -> bool:
    """Return whether a run of this routine is going on."""
    with _alone(home, name) as alone:
        return not alone


def _work_of(routine: RoutineSettings) -> Callable[[Settings, RoutineSettings], Counts]:
    return _KINDS[routine.source] if routine.source in KINDS else _collect


def _collect(settings: Settings, routine: RoutineSettings) -> Counts:
    from api.cli.ingest import ingest
    from connectors.base import LiveConnector
    from connectors.registry import load
    from workers.collector import read_options

    connector = load(routine.source)
    paths: tuple[Path, ...] = ()
    if not isinstance(connector, LiveConnector):
        paths = found_paths(routine.paths or tuple(str(p) for p in connector.default_paths))
        if not paths:
            return {"paths": 0}
    options = read_options(settings, routine.scope, routine.project)
    summary = ingest(settings, connector, paths, options, wait=False)
    counted = ("events", "new", "messages", "unchanged", "bad_count", "pending", "seconds")
    counts = {"paths": len(paths)} | {name: summary[name] for name in counted}
    if summary["bad_count"] and not summary["events"] and not summary["unchanged"]:
        first = summary["bad_records"][0]
        raise ContextEngineError(f"nothing could be read; {first['place']}: {first['reason']}")
    return counts


def found_paths(patterns: tuple[str, ...], *, now: float | None = None) -> tuple[Path, ...]:
    """Return what there is: named paths as they are, of patterns what matches and has settled.

    Raises ContextEngineError for a named path that is not there.
    """
    found: dict[Path, None] = {}
    for pattern in patterns:
        expanded = str(Path(pattern).expanduser())
        if glob.has_magic(expanded):
            matches = map(Path, sorted(glob.glob(expanded, recursive=True)))  # noqa: PTH207 - `**` in any place
            found |= dict.fromkeys(p for p in matches if _settled(p, now or time.time()))
        elif Path(expanded).exists():
            found[Path(expanded)] = None
        else:
            raise ContextEngineError(f"no such file or folder: {expanded}")
    return tuple(found)


def _settled(path: Path, now: float) -> bool:
    try:
        return path.is_dir() or now - path.stat().st_mtime >= SETTLED_SECONDS
    except OSError:
        return False


def _reindex(settings: Settings, routine: RoutineSettings) -> Counts:
    from workers.indexer_jobs import reindex_job
    from workers.outbox import Outbox

    scopes = _scopes(routine)
    Outbox(settings.paths.outbox).add([reindex_job(scope, rebuild=False) for scope in scopes])
    return {"scopes": len(scopes)}


def _scopes(routine: RoutineSettings) -> tuple[Scope, ...]:
    return (routine.scope,) if routine.scope else tuple(Scope)


def _review_summary(settings: Settings, routine: RoutineSettings) -> Counts:
    from api.review import summary

    found = summary(settings.paths, SystemClock().now(), _scopes(routine))
    return {
        "waiting": found.waiting,
        "said_this_week": found.said_this_week,
        "claims_validated": found.claims_validated,
        "for_identity": found.for_identity,
    }


def _backup(settings: Settings, routine: RoutineSettings) -> Counts:
    from api.backup import scheduled_backup

    return scheduled_backup(settings, routine.paths)


_KINDS = {"backup": _backup, "reindex": _reindex, "review-summary": _review_summary}

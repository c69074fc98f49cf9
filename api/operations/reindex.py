"""Bring the caller's index up to date with its vault, and say how far it is."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from api.caller import Caller
from api.operations.base import Answer, Operation, Request, Services
from api.operations.indexing import Asked, IndexWork, ask_indexer, indexer_runs
from api.problems import problem_of
from context_engine.clock import isoformat
from context_engine.errors import ContextEngineError
from index.model import ScopeStats

_NO_INDEXER = (
    "The engine does not run, so this waits in its queue. The owner starts it with: "
    "context-engine up (or, for this once, context-engine reindex)"
)
_GIVEN_UP = (
    "The last time the engine gave this up; if it does so again, the owner sees why with: "
    "context-engine status"
)
_HELD_UP = (
    "The engine waits with this until something is back; the owner sees what with: "
    "context-engine status"
)


class ReindexRequest(Request):
    """How thoroughly."""

    rebuild: Annotated[
        bool,
        Field(
            description="Build the index anew beside the one in use; only when search is damaged "
            "or wrong. To see how far it is, call without."
        ),
    ] = False


class ReindexAnswer(Answer):
    """What was handed over, and the state of the index."""

    scope: Annotated[str, Field(description="The vault that this client writes to.")]
    queued: Annotated[
        IndexWork | None,
        Field(description="What this call handed over; null: under way, or finished just now."),
    ]
    under_way: Annotated[
        tuple[IndexWork, ...], Field(description="What is not finished yet; empty: all is.")
    ]
    finished: Annotated[
        str | None, Field(description="When such work was finished last; null: not known.")
    ]
    engine_runs: Annotated[bool, Field(description="Whether anybody works on it.")]
    notes: int
    chunks: int
    embedded: Annotated[int, Field(description="Chunks that can be found by meaning.")]
    waiting: Annotated[int, Field(description="Chunks found by keyword only until embedded.")]
    rebuild_waiting: Annotated[
        int | None,
        Field(description="Chunks a running rebuild has still to embed; null: none runs."),
    ]
    warnings: tuple[str, ...]


def reindex(services: Services, caller: Caller, request: ReindexRequest) -> ReindexAnswer:
    """Ask for the caller's own index to be brought up to date, and return at once."""
    from workers.indexes import rebuild_waits_for

    work = IndexWork.REBUILD if request.rebuild else IndexWork.SCAN
    asked = ask_indexer(services.home, caller.scope, work, services.clock)
    runs = indexer_runs(services.home)
    warnings = list(_warnings(asked, runs=runs))
    stats = _stats(services, caller, warnings)
    return ReindexAnswer(
        scope=caller.scope.value,
        queued=asked.queued,
        under_way=asked.under_way,
        finished=isoformat(asked.finished) if asked.finished else None,
        engine_runs=runs,
        notes=stats.notes,
        chunks=stats.chunks,
        embedded=stats.embedded,
        waiting=max(0, stats.chunks - stats.embedded - stats.quarantined),
        # what a rebuild that was killed had written is nobody's progress
        rebuild_waiting=rebuild_waits_for(services.home, caller.scope) if runs else None,
        warnings=tuple(warnings),
    )


def _warnings(asked: Asked, *, runs: bool) -> tuple[str, ...]:
    said = ((_GIVEN_UP, asked.given_up), (_HELD_UP, asked.held_up), (_NO_INDEXER, not runs))
    return tuple(text for text, holds in said if holds)


def _stats(services: Services, caller: Caller, warnings: list[str]) -> ScopeStats:
    try:
        return services.index.stats(caller.scope)
    except ContextEngineError as error:
        warnings.append(problem_of(error).message)
        return ScopeStats(caller.scope, 0, 0, 0, 0, "", 0)


REINDEX = Operation(
    name="reindex",
    title="Bring the search up to date",
    description=(
        "Make files that were changed, moved or deleted outside searchable as they are now. It "
        "happens by itself; call it when a search misses what a note says. Returns at once: call "
        "again to see how far it is (under_way empty means done)."
    ),
    request=ReindexRequest,
    answer=ReindexAnswer,
    run=reindex,
    writes=True,
)

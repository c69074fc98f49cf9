"""Search the memory: places, never bodies."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from api.caller import Caller
from api.operations.base import Answer, Operation, Request, Services, Use, Word, Words
from api.operations.budget import MAX_BUDGET, MIN_BUDGET, largest_within
from api.operations.dates import Since, Until
from api.operations.found import Found, found
from context_engine.insights import Confidence, Kind
from index.model import DEFAULT_LIMIT, Filters, SearchRequest

MAX_LIMIT = 50
MAX_QUERY = 10_000


class SearchKnowledgeRequest(Request):
    """What to look for. Every filter given must hold."""

    query: Annotated[
        str,
        Field(
            min_length=1,
            max_length=MAX_QUERY,
            description="Plain words, names, identifiers or a question, in any language.",
        ),
    ]
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT, description="Most results.")] = DEFAULT_LIMIT
    kind: Annotated[Kind | None, Field(description="Only insights of this kind.")] = None
    source_type: Annotated[
        Word | None, Field(description="Only text from this source: claude, slack, …")
    ] = None
    project: Annotated[Word | None, Field(description="Only this project.")] = None
    people: Annotated[Words, Field(description="Only about all of these people.")] = ()
    tags: Annotated[Words, Field(description="Only with all of these tags.")] = ()
    confidence: Annotated[
        Confidence | None, Field(description="validated: only what the owner confirmed.")
    ] = None
    since: Annotated[
        Since | None, Field(description="Not older: 2026-11-02 or 2026-11-02T09:05:00Z.")
    ] = None
    until: Annotated[Until | None, Field(description="Not newer; a day is meant to its end.")] = (
        None
    )
    budget: Annotated[
        int | None,
        Field(ge=MIN_BUDGET, le=MAX_BUDGET, description="Most tokens of the answer."),
    ] = None


class SearchKnowledgeAnswer(Answer):
    """Places, best first."""

    results: tuple[Found, ...]
    left_out: Annotated[int, Field(description="Results that the budget had no room for.")] = 0
    warnings: tuple[str, ...] = ()

    def result_ids(self) -> tuple[str, ...]:
        """Return the chunks found."""
        return tuple(item.chunk_id for item in self.results)

    def places(self) -> tuple[str, ...]:
        """Return the notes found."""
        return tuple(item.path for item in self.results)


def search_knowledge(
    services: Services, caller: Caller, request: SearchKnowledgeRequest
) -> SearchKnowledgeAnswer:
    """Return the best places for `request.query` among what the caller may read."""
    result = services.index.search(caller.scope, as_search(request))
    everything = tuple(found(hit) for hit in result.hits)

    def answer(count: int) -> SearchKnowledgeAnswer:
        return SearchKnowledgeAnswer(
            results=everything[:count],
            left_out=len(everything) - count,
            warnings=result.warnings,
        )

    if request.budget is None:
        return answer(len(everything))
    return largest_within(request.budget, len(everything), answer)


def as_search(request: SearchKnowledgeRequest) -> SearchRequest:
    """Return `request` in the words of the index."""
    return SearchRequest(
        text=request.query,
        limit=request.limit,
        filters=Filters(
            kinds=(request.kind,) if request.kind else (),
            source_types=(request.source_type,) if request.source_type else (),
            project=request.project,
            people=request.people,
            tags=request.tags,
            confidence=request.confidence,
            since=request.since,
            until=request.until,
        ),
    )


SEARCH_KNOWLEDGE = Operation(
    name="search_knowledge",
    title="Search the memory",
    description=(
        "Search the owner's memory (decisions, learnings, values, people, past conversations). "
        "Call it before answering anything they may have settled or solved before. Gives places, "
        "not texts: read a good one with get_context (chunk_id) or read_memory (path)."
    ),
    request=SearchKnowledgeRequest,
    answer=SearchKnowledgeAnswer,
    run=search_knowledge,
    use=Use.SEARCH,
)

"""Who the owner is, what is going on, and what matters here: the start of a task."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from api.caller import Caller
from api.operations.base import Answer, Operation, Request, Services
from api.operations.budget import MAX_BUDGET, MIN_BUDGET, characters_within, largest_within
from api.operations.found import Found, found
from api.operations.projects import ProjectSummary, all_projects, summarise
from api.operations.quoting import NOTICE, Notice
from api.problems import problem_of
from connectors.places import project_name
from context_engine.clock import isoformat
from context_engine.errors import ContextEngineError
from context_engine.insights import Kind
from index.model import Filters, Hit, SearchRequest

_MAX_PROJECTS = 5
_MAX_KNOWLEDGE = 8
_KINDS = Filters(kinds=tuple(Kind))
_FEW = 3
"""With fewer notes of the project itself, others that resemble what goes on are added."""
_MAX_AROUND = 100
"""Characters of what goes on around the caller: a longer question costs milliseconds to embed."""
_CARD_SHARE = 0.6
_PROJECTS_SHARE = 0.8
"""Of the budget, up to which card and projects may fill it when it is short."""


class QuerySelfRequest(Request):
    """Where the caller is, and what for."""

    cwd: Annotated[
        str | None,
        Field(
            max_length=4096,
            description="Folder you work in: finds what concerns its project and recent work.",
        ),
    ] = None
    query: Annotated[
        str | None, Field(min_length=1, max_length=10_000, description="What the task is about.")
    ] = None
    budget: Annotated[
        int, Field(ge=MIN_BUDGET, le=MAX_BUDGET, description="Most tokens of the answer.")
    ] = 3000


class IdentityCard(BaseModel):
    """What the owner says about themselves, as far as this client may know it."""

    model_config = ConfigDict(frozen=True)

    text: Annotated[str, Field(description="Markdown, written by the owner.")]
    cut: Annotated[bool, Field(description="Whether the budget cut its end off.")] = False


class QuerySelfAnswer(Answer):
    """The owner in short."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)

    notice: Notice = NOTICE
    identity_card: IdentityCard | None
    current_projects: tuple[ProjectSummary, ...]
    relevant_knowledge: tuple[Found, ...]
    warnings: tuple[str, ...]
    as_of: Annotated[str, Field(description="UTC time of this answer.")]

    def result_ids(self) -> tuple[str, ...]:
        """Return projects and chunks named."""
        projects = tuple(project.path for project in self.current_projects)
        return projects + tuple(item.chunk_id for item in self.relevant_knowledge)


def query_self(services: Services, caller: Caller, request: QuerySelfRequest) -> QuerySelfAnswer:
    """Return the identity card, active projects and knowledge that concerns `cwd` and `query`.

    What fails is left out with a warning. When the budget is short, knowledge goes first, then
    projects, then the end of the card.
    """
    warnings: list[str] = []
    card = _card(services, caller, warnings)
    projects = _projects(services, caller, warnings)
    knowledge = _knowledge(services, caller, request, warnings)
    start = QuerySelfAnswer(
        identity_card=None,
        current_projects=(),
        relevant_knowledge=(),
        warnings=tuple(warnings),
        as_of=isoformat(services.clock.now()),
    )
    with_card = _fit_card(start, card, int(request.budget * _CARD_SHARE))
    with_projects = largest_within(
        int(request.budget * _PROJECTS_SHARE),
        len(projects),
        lambda count: with_card.model_copy(update={"current_projects": projects[:count]}),
    )
    return largest_within(
        request.budget,
        len(knowledge),
        lambda count: with_projects.model_copy(update={"relevant_knowledge": knowledge[:count]}),
    )


def _fit_card(start: QuerySelfAnswer, card: str, budget: int) -> QuerySelfAnswer:
    if not card:
        return start

    def with_card(length: int) -> QuerySelfAnswer:
        text = card[:length]
        return start.model_copy(
            update={"identity_card": IdentityCard(text=text, cut=len(text) < len(card))}
        )

    return largest_within(budget, min(len(card), characters_within(budget) + 1), with_card)


def _card(services: Services, caller: Caller, warnings: list[str]) -> str:
    try:
        return services.shelf.identity_card(services.home, caller.scope)
    except ContextEngineError as error:
        warnings.append(f"the identity cannot be read: {problem_of(error).message}")
        return ""


def _projects(
    services: Services, caller: Caller, warnings: list[str]
) -> tuple[ProjectSummary, ...]:
    from vault.projects import State

    try:
        projects = all_projects(services, caller)
    except ContextEngineError as error:
        warnings.append(f"projects cannot be read: {problem_of(error).message}")
        return ()
    active = [project for project in projects if project.state is State.ACTIVE]
    return tuple(summarise(project) for project in active[:_MAX_PROJECTS])


def _knowledge(
    services: Services, caller: Caller, request: QuerySelfRequest, warnings: list[str]
) -> tuple[Found, ...]:
    try:
        found_by = list(_hits(services, caller, request, warnings))
    except ContextEngineError as error:
        warnings.append(f"knowledge cannot be searched: {problem_of(error).message}")
        return ()
    return tuple(found(hit) for hit in _merged(found_by))


def _hits(
    services: Services, caller: Caller, request: QuerySelfRequest, warnings: list[str]
) -> Iterator[tuple[Hit, ...]]:
    """Yield what concerns the task, then what concerns the place and what goes on in it."""
    cwd = request.cwd or caller.folder
    project = project_name(cwd)
    if request.query:
        task = " ".join(part for part in (request.query, project) if part)
        yield _searched(services, caller, task, _KINDS, warnings)
    if cwd and project:
        local = caller.is_local
        around = (
            services.shelf.surroundings(cwd, services.clock).words(_MAX_AROUND) if local else ""
        )
        place = f"{project} {around}".strip()
        own = _searched(services, caller, place, replace(_KINDS, project=project), warnings)
        yield own
        if len(own) < _FEW and (around or not request.query):
            yield _searched(services, caller, place, _KINDS, warnings)


def _searched(
    services: Services, caller: Caller, text: str, filters: Filters, warnings: list[str]
) -> tuple[Hit, ...]:
    result = services.index.search(caller.scope, SearchRequest(text, _MAX_KNOWLEDGE, filters))
    warnings.extend(text for text in result.warnings if text not in warnings)
    return result.hits


def _merged(found_by: Sequence[tuple[Hit, ...]]) -> list[Hit]:
    """Return the first of each, each in turn, until there are enough; the task goes first."""
    share = math.ceil(_MAX_KNOWLEDGE / 2) if len(found_by) > 1 else _MAX_KNOWLEDGE
    first, *others = found_by or [()]
    in_turn = (hit for hits in zip_longest(*others) for hit in hits if hit is not None)
    ordered = (*first[:share], *in_turn, *first[share:])
    unique: dict[str, Hit] = {}
    for hit in ordered:
        unique.setdefault(hit.chunk_id, hit)
    return list(unique.values())[:_MAX_KNOWLEDGE]


QUERY_SELF = Operation(
    name="query_self",
    title="Who the owner is and what is going on",
    description=(
        "Call it once at the start of a task: who the owner is and how they work (identityCard), "
        "their active projects, and knowledge that concerns your working folder (cwd) and the "
        "task (query). Then use search_knowledge for anything particular."
    ),
    request=QuerySelfRequest,
    answer=QuerySelfAnswer,
    run=query_self,
)

"""Who the owner is, what is going on, and what matters here: the start of a task."""

from __future__ import annotations

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
from index.model import Filters, SearchRequest

_MAX_PROJECTS = 5
_MAX_KNOWLEDGE = 8
_CARD_SHARE = 0.6
_PROJECTS_SHARE = 0.8
"""Of the budget, up to which card and projects may fill it when it is short."""


class QuerySelfRequest(Request):
    """Where the caller is, and what for."""

    cwd: Annotated[
        str | None,
        Field(max_length=4096, description="Folder you work in: finds what concerns its project."),
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
    from vault.identity import identity_card

    try:
        return identity_card(services.home, caller.scope)
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
    project = project_name(request.cwd)
    text = " ".join(part for part in (request.query, project) if part)
    if not text:
        return ()
    wanted = SearchRequest(text, limit=_MAX_KNOWLEDGE, filters=Filters(kinds=tuple(Kind)))
    try:
        result = services.index.search(caller.scope, wanted)
    except ContextEngineError as error:
        warnings.append(f"knowledge cannot be searched: {problem_of(error).message}")
        return ()
    warnings.extend(result.warnings)
    return tuple(found(hit) for hit in result.hits)


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

"""List projects with their state."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from api.caller import Caller
from api.operations.base import Answer, Operation, Request, Services
from api.operations.budget import MAX_BUDGET, MIN_BUDGET, largest_within
from api.operations.projects import ProjectSummary, all_projects, summarise
from api.operations.quoting import NOTICE, Notice


class Wanted(StrEnum):
    """Which projects."""

    ACTIVE = "active"
    PAUSED = "paused"
    DONE = "done"
    ALL = "all"


class ListProjectsRequest(Request):
    """Which projects to list."""

    state: Annotated[Wanted, Field(description="Only projects in this state.")] = Wanted.ACTIVE
    budget: Annotated[
        int, Field(ge=MIN_BUDGET, le=MAX_BUDGET, description="Most tokens of the answer.")
    ] = 4000


class ListProjectsAnswer(Answer):
    """Projects, the most recently touched first."""

    notice: Notice = NOTICE
    projects: tuple[ProjectSummary, ...]
    left_out: Annotated[int, Field(description="Projects the budget had no room for.")] = 0

    def result_ids(self) -> tuple[str, ...]:
        """Return the projects' notes."""
        return tuple(project.path for project in self.projects)


def list_projects(
    services: Services, caller: Caller, request: ListProjectsRequest
) -> ListProjectsAnswer:
    """Return the projects in the wanted state."""
    found = [
        summarise(project)
        for project in all_projects(services, caller)
        if request.state in (Wanted.ALL, project.state)
    ]

    def answer(count: int) -> ListProjectsAnswer:
        return ListProjectsAnswer(projects=tuple(found[:count]), left_out=len(found) - count)

    return largest_within(request.budget, len(found), answer)


LIST_PROJECTS = Operation(
    name="list_projects",
    title="List projects",
    description=(
        "List the owner's projects with goal, next steps and what happened last, the most recent "
        "first. Call it to see what is going on, or to find the exact name of a project before "
        "filtering a search or saving an insight about it."
    ),
    request=ListProjectsRequest,
    answer=ListProjectsAnswer,
    run=list_projects,
)

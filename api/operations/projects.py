"""Projects as callers see them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field

from api.caller import Caller
from api.operations.base import Services
from api.operations.found import clip
from api.operations.quoting import Label
from context_engine.clock import isoformat

if TYPE_CHECKING:
    from vault.projects import ProjectState

_MAX_NAME = 80
_MAX_GOAL = 200
_MAX_STEPS = 3
_MAX_STEP = 120
_MAX_LOG = 2


class LogLine(BaseModel):
    """Something that was noted about a project."""

    model_config = ConfigDict(frozen=True)

    date: str | None
    title: str
    confidence: Label


class ProjectSummary(BaseModel):
    """One project, in short."""

    model_config = ConfigDict(frozen=True)

    name: str
    path: Annotated[str, Field(description="Its note; read_memory takes it.")]
    state: Annotated[str, Field(description="active, paused or done.")]
    goal: str | None
    next_steps: tuple[str, ...]
    latest: tuple[LogLine, ...]
    updated: str


def all_projects(services: Services, caller: Caller) -> tuple[ProjectState, ...]:
    """Return the projects that the caller may read, whatever their state, newest first.

    One of which nothing was heard for long counts as paused.
    """
    found = [
        _after_silence(services, project)
        for scope in caller.scope.readable
        for project in services.shelf.projects(services.home, scope)
    ]
    return tuple(sorted(found, key=lambda project: (project.updated, project.path), reverse=True))


def _after_silence(services: Services, project: ProjectState) -> ProjectState:
    from vault.projects import after_silence

    if services.project_silence is None:
        return project
    return after_silence(project, services.clock.now(), services.project_silence)


def summarise(project: ProjectState) -> ProjectSummary:
    """Return `project` in short."""
    return ProjectSummary(
        name=clip(project.name, _MAX_NAME),
        path=f"{project.scope.value}/{project.path}",
        state=project.state,
        goal=clip(project.goal, _MAX_GOAL) if project.goal else None,
        next_steps=tuple(clip(step, _MAX_STEP) for step in project.next_steps[:_MAX_STEPS]),
        latest=tuple(
            LogLine(
                date=isoformat(entry.at) if entry.at else None,
                title=clip(entry.title, _MAX_STEP),
                confidence=entry.confidence,
            )
            for entry in project.log[:_MAX_LOG]
        ),
        updated=isoformat(project.updated),
    )

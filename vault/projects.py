"""Projects as their notes tell: state, goal, next steps and what happened last."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from types import MappingProxyType

from context_engine.events import BadRecord
from context_engine.home import Home
from context_engine.scopes import Scope
from vault.entries import Entry
from vault.layout import PROJECTS
from vault.marks import Standing
from vault.notefile import list_in, text_in, time_in
from vault.notes import Note, iter_notes

_LOG_LENGTH = 5
_GOAL = frozenset({"goal", "goals", "purpose", "目標", "目的", "ゴール"})
_NEXT = frozenset(
    {"next", "next step", "next steps", "todo", "次", "次の一手", "次のステップ", "やること"}
)
_BULLET = re.compile(
    r"^\s*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ ]\][ \t]+)?(?!\[[xX]\])(.+)$", re.MULTILINE
)


_GOAL_SAID = re.compile(
    r"(?:目標|目的|ゴール)は|\b(?:goal|aim|purpose)\s(?:is|of|was)\b|\baims?\sto\b", re.IGNORECASE
)
_NEXT_SAID = re.compile(
    r"次(?:は|に|の一手|のステップ)|残り|待ち|未着手|\bnext\b|\bremain(?:s|ing)\b|\bto\sdo\b"
    r"|\bstill\sneeds?\b|\bwait(?:s|ing)\sfor\b|\bblocked\b",
    re.IGNORECASE,
)
_NEXT_AMONG = 20
"""The latest insights that next steps are looked for in."""
_NEXT_LENGTH = 3
_STATEMENT = 400
"""Characters of an insight."""


class State(StrEnum):
    """Whether a project is worked on."""

    ACTIVE = "active"
    PAUSED = "paused"
    DONE = "done"


_STATES: Mapping[str, State] = MappingProxyType(
    {
        **{state.value: state for state in State},
        "on hold": State.PAUSED,
        "finished": State.DONE,
        "completed": State.DONE,
        "進行中": State.ACTIVE,
        "休止": State.PAUSED,
        "保留": State.PAUSED,
        "完了": State.DONE,
    }
)


@dataclass(frozen=True)
class ProjectState:
    """One project. `log` holds its latest insights, newest first."""

    scope: Scope
    path: str
    name: str
    state: State
    goal: str | None
    next_steps: tuple[str, ...]
    updated: datetime
    log: tuple[Entry, ...]


def active_projects(
    home: Home,
    scope: Scope,
    *,
    now: datetime | None = None,
    silence: timedelta | None = None,
    limit: int = 20,
) -> tuple[ProjectState, ...]:
    """Return the active projects of one vault, the most recent first.

    With `now` and `silence`, a project of which nothing was heard for so long counts as paused;
    its note is not changed. Notes that cannot be read are passed over.
    """
    projects = [project_state(note) for note in project_notes(home, scope)]
    if now is not None and silence is not None:
        projects = [after_silence(project, now, silence) for project in projects]
    active = [project for project in projects if project.state is State.ACTIVE]
    return tuple(sorted(active, key=lambda project: project.updated, reverse=True)[:limit])


def project_notes(home: Home, scope: Scope) -> tuple[Note, ...]:
    """Return the notes of all projects of one vault, whatever their state."""
    found = iter_notes(home, scope, PROJECTS)
    return tuple(note for note in found if not isinstance(note, BadRecord))


def project_state(note: Note) -> ProjectState:
    """Return what a project's note says.

    Front matter goes first, then headings like `## Goal`, then what its insights say of goal and
    next steps: the newest that nothing replaced.
    """
    said = (entry for entry in note.entries if _counts(entry))
    entries = sorted(said, key=_time_of, reverse=True)
    return ProjectState(
        scope=note.scope,
        path=note.path,
        name=note.title,
        state=_STATES.get((text_in(note.front, "state") or "").strip().lower(), State.ACTIVE),
        goal=text_in(note.front, "goal") or _section(note, _GOAL) or _said_goal(entries),
        next_steps=_next_steps(note) or _said_next(entries),
        updated=_updated(note),
        log=tuple(entries[:_LOG_LENGTH]),
    )


def after_silence(project: ProjectState, now: datetime, silence: timedelta) -> ProjectState:
    """Return the project paused when nothing was heard of it for so long, else as it is.

    The next insight about it makes it active again: its note never said otherwise.
    """
    quiet = project.state is State.ACTIVE and now - project.updated >= silence
    return replace(project, state=State.PAUSED) if quiet else project


def _counts(entry: Entry) -> bool:
    return entry.standing is not Standing.WITHDRAWN and entry.superseded_by is None


def _said_goal(entries: Sequence[Entry]) -> str | None:
    texts = (_statement(entry) for entry in entries)
    return next((text for text in texts if _GOAL_SAID.search(text)), None)


def _said_next(entries: Sequence[Entry]) -> tuple[str, ...]:
    texts = [_statement(entry) for entry in entries[:_NEXT_AMONG]]
    return tuple(text for text in texts if _NEXT_SAID.search(text))[:_NEXT_LENGTH]


def _statement(entry: Entry) -> str:
    return " ".join(entry.statement.content[:_STATEMENT].split())


def _updated(note: Note) -> datetime:
    times = [entry.at for entry in note.entries if entry.at]
    stated = time_in(note.front, "updated")
    if stated:
        times.append(stated)
    changed = datetime.fromtimestamp(note.mtime_ns / 1e9, UTC)
    return max(times, default=changed)


def _time_of(entry: Entry) -> datetime:
    return entry.at or datetime.min.replace(tzinfo=UTC)


def _next_steps(note: Note) -> tuple[str, ...]:
    stated = list_in(note.front, "next_steps") or list_in(note.front, "next")
    if stated:
        return stated
    text = _section(note, _NEXT) or ""
    return tuple(match[1].strip() for match in _BULLET.finditer(text))


def _section(note: Note, names: frozenset[str]) -> str | None:
    for section in note.sections:
        if section.title.strip().lower() in names and section.text.strip():
            return section.text.strip()
    return None

"""What the outbox stores and gives: jobs to add, jobs to work, what came of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from context_engine.errors import DependencyDownError


@dataclass(frozen=True)
class NewJob:
    """A job to add. A key that exists already is asked for again, never added twice."""

    queue: str
    key: str
    arguments: Mapping[str, Any]
    lane: str
    """Jobs of one lane and queue run one after the other, in the order of their adding."""
    event_id: str | None = None
    repeatable: bool = False
    """Asking again after it was done runs it again (re-index a path), else it stays done."""


@dataclass(frozen=True)
class Job:
    """A job as a worker gets it."""

    job_id: int
    queue: str
    key: str
    event_id: str | None
    arguments: Mapping[str, Any]
    attempts: int
    wanted: int


@dataclass(frozen=True)
class Quarantined:
    """A job that was given up, kept until a person acts."""

    job_id: int
    queue: str
    key: str
    event_id: str | None
    error_class: str
    error: str
    attempts: int


@dataclass(frozen=True)
class Outcome:
    """What a job did, and what follows from it."""

    result: Mapping[str, Any] = field(default_factory=dict)
    follow_ups: tuple[NewJob, ...] = ()
    paths: tuple[tuple[str, str], ...] = ()
    """(scope, path) of the files it wrote, for the receipt."""
    outcomes: Mapping[str, int] = field(default_factory=dict)
    """Counters to add to."""
    drop_payload: bool = False
    """The event's text is in the vault now."""
    waits_for: DependencyDownError | None = None
    """Set when only a provisional part could be done: the job is asked again later."""

"""What a review shows and answers. Frozen, without any transport."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from context_engine.clock import Clock, SystemClock
from context_engine.errors import UsageError
from context_engine.home import Home
from context_engine.insights import Confidence, Kind
from context_engine.scopes import Scope

_NAME = re.compile(r"[A-Za-z0-9._-]{1,40}\Z")


def tell_nobody(scope: Scope, path: str) -> None:
    """Take a note's place and do nothing: the indexer's watch finds it."""
    del scope, path


@dataclass(frozen=True)
class Desk:
    """Where one person reviews: build one a request. Only a person's own face may hold one.

    `reviewer` and `place` (`cli`, `dashboard`) are recorded with every decision. Raises UsageError
    when one of them is no plain word of at most 40 ASCII letters, digits, `.`, `_` and `-`.
    """

    home: Home
    reviewer: str = "owner"
    place: str = "cli"
    clock: Clock = field(default_factory=SystemClock)
    notify: Callable[[Scope, str], None] = tell_nobody
    """Called with scope and vault path of every note changed (`api.notify.OutboxNotifier`)."""

    def __post_init__(self) -> None:
        for word in (self.reviewer, self.place):
            if not _NAME.match(word):
                raise UsageError(f"{word!a} is no name: letters, digits, . _ - and at most 40")

    @property
    def by(self) -> str:
        """Who decides and where, as it is recorded: `owner@cli`."""
        return f"{self.reviewer}@{self.place}"


@dataclass(frozen=True)
class Item:
    """One insight as a person judges it. Texts are plain (no escapes) and untrusted: show as text.

    `content_hash` (64 hex digits) covers all that is sealed; give it back with a decision, which is
    then refused when the text changed since.
    """

    insight_id: str
    scope: Scope
    path: str
    """Relative to the vault of `scope`; for kinds `project` and `person` the subject's note."""
    kind: Kind
    confidence: Confidence
    title: str
    content: str
    evidence: str
    content_hash: str
    source: str | None
    source_path: str | None
    """Vault path of the source note it links to."""
    source_title: str | None
    utterance: str | None
    """Marker of the message that holds the evidence."""
    extractor: str | None
    created: datetime | None
    project: str | None
    subject: str | None
    """Whom or what a `person` or `project` insight is about."""
    people: tuple[str, ...]
    tags: tuple[str, ...]
    claims_validated: bool
    """It says `validated` without a valid seal: written by somebody else, or before seals."""
    for_identity: bool
    """It speaks of the owner: offer `add_to_identity`."""
    withdrawn: bool = False
    """Its source deleted what it quotes."""
    reviewed: bool = False
    """A person decided on it."""

    @property
    def place(self) -> str:
        """Vault and file, as other operations name it."""
        return f"{self.scope.value}/{self.path}"


@dataclass(frozen=True)
class Page:
    """Some of the insights that wait, newest first, and how many there are in all."""

    items: tuple[Item, ...]
    total: int


@dataclass(frozen=True)
class Similar:
    """A note that resembles an insight, by the index."""

    place: str
    title: str
    summary: str
    kind: Kind | None
    confidence: Confidence | None
    score: float


class Result(StrEnum):
    """What became of one insight of a decision."""

    DONE = "done"
    UNCHANGED = "unchanged"
    """It was so already."""
    NOT_FOUND = "not_found"
    CHANGED = "changed"
    """The text is another than the one that was shown; look at it again."""
    REFUSED = "refused"
    """See `reason`."""


@dataclass(frozen=True)
class Choice:
    """An insight that is decided on; `content_hash` None decides on whatever it says now."""

    insight_id: str
    content_hash: str | None = None


@dataclass(frozen=True)
class Done:
    """What became of one insight. `insight_id` is a new one after a change of kind or scope."""

    asked: str
    insight_id: str
    result: Result
    place: str | None = None
    reason: str | None = None


@dataclass(frozen=True)
class Report:
    """What a decision did. `batch` is what `undo` takes; None when nothing changed."""

    action: str
    batch: str | None
    done: tuple[Done, ...]

    @property
    def ok(self) -> bool:
        """Whether each insight is as it was asked for."""
        return all(one.result in (Result.DONE, Result.UNCHANGED) for one in self.done)


@dataclass(frozen=True)
class Summary:
    """How much waits."""

    waiting: int
    by_scope: dict[str, int]
    by_kind: dict[str, int]
    said_this_week: int
    """Of those, said in the seven days before; a note does not tell when it was saved."""
    oldest: datetime | None
    claims_validated: int
    """Notes that say `validated` without a seal; `reseal` goes through them."""
    for_identity: int
    decided_this_week: dict[str, int]
    """Insights by action (accept, reject, …), undone ones left out."""


@dataclass(frozen=True)
class Edit:
    """New values; None leaves a field as it is."""

    title: str | None = None
    content: str | None = None
    project: str | None = None
    people: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Batch:
    """One decision of the journal, newest first."""

    batch: str
    action: str
    by: str
    at: datetime
    insights: tuple[str, ...]
    undone: bool

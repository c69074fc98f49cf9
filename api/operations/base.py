"""What an operation is, and what it may use. Nothing here knows a transport."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any, Generic, Protocol, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from api.caller import Caller
from api.operations.shelf import Shelf
from api.usage.log import UsageLog
from context_engine.clock import Clock, SystemClock
from context_engine.home import Home
from context_engine.scopes import Scope
from index.model import ScopeStats, SearchRequest, SearchResult

if TYPE_CHECKING:
    from context_engine.redaction import RedactionOptions

    # numpy and SQLite come with it; a tool list must not wait for them
    from index.search import ChunkText


class Search(Protocol):
    """What operations need of the index. May be called from many threads."""

    def search(self, scope: Scope, request: SearchRequest) -> SearchResult:
        """Return the best hits among what `scope` may read."""
        ...

    def neighbours(self, scope: Scope, chunk_id: str, window: int = 3) -> tuple[ChunkText, ...]:
        """Return a chunk with what stands around it in its note; raises NotFoundError."""
        ...

    def stats(self, scope: Scope) -> ScopeStats:
        """Return the state of one scope's index; raises IndexCorruptError."""
        ...


def tell_nobody(scope: Scope, path: str) -> None:
    """Take a note's place and do nothing: some index follows the vault by itself."""
    del scope, path


@dataclass(frozen=True)
class Services:
    """What operations work with, injected once per process."""

    home: Home
    index: Search
    owner_name: str = "owner"
    clock: Clock = field(default_factory=SystemClock)
    notify: Callable[[Scope, str], None] = tell_nobody
    """Called with the scope and vault path of a note that was just written."""
    shelf: Shelf = field(default_factory=Shelf)
    redaction: RedactionOptions | None = None
    """What the owner wants out of saved text besides secrets, which always are."""
    project_silence: timedelta | None = None
    """After how long without news a project counts as paused; None: never."""
    usage: UsageLog = field(default_factory=UsageLog)


class Request(BaseModel):
    """Arguments of one operation. An unknown argument is refused, so that a typo is seen."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Answer(BaseModel):
    """Result of one operation."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)

    def result_ids(self) -> tuple[str, ...]:
        """Return the chunk ids and paths that this answer holds, for the audit log."""
        return ()

    def places(self) -> tuple[str, ...]:
        """Return the notes found or read, as scope and path, for the usage log."""
        return ()


class Use(Enum):
    """What an operation is to the usage log."""

    NONE = "none"
    SEARCH = "search"
    """Its answer names places, best first."""
    READING = "reading"
    """Its answer holds what was read."""


RequestT = TypeVar("RequestT", bound=Request)
AnswerT = TypeVar("AnswerT", bound=Answer)


@dataclass(frozen=True)
class Operation(Generic[RequestT, AnswerT]):
    """One thing a client can ask for, on every face alike."""

    name: str
    title: str
    description: str
    """Tells a model when to call it; at most 300 characters, which is what ChatGPT takes."""
    request: type[RequestT]
    answer: type[AnswerT]
    run: Callable[[Services, Caller, RequestT], AnswerT]
    writes: bool = False
    use: Use = Use.NONE

    def perform(self, services: Services, caller: Caller, request: Request) -> Answer:
        """Run with a request that is known to be of this operation's type."""
        if not isinstance(request, self.request):
            raise TypeError(f"{self.name} takes {self.request.__name__}")
        answer = self.run(services, caller, request)
        match self.use:
            case Use.SEARCH:
                services.usage.searched(caller, answer.places())
            case Use.READING:
                services.usage.read(caller, answer.places())
        return answer


def _as_list(value: Any) -> Any:
    """Read a list that a client sent as one word, or as JSON inside a string."""
    if not isinstance(value, str):
        return value
    try:
        parsed = json.loads(value)
    except ValueError:
        return [value]
    return parsed if isinstance(parsed, list) else [value]


Word = Annotated[str, Field(min_length=1, max_length=100)]
Words = Annotated[tuple[Word, ...], Field(max_length=20), BeforeValidator(_as_list)]

"""Read a passage with what stands around it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field

from api.caller import Caller
from api.operations.base import Answer, Operation, Request, Services, Use
from api.operations.budget import MAX_BUDGET, MIN_BUDGET, characters_within, cost, largest_within
from api.operations.found import clip
from api.operations.quoting import NOTICE, Label, Notice, label
from context_engine.clock import isoformat

if TYPE_CHECKING:
    from index.search import ChunkText

MAX_WINDOW = 20
_MAX_HEADING = 80


class GetContextRequest(Request):
    """Which passage, and how much around it."""

    chunk_id: Annotated[
        str, Field(pattern=r"^[0-9a-f]{16}$", description="A chunk_id from a search.")
    ]
    window: Annotated[
        int, Field(ge=0, le=MAX_WINDOW, description="Passages before and after it.")
    ] = 3
    budget: Annotated[
        int, Field(ge=MIN_BUDGET, le=MAX_BUDGET, description="Most tokens of the answer.")
    ] = 4000


class Passage(BaseModel):
    """One quoted passage."""

    model_config = ConfigDict(frozen=True)

    chunk_id: str
    wanted: Annotated[bool, Field(description="Whether this is the passage asked for.")]
    heading: Annotated[str, Field(description="Section; in a conversation author and time.")]
    author: str | None
    date: str | None
    confidence: Label
    text: str
    cut: Annotated[bool, Field(description="Whether the budget cut its end off.")] = False


class GetContextAnswer(Answer):
    """A passage with its neighbours, in the order of the note."""

    notice: Notice = NOTICE
    path: str
    title: str
    kind: str | None
    source: str | None
    passages: tuple[Passage, ...]
    left_out: Annotated[int, Field(description="Neighbours the budget had no room for.")] = 0

    def result_ids(self) -> tuple[str, ...]:
        """Return the chunks quoted."""
        return tuple(passage.chunk_id for passage in self.passages)

    def places(self) -> tuple[str, ...]:
        """Return the note quoted."""
        return (self.path,)


def get_context(services: Services, caller: Caller, request: GetContextRequest) -> GetContextAnswer:
    """Return the passage and its neighbours; the farthest go first when the budget is short.

    Raises NotFoundError when it is absent or not the caller's to read.
    """
    chunks = services.index.neighbours(caller.scope, request.chunk_id, request.window)
    at = next(n for n, chunk in enumerate(chunks) if chunk.chunk_id == request.chunk_id)

    def around(distance: int) -> GetContextAnswer:
        near = chunks[max(0, at - distance) : at + distance + 1]
        return _answer(near, request.chunk_id, len(chunks) - len(near))

    def shortened(characters: int) -> GetContextAnswer:
        return _answer(chunks[at : at + 1], request.chunk_id, len(chunks) - 1, characters)

    answer = largest_within(request.budget, request.window, around)
    if cost(answer) <= request.budget:
        return answer
    longest = min(len(chunks[at].text), characters_within(request.budget))
    return largest_within(request.budget, longest, shortened)


def _answer(
    chunks: Sequence[ChunkText], wanted: str, left_out: int, characters: int | None = None
) -> GetContextAnswer:
    first = chunks[0]
    return GetContextAnswer(
        path=f"{first.scope.value}/{first.path}",
        title=clip(first.title, _MAX_HEADING),
        kind=first.kind,
        source=first.source,
        passages=tuple(_passage(chunk, chunk.chunk_id == wanted, characters) for chunk in chunks),
        left_out=left_out,
    )


def _passage(chunk: ChunkText, wanted: bool, characters: int | None) -> Passage:
    text = chunk.text if characters is None else chunk.text[:characters]
    return Passage(
        chunk_id=chunk.chunk_id,
        wanted=wanted,
        heading=clip(chunk.heading, _MAX_HEADING),
        author=_author(chunk),
        date=isoformat(chunk.at) if chunk.at else None,
        confidence=label(chunk.confidence, chunk.path),
        text=text,
        cut=len(text) < len(chunk.text),
    )


def _author(chunk: ChunkText) -> str | None:
    """Return who said it: a conversation's headings are `author · time`."""
    author, separator, _ = chunk.heading.rpartition(" · ")
    return author if separator and chunk.path.startswith("sources/") else None


GET_CONTEXT = Operation(
    name="get_context",
    title="Read a passage in its context",
    description=(
        "Read a passage found by search_knowledge together with what was said before and after "
        "it, with author, date and confidence. Call it with the chunk_id of a promising result, "
        "above all for conversations. For a whole note use read_memory."
    ),
    request=GetContextRequest,
    answer=GetContextAnswer,
    run=get_context,
    use=Use.READING,
)

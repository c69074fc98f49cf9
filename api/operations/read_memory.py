"""Read a note: its outline, the section that concerns a question, or all of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Self

from pydantic import Field, model_validator

from api.caller import Caller
from api.operations.base import Answer, Operation, Request, Services
from api.operations.budget import MAX_BUDGET, MIN_BUDGET, characters_within, largest_within
from api.operations.found import clip
from api.operations.links import LinkTo, links_of
from api.operations.notes import for_readers, load_note, place_of
from api.operations.outline import as_markdown, best_sections, keep, outline
from api.operations.quoting import NOTICE, Label, Notice, label
from api.operations.staleness import stale_warnings
from context_engine.clock import isoformat

if TYPE_CHECKING:
    from datetime import datetime

    from vault.notes import Note

_MAX_SCANNED = 1_000_000
"""Characters of a note that an outline or the choice of a section looks at."""
_MAX_TITLE = 80
_MAX_FIELD = 40
_TEXT_SHARE = 0.8
"""Of the budget, when there are links to be listed too."""


class Level(StrEnum):
    """How much of a note is wanted."""

    OUTLINE = "outline"
    SECTION = "section"
    FULL = "full"


class ReadMemoryRequest(Request):
    """Which note, and how much of it."""

    path: Annotated[
        str, Field(min_length=1, max_length=1024, description="A path from a search or a link.")
    ]
    level: Annotated[
        Level,
        Field(description="outline: headings and key lines. section: what query asks. full: all."),
    ] = Level.OUTLINE
    query: Annotated[
        str | None,
        Field(min_length=1, max_length=2000, description="What you want from the note."),
    ] = None
    offset: Annotated[
        int, Field(ge=0, description="With full: the next_offset of the answer before.")
    ] = 0
    budget: Annotated[
        int, Field(ge=MIN_BUDGET, le=MAX_BUDGET, description="Most tokens of the answer.")
    ] = 4000

    @model_validator(mode="after")
    def _section_needs_query(self) -> Self:
        if self.level is Level.SECTION and self.query is None:
            raise ValueError("level 'section' needs query: what the section is about")
        return self


class ReadMemoryAnswer(Answer):
    """A note, quoted."""

    notice: Notice = NOTICE
    path: str
    title: str
    kind: str | None
    confidence: Label
    source: str | None
    author: Annotated[
        str | None, Field(description="Who distilled it; in source text, headings name authors.")
    ]
    project: str | None
    date: str | None
    verified: Annotated[str | None, Field(description="When it was last confirmed.")]
    level: Level
    text: str
    next_offset: Annotated[
        int | None, Field(description="Where the rest begins; null: nothing is missing.")
    ]
    links: tuple[LinkTo, ...]
    warnings: tuple[str, ...]

    def result_ids(self) -> tuple[str, ...]:
        """Return the note quoted."""
        return (self.path,)


def read_memory(services: Services, caller: Caller, request: ReadMemoryRequest) -> ReadMemoryAnswer:
    """Return the note compressed as asked.

    Raises NotFoundError when it is absent or not the caller's to read.
    """
    note = load_note(services, caller, request.path)
    extract = _EXTRACTS[request.level](for_readers(note), request)
    bare = _answer(note, request, extract)
    links = links_of(note, extract.take(extract.most)[0])
    room = request.budget * _TEXT_SHARE if links else request.budget

    def of_length(length: int) -> ReadMemoryAnswer:
        text, next_offset = extract.take(length)
        return bare.model_copy(update={"text": text, "next_offset": next_offset})

    answer = largest_within(int(room), extract.most, of_length)

    def with_links(count: int) -> ReadMemoryAnswer:
        return answer.model_copy(update={"links": links[:count]})

    return largest_within(request.budget, len(links), with_links)


@dataclass(frozen=True)
class _Extract:
    """What a level makes of a note: `take(n)` gives its text at size n, and where the rest is."""

    most: int
    take: Callable[[int], tuple[str, int | None]]
    warnings: tuple[str, ...] = ()


def _outline(body: str, request: ReadMemoryRequest) -> _Extract:
    lines = outline(body[:_MAX_SCANNED], request.query)
    return _Extract(len(lines), lambda count: (keep(lines, count), None))


def _section(body: str, request: ReadMemoryRequest) -> _Extract:
    found = best_sections(body[:_MAX_SCANNED], request.query or "")
    text = "\n\n".join(as_markdown(section) for section in found)
    warnings = () if found else ("no section concerns the query; see level 'outline'",)
    most = min(len(text), characters_within(request.budget))
    return _Extract(most, lambda length: (text[:length], None), warnings)


def _full(body: str, request: ReadMemoryRequest) -> _Extract:
    rest = body[request.offset :]

    def take(length: int) -> tuple[str, int | None]:
        return rest[:length], request.offset + length if length < len(rest) else None

    return _Extract(min(len(rest), characters_within(request.budget)), take)


_EXTRACTS: dict[Level, Callable[[str, ReadMemoryRequest], _Extract]] = {
    Level.OUTLINE: _outline,
    Level.SECTION: _section,
    Level.FULL: _full,
}


def _answer(note: Note, request: ReadMemoryRequest, extract: _Extract) -> ReadMemoryAnswer:
    from vault.notefile import text_in

    unread = (f"its front matter cannot be read: {note.problem}",) if note.problem else ()
    return ReadMemoryAnswer(
        path=place_of(note),
        title=clip(note.title, _MAX_TITLE),
        kind=note.kind,
        confidence=label(note.confidence, note.path),
        source=_short(note.source),
        author=_short(text_in(note.front, "extractor")),
        project=_short(note.project),
        date=_stamp(note.date),
        verified=_stamp(note.verified),
        level=request.level,
        text="",
        next_offset=None,
        links=(),
        warnings=(*unread, *stale_warnings(note), *extract.warnings),
    )


def _short(text: str | None) -> str | None:
    return clip(text, _MAX_FIELD) if text else None


def _stamp(moment: datetime | None) -> str | None:
    return isoformat(moment) if moment else None


READ_MEMORY = Operation(
    name="read_memory",
    title="Read a note",
    description=(
        "Read a note found by search_knowledge or a link. Begin with level outline (headings and "
        "key lines; give query to get the lines that concern it), then section, or full. Warns "
        "when files the note speaks of have changed since it was written."
    ),
    request=ReadMemoryRequest,
    answer=ReadMemoryAnswer,
    run=read_memory,
)

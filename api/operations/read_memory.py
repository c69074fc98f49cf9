"""Read a note: its outline, the section that concerns a question, or all of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Self

from pydantic import Field, model_validator

from api.caller import Caller
from api.operations.base import Answer, Operation, Request, Services, Use
from api.operations.budget import MAX_BUDGET, MIN_BUDGET, characters_within, largest_within
from api.operations.found import clip
from api.operations.linked import FEW_LINES, MAX_LINES, Linked, LinkedNote, linked_notes
from api.operations.links import Links, LinkTo
from api.operations.notes import for_readers, load_note, place_of
from api.operations.outline import best_sections, outline
from api.operations.quoting import NOTICE, Label, Notice, label
from api.operations.staleness import stale_warnings
from context_engine.clock import isoformat

if TYPE_CHECKING:
    from datetime import datetime

    from vault.notes import Note

_MAX_SCANNED = 400_000
"""Characters of a note that an outline or the choice of a section looks at."""
_MAX_TITLE = 80
_MAX_FIELD = 40
_TEXT_SHARE = 0.8
"""Of the budget, when there are links to be listed too."""
_FOLLOWED_SHARE = 0.4
"""Of the budget, for linked notes; what they leave is not given back to the text."""

_NO_WORD_SHARED = "nothing in it shares a word with the query; this is its plain outline"
_ONLY_THE_BEGINNING = "a very long note: only its beginning was looked at; see level 'full'"


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
    follow: Annotated[
        bool,
        Field(description="Also outline the notes it links to, by what query asks."),
    ] = False
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
    linked: Annotated[
        tuple[LinkedNote, ...], Field(description="With follow: the notes it links to, outlined.")
    ]
    warnings: Annotated[
        tuple[str, ...], Field(description="What speaks against relying on it, or is missing.")
    ]

    def result_ids(self) -> tuple[str, ...]:
        """Return the notes quoted."""
        return (self.path, *(note.path for note in self.linked))

    def places(self) -> tuple[str, ...]:
        """Return the note asked for."""
        return (self.path,)


def read_memory(services: Services, caller: Caller, request: ReadMemoryRequest) -> ReadMemoryAnswer:
    """Return the note compressed as asked.

    Raises NotFoundError when it is absent or not the caller's to read.
    """
    note = load_note(services, caller, request.path)
    body = for_readers(note)
    extract = _EXTRACTS[request.level](body, request)
    links = Links(services.home, note)
    answer = _with_text(_answer(note, request, extract), extract, links, request)
    if not request.follow:
        return answer
    # an outline leaves out most lines, and with them the links that are asked for
    targets = links.within(body[:_MAX_SCANNED])
    linked = linked_notes(services, caller, targets, request.query, but=place_of(note))
    return _with_linked(answer, linked, request.budget)


def _with_text(
    bare: ReadMemoryAnswer, extract: _Extract, links: Links, request: ReadMemoryRequest
) -> ReadMemoryAnswer:
    budget = int(request.budget * (1 - _FOLLOWED_SHARE)) if request.follow else request.budget
    found = links.within(extract.take(extract.most)[0])

    def of_length(length: int) -> ReadMemoryAnswer:
        text, next_offset = extract.take(length)
        return bare.model_copy(update={"text": text, "next_offset": next_offset})

    room = int(budget * _TEXT_SHARE) if found else budget
    answer = largest_within(room, extract.most, of_length)

    def with_links(count: int) -> ReadMemoryAnswer:
        return answer.model_copy(update={"links": found[:count]})

    return largest_within(budget, len(found), with_links)


def _with_linked(
    answer: ReadMemoryAnswer, linked: tuple[Linked, ...], budget: int
) -> ReadMemoryAnswer:
    def showing(count: int, lines: int) -> ReadMemoryAnswer:
        return answer.model_copy(
            update={"linked": tuple(each.within(lines) for each in linked[:count])}
        )

    few = largest_within(budget, len(linked), lambda count: showing(count, FEW_LINES))
    return largest_within(budget, MAX_LINES, lambda lines: showing(len(few.linked), lines))


@dataclass(frozen=True)
class _Extract:
    """What a level makes of a note: `take(n)` gives its text at size n, and where the rest is."""

    most: int
    take: Callable[[int], tuple[str, int | None]]
    warnings: tuple[str, ...] = ()


def _outline(body: str, request: ReadMemoryRequest) -> _Extract:
    found = outline(body[:_MAX_SCANNED], request.query)
    said = (
        (_NO_WORD_SHARED, not found.matched),
        (f"{found.left_out} headings that query does not concern are left out", found.left_out),
        (_ONLY_THE_BEGINNING, len(body) > _MAX_SCANNED),
    )
    warnings = tuple(text for text, holds in said if holds)
    return _Extract(len(found.lines), lambda count: (found.keep(count), None), warnings)


def _section(body: str, request: ReadMemoryRequest) -> _Extract:
    found = best_sections(body[:_MAX_SCANNED], request.query or "")
    text = "\n\n".join(found)
    said = (
        ("no section concerns the query; see level 'outline'", not found),
        (_ONLY_THE_BEGINNING, len(body) > _MAX_SCANNED),
    )
    warnings = tuple(text for text, holds in said if holds)
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
        linked=(),
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
        "key lines; with query those that concern it), then section, or full. follow: true adds "
        "outlines of linked notes. Warns when files it speaks of have changed since."
    ),
    request=ReadMemoryRequest,
    answer=ReadMemoryAnswer,
    run=read_memory,
    use=Use.READING,
)

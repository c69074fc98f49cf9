"""A vault note as the index sees it: metadata and the sections to cut into chunks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath

from context_engine.insights import Confidence, Kind
from index.chunking import Section, split_sections
from vault.blocks import Block
from vault.entries import Entry
from vault.marks import SUPERSEDED_BY, Standing
from vault.messages import Message, read_message
from vault.notefile import text_in
from vault.notes import Note, NoteType
from vault.statements import Statement, parse_statement


@dataclass(frozen=True)
class Metadata:
    """What is known of a note as a whole."""

    type: str
    title: str
    """Empty when the note has none: its file's name says nothing about it."""
    summary: str
    kind: Kind | None
    confidence: Confidence | None
    source: str | None
    project: str | None
    people: tuple[str, ...]
    tags: tuple[str, ...]
    created: datetime | None
    verified: datetime | None


@dataclass(frozen=True)
class NoteSection:
    """A section to be chunked. `at` and `confidence` override the note's own."""

    section: Section
    message: bool = False
    at: datetime | None = None
    confidence: Confidence | None = None
    superseded_by: str | None = None
    """What replaced it: a file of the vault, with `#` and a heading where it is a section."""


@dataclass(frozen=True)
class NoteText:
    """One note, read."""

    metadata: Metadata
    sections: tuple[NoteSection, ...]


def read_text(note: Note) -> NoteText:
    """Return what is indexed of `note`."""
    return NoteText(_metadata(note), tuple(_sections(note)))


def _metadata(note: Note) -> Metadata:
    named_after_file = note.title == PurePosixPath(note.path).stem
    return Metadata(
        type=note.type.value,
        title="" if named_after_file else note.title,
        summary=note.summary,
        kind=note.kind,
        confidence=note.confidence,
        source=note.source,
        project=note.project,
        people=note.people,
        tags=note.tags,
        created=note.date,
        verified=note.verified,
    )


def _sections(note: Note) -> Iterator[NoteSection]:
    """Yield what is found; of what its source deleted only what a person made of it."""
    if note.type is NoteType.SOURCE:
        yield from _conversation(note)
    elif note.type in (NoteType.PROJECT, NoteType.PERSON):
        yield from _insights(note)
    elif note.standing is not Standing.WITHDRAWN or not note.text.untouched or note.kind is None:
        told = note.type is NoteType.INSIGHT
        by = text_in(note.front, SUPERSEDED_BY) if told else None
        yield from (_said(part, by) if told else NoteSection(part) for part in _plain(note.body))


def _conversation(note: Note) -> Iterator[NoteSection]:
    """Messages, and what a person wrote before, between and after them."""
    yield from map(NoteSection, _plain(note.parsed_body.lead))
    for block in note.parsed_body.blocks:
        message = read_message(block)
        gone = message.withdrawn or note.standing is Standing.WITHDRAWN
        if not gone or message.edited:
            yield _message(message)
        yield from map(NoteSection, _plain(block.tail))


def _message(message: Message) -> NoteSection:
    shown = f"{message.at:%Y-%m-%d %H:%M} UTC" if message.at else "undated"
    heading = (f"{message.author} · {shown}",)
    return NoteSection(Section(heading, message.text), message=True, at=message.at)


def _insights(note: Note) -> Iterator[NoteSection]:
    yield from map(NoteSection, _plain(note.parsed_body.lead))
    entries = {entry.insight_id: entry for entry in note.entries}
    for block in note.parsed_body.blocks:
        entry = entries.get(block.marker)
        if entry is None:
            yield from map(NoteSection, _plain(_whole(block)))
            continue
        if entry.standing is not Standing.WITHDRAWN:
            section = Section((entry.title,), _words(entry.statement))
            yield NoteSection(
                section,
                at=entry.at,
                confidence=entry.confidence,
                superseded_by=_beside(note, entries.get(entry.superseded_by or "")),
            )
        yield from map(NoteSection, _plain(block.tail))


def _beside(note: Note, entry: Entry | None) -> str | None:
    return f"{note.path}#{entry.title}" if entry else None


def _said(section: Section, superseded_by: str | None) -> NoteSection:
    words = _words(parse_statement(section.text, ""))
    return NoteSection(Section(section.heading, words), superseded_by=superseded_by)


def _words(statement: Statement) -> str:
    """Return a statement and its evidence, without the links that lead to its source."""
    return "\n\n".join(part for part in (statement.content, statement.evidence) if part)


def _whole(block: Block) -> str:
    return f"## {block.heading}\n\n{block.text}\n\n{block.tail}"


def _plain(body: str) -> list[Section]:
    return [section for section in split_sections(body) if section.text or section.heading]

"""Where things lie inside one vault. The only table of folders."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from types import MappingProxyType

from context_engine.insights import Kind
from vault.names import subject_slug

SOURCES = "sources"
INBOX = "inbox"
PROJECTS = "projects"
PEOPLE = "people"
IDENTITY = "identity/canonical.md"
PROFILE = "identity/_profile.md"

KIND_FOLDERS: Mapping[Kind, str] = MappingProxyType(
    {
        Kind.VALUE: "knowledge/value",
        Kind.DECISION: "knowledge/decision",
        Kind.LEARNING: "knowledge/learning",
        Kind.PROJECT: PROJECTS,
        Kind.PERSON: PEOPLE,
    }
)
"""`project` and `person` insights become dated sections of one note a subject."""

SECTION_KINDS = frozenset({Kind.PROJECT, Kind.PERSON})


def source_root(source: str) -> str:
    """Return the folder of one source: `sources/claude`."""
    return f"{SOURCES}/{subject_slug(source)}"


def source_folder(source: str, started: datetime | None) -> str:
    """Return the folder of a document that began at `started`: `sources/claude/2026/11`."""
    if started is None:
        return f"{source_root(source)}/undated"
    moment = started.astimezone(UTC)
    return f"{source_root(source)}/{moment.year:04d}/{moment.month:02d}"


def source_of_path(relative: str) -> str | None:
    """Return the source folder's name when `relative` is a source note, else None."""
    pieces = relative.split("/")
    return pieces[1] if len(pieces) > 2 and pieces[0] == SOURCES else None  # noqa: PLR2004 - sources/<source>/<file>

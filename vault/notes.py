"""Notes as everybody else reads them: front matter, body, sections, messages, insights.

Anything in a vault is a note, a person's file without front matter too. A file whose front matter
does not parse is read without it (`problem` says why): its owner still finds its text, and nothing
of it is believed, since what the front matter would have said is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

from context_engine.errors import BadInputError, NotFoundError, UnsafePathError
from context_engine.events import BadRecord, Ref
from context_engine.home import Home
from context_engine.insights import Confidence, Kind
from context_engine.scopes import Scope
from vault.blocks import Body, parse_body
from vault.entries import Entry, entries_of
from vault.layout import IDENTITY, INBOX, KIND_FOLDERS, PEOPLE, PROFILE, PROJECTS, SOURCES
from vault.listing import NoteFile, list_notes
from vault.markdown import Link, Section, links, sections
from vault.marks import Standing, standing_of_note
from vault.messages import Message, messages_of
from vault.notefile import (
    NoteText,
    decode_note,
    list_in,
    refs_in,
    text_in,
    time_in,
    title_of,
)
from vault.paths import split_relative, vault_root
from vault.seals import Seals, seals_of
from vault.store import Snapshot, read


class NoteType(StrEnum):
    """What a note is; fixed by its place, since front matter is anybody's to write."""

    SOURCE = "source"
    INSIGHT = "insight"
    PROJECT = "project"
    PERSON = "person"
    IDENTITY = "identity"
    PROFILE = "profile"
    INBOX = "inbox"
    PLAIN = "plain"


_FOLDER_TYPES: Mapping[str, NoteType] = {
    SOURCES: NoteType.SOURCE,
    PROJECTS: NoteType.PROJECT,
    PEOPLE: NoteType.PERSON,
    INBOX: NoteType.INBOX,
}
_FILE_TYPES: Mapping[str, NoteType] = {IDENTITY: NoteType.IDENTITY, PROFILE: NoteType.PROFILE}


@dataclass(frozen=True)
class Note:
    """One file of a vault. What is derived from it is computed when asked for."""

    scope: Scope
    path: str
    """Relative to the vault, with `/`."""
    text: NoteText
    digest: str
    """SHA-256 of the file's bytes, hex."""
    size: int
    mtime_ns: int
    seals: Seals
    """What tells whether `validated` is to be believed."""

    @property
    def front(self) -> Mapping[str, Any]:
        """Front matter; {} when there is none or it does not parse."""
        return self.text.front

    @property
    def body(self) -> str:
        """All below the front matter, as it stands in the file."""
        return self.text.body

    @property
    def problem(self) -> str | None:
        """Why the front matter is not used."""
        return self.text.problem

    @cached_property
    def type(self) -> NoteType:
        """What this note is."""
        return _type_of(self.path)

    @cached_property
    def title(self) -> str:
        """Title of the front matter, else the first heading, else the file's name."""
        return title_of(self.text, self.path)

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """The body split at its headings."""
        return sections(self.body)

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """Links of the body, code left out."""
        return links(self.body)

    @cached_property
    def parsed_body(self) -> Body:
        """The body split at the engine's marked headings."""
        return parse_body(self.body)

    @cached_property
    def messages(self) -> tuple[Message, ...]:
        """The messages of a source note."""
        return messages_of(self.parsed_body) if self.type is NoteType.SOURCE else ()

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """The insights in a project's or person's note."""
        if self.type not in (NoteType.PROJECT, NoteType.PERSON):
            return ()
        kind = Kind(self.type.value)
        return entries_of(
            self.parsed_body,
            str(PurePosixPath(self.path).parent),
            lambda block: self.seals.holds_section(kind, self.title, block),
        )

    @property
    def kind(self) -> Kind | None:
        """The kind of insight; None for notes that are none."""
        return _kind_of(self.path, self.front)

    @property
    def confidence(self) -> Confidence | None:
        """See `confidence_of`."""
        return confidence_of(self)

    @property
    def source(self) -> str | None:
        """Where the text came from: `claude`, `slack`, …."""
        return text_in(self.front, "source")

    @property
    def project(self) -> str | None:
        """The project it belongs to; a project's own note belongs to itself."""
        return text_in(self.front, "project") or (
            self.title if self.type is NoteType.PROJECT else None
        )

    @property
    def people(self) -> tuple[str, ...]:
        """People it speaks of."""
        return list_in(self.front, "people")

    @property
    def standing(self) -> Standing:
        """Whether its source still says it."""
        return standing_of_note(self.text)

    @property
    def tags(self) -> tuple[str, ...]:
        """Tags, without `#`."""
        return tuple(tag.removeprefix("#") for tag in list_in(self.front, "tags"))

    @property
    def summary(self) -> str:
        """One sentence, or nothing."""
        return " ".join((text_in(self.front, "summary") or "").split())

    @property
    def date(self) -> datetime | None:
        """When what it says was said: its last message, its creation, or what a person wrote."""
        found = (time_in(self.front, key) for key in ("updated", "created", "date", "started"))
        return next((moment for moment in found if moment), None)

    @property
    def verified(self) -> datetime | None:
        """When it was last found to be true."""
        return time_in(self.front, "verified")

    @property
    def refs(self) -> tuple[Ref, ...]:
        """Places in repositories that it is about."""
        return refs_in(self.front)


def read_note(home: Home, scope: Scope, path: str) -> Note:
    """Return one note. Its scope is its vault's, whatever its front matter claims.

    Raises NotFoundError (also when `path` is no `.md`), UnsafePathError, BadInputError (not UTF-8,
    larger than 16 MB).
    """
    if not split_relative(path)[-1].endswith(".md"):
        raise NotFoundError(f"{path} does not exist")
    return parse_note(scope, path, read(vault_root(home, scope), path), seals_of(home, scope))


def parse_note(scope: Scope, path: str, snapshot: Snapshot, seals: Seals) -> Note:
    """Return the note that `snapshot` holds. Raises BadInputError when it is not UTF-8."""
    text = decode_note(snapshot.data, path)
    size = len(snapshot.data)
    return Note(scope, path, text, snapshot.digest, size, snapshot.mtime_ns, seals)


def iter_notes(home: Home, scope: Scope, folder: str = "") -> Iterator[Note | BadRecord]:
    """Yield the notes below `folder`; one that cannot be read is a BadRecord with the reason."""
    root, seals = vault_root(home, scope), seals_of(home, scope)
    for file in list_notes(root, folder):
        try:
            yield parse_note(scope, file.path, read(root, file.path), seals)
        except NotFoundError:
            continue
        except BadInputError as error:
            yield BadRecord(file.path, error.reason)
        except UnsafePathError as error:
            yield BadRecord(file.path, error.reason)


def scan_notes(home: Home, scope: Scope) -> Iterator[NoteFile]:
    """Yield path, size and modification time of every note, without reading them."""
    return list_notes(vault_root(home, scope))


def confidence_of(note: Note) -> Confidence | None:
    """Return how far an insight note is to be believed; None for notes that are no insights.

    A project's or person's note is none itself; each of its `entries` has its own confidence.

    `validated` counts only with a seal that holds, and while its source still says it: words that
    somebody put there since were validated by nobody.
    """
    if note.kind is None or note.type in (NoteType.PROJECT, NoteType.PERSON):
        return None
    stated = note.front.get("confidence") == Confidence.VALIDATED.value
    if not stated or note.standing is not Standing.HOLDS:
        return Confidence.RAW
    sealed = note.seals.holds_note(note.kind, note.front, note.body)
    return Confidence.VALIDATED if sealed else Confidence.RAW


def _type_of(path: str) -> NoteType:
    if path in _FILE_TYPES:
        return _FILE_TYPES[path]
    folder = path.split("/", 1)[0]
    if folder in _FOLDER_TYPES:
        return _FOLDER_TYPES[folder]
    return NoteType.INSIGHT if _kind_of(path, {}) else NoteType.PLAIN


def _kind_of(path: str, front: Mapping[str, Any]) -> Kind | None:
    for kind, folder in KIND_FOLDERS.items():
        if path.startswith(f"{folder}/"):
            return kind
    stated = text_in(front, "kind")
    waiting = path.startswith(f"{INBOX}/") and front.get("type") == NoteType.INSIGHT.value
    return Kind(stated) if waiting and stated in set(Kind) else None

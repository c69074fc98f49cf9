"""Events: what a connector yields. Frozen, strict, versioned, each with an idempotency key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from context_engine.ids import long_id, marker_id, short_id
from context_engine.scopes import Scope

if TYPE_CHECKING:
    from pydantic import TypeAdapter

SCHEMA_VERSION = 1

REMOVED = "(deleted at the source)"
"""What stands in the place of a message that its source deleted."""

MOVED = "(continued in a thread of its own)"
"""What stands in the place of a message that its source put into another document."""


class Role(StrEnum):
    """Who speaks, seen from the owner of the vault."""

    OWNER = "owner"
    ASSISTANT = "assistant"
    OTHER = "other"


@dataclass(frozen=True)
class Utterance:
    """One message. `native_id` is the source's own key, stable over re-reading."""

    native_id: str
    author: str
    role: Role
    at: datetime | None
    text: str
    withdrawn: bool = False
    """Deleted at the source: the message keeps its place, its text goes."""

    @cached_property
    def marker(self) -> str:
        """Id that marks this message in a source note, 16 hex digits."""
        return marker_id("utterance", self.native_id)


@dataclass(frozen=True)
class Ref:
    """A place in a repository that a conversation touched. `repo` is the working copy's path."""

    repo: str
    path: str
    commit: str | None = None


@dataclass(frozen=True)
class SourceDocument:
    """A conversation, thread, page, meeting or day of activity, or the next piece of one.

    A growing document is sent in pieces: each event carries only what is new, and `part` says
    which file of the document it belongs to (parts are bounded so that a note stays readable).
    `version` distinguishes events of one part: a hash over the utterances carried, unless the
    source has versions of its own. `withdrawn` says that the source deleted the whole document:
    its note is marked and leaves the index; `utterances` may then be empty.

    `revision` orders what was said before and changed since: 0 for what is new, else the time of
    reading in ms since 1970, later than that of any earlier change of the document. The latest
    revision counts, in whatever order events are delivered, and the text of an earlier one may
    come back with it.
    """

    source: str
    native_id: str
    scope: Scope
    title: str
    utterances: tuple[Utterance, ...]
    started: datetime | None = None
    project: str | None = None
    url: str | None = None
    part: int = 1
    version: str = ""
    refs: tuple[Ref, ...] = ()
    meta: Mapping[str, str] = field(default_factory=dict)
    withdrawn: bool = False
    revision: int = 0
    schema: int = SCHEMA_VERSION

    @cached_property
    def document_id(self) -> str:
        """Short id of the document, the same for all its pieces and versions."""
        return short_id("document", self.source, self.native_id)

    @cached_property
    def event_id(self) -> str:
        """Idempotency key: source, document, part, content version, and revision."""
        content = self.version or self._content()
        revision = [str(self.revision)] if self.revision else []
        return long_id("event", self.source, self.native_id, str(self.part), content, *revision)

    def _content(self) -> str:
        said = (piece for u in self.utterances for piece in (u.native_id, u.role, u.author, u.text))
        gone = [f"withdrawn {u.native_id}" for u in self.utterances if u.withdrawn]
        # nothing is added for what was not withdrawn: ids given before this existed stay
        return long_id(*said, *gone, *(["withdrawn"] if self.withdrawn else []))


@dataclass(frozen=True)
class BadRecord:
    """Something that could not be read: `place` is file:line or archive!member."""

    place: str
    reason: str


@dataclass(frozen=True)
class UnknownRecord:
    """A record of a type this connector does not know: counted, never an error.

    kept: what it says was taken all the same, only its form is not known.
    """

    place: str
    kind: str
    kept: bool = False


@dataclass(frozen=True)
class Checkpoint:
    """Reading state of one unit (a file, a channel), committed with the events before it."""

    key: str
    state: Mapping[str, Any]


@cache
def _document_adapter() -> TypeAdapter[SourceDocument]:
    from pydantic import TypeAdapter

    return TypeAdapter(SourceDocument)


def encode_document(document: SourceDocument) -> bytes:
    """Return `document` as JSON bytes."""
    return _document_adapter().dump_json(document)


def decode_document(payload: bytes) -> SourceDocument:
    """Return the document that `encode_document` wrote.

    Raises pydantic.ValidationError when the payload is malformed.
    """
    return _document_adapter().validate_json(payload)

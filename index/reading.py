"""A vault file as the index sees it: metadata and the sections to cut into chunks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

from context_engine.clock import parse_utc
from context_engine.errors import BadInputError
from context_engine.insights import Confidence, Kind
from index.chunking import Section, split_sections

MAX_FRONT_MATTER = 64 * 1024

_FRONT_MATTER = re.compile(r"\A---\n(.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_TITLE = re.compile(r"^# +(\S.{0,300})", re.MULTILINE)
_MESSAGE = re.compile(r"<!-- ce:u=[0-9a-f]+ \w+[^<>]*-->")
_HEADING_TIME = re.compile(r"(\d{4}-\d{2}-\d{2})(?: (\d{2}:\d{2}))?")
_CONFIDENCE = re.compile(r"<!-- ce:i=[0-9a-f]+ (raw|validated)\b[^<>]*-->")
T = TypeVar("T", Kind, Confidence)

_FOLDER_KINDS = {"projects": Kind.PROJECT, "people": Kind.PERSON}


@dataclass(frozen=True)
class Metadata:
    """What front matter says about a note, cleaned; whatever is malformed is left out."""

    type: str
    title: str
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
    message: bool
    at: datetime | None
    confidence: Confidence | None


@dataclass(frozen=True)
class NoteText:
    """One note, read."""

    metadata: Metadata
    sections: tuple[NoteSection, ...]


def read_note(path: str, data: bytes) -> NoteText:
    """Return the note that `data`, the content of the vault file `path`, holds.

    Raises BadInputError when it is not UTF-8 or its front matter is not a YAML mapping.
    """
    try:
        text = data.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise BadInputError(path, f"is not UTF-8: {error.reason} at byte {error.start}") from error
    front, body = _split(path, text)
    return NoteText(_metadata(path, front, body), tuple(_sections(body)))


def _split(path: str, text: str) -> tuple[Mapping[str, Any], str]:
    found = _FRONT_MATTER.match(text)
    if found is None:
        return {}, text
    if len(found[1]) > MAX_FRONT_MATTER:
        raise BadInputError(path, f"front matter is longer than {MAX_FRONT_MATTER} characters")
    return _yaml(path, found[1]), text[found.end() :]


def _yaml(path: str, text: str) -> Mapping[str, Any]:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        front = YAML(typ="safe", pure=True).load(text)
    except (YAMLError, ValueError) as error:
        raise BadInputError(path, f"front matter is not valid YAML: {error}") from error
    if not isinstance(front, dict):
        if front is None:
            return {}
        raise BadInputError(path, "front matter is not a mapping")
    return front


def _metadata(path: str, front: Mapping[str, Any], body: str) -> Metadata:
    heading = _TITLE.search(body)
    return Metadata(
        type=_text(front, "type") or "note",
        title=_text(front, "title") or (heading[1].strip() if heading else ""),
        summary=_text(front, "summary") or "",
        kind=_member(Kind, front.get("kind")) or _FOLDER_KINDS.get(path.split("/", 1)[0]),
        confidence=_member(Confidence, front.get("confidence")),
        source=_text(front, "source"),
        project=_text(front, "project"),
        people=_texts(front, "people"),
        tags=_texts(front, "tags"),
        created=_moment(front.get("created") or front.get("updated") or front.get("started")),
        verified=_moment(front.get("verified")),
    )


def _sections(body: str) -> Iterator[NoteSection]:
    for raw, section in split_sections(body):
        stamp = _HEADING_TIME.search(raw)
        confidence = _CONFIDENCE.search(raw)
        yield NoteSection(
            section,
            message=_MESSAGE.search(raw) is not None,
            at=_moment(" ".join(part for part in stamp.groups() if part)) if stamp else None,
            confidence=Confidence(confidence[1]) if confidence else None,
        )


def _text(front: Mapping[str, Any], key: str) -> str | None:
    value = front.get(key)
    return str(value) if isinstance(value, str | int | float) and str(value) else None


def _texts(front: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = front.get(key)
    values = value if isinstance(value, list) else [value]
    return tuple(str(item) for item in values if isinstance(item, str | int | float))


def _member(kinds: type[T], value: object) -> T | None:
    return kinds(value) if isinstance(value, str) and value in set(kinds) else None


def _moment(value: object) -> datetime | None:
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    try:
        return parse_utc(str(value)) if value else None
    except ValueError:
        return None

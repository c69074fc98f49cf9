"""The bytes of one note: decoded, split and its front matter read, without judging its content."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from context_engine.clock import parse_utc
from context_engine.errors import BadInputError
from context_engine.events import Ref
from vault.frontmatter import parse, split, wrap
from vault.frontmatter_edit import update
from vault.markdown import sections

FRONT_HASH = "content_hash"

_OWNED = ("kind", "confidence", "title", "summary", "project", "people", "tags")


@dataclass(frozen=True)
class NoteText:
    """`head + body` is the file's text. `front` is {} when there is none or it cannot be read."""

    head: str
    yaml: str | None
    front: Mapping[str, Any]
    body: str
    problem: str | None
    """Why the front matter is not used."""

    @property
    def untouched(self) -> bool:
        """Whether the body is as the engine wrote it last."""
        return self.front.get(FRONT_HASH) == content_hash(self.body, self.front)


def decode_note(data: bytes, place: str) -> NoteText:
    """Split the bytes of a note.

    Front matter that does not parse is no error here: the person who wrote it still wants the body
    found. Raises BadInputError when the bytes are not UTF-8.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        reason = f"is not UTF-8 (byte {error.start}); save it as UTF-8 to have it read"
        raise BadInputError(place, reason) from error
    parts = split(text)
    if parts.yaml is None:
        return NoteText("", None, {}, parts.body, None)
    try:
        return NoteText(parts.head, parts.yaml, parse(parts.yaml, place), parts.body, None)
    except BadInputError as error:
        return NoteText(parts.head, parts.yaml, {}, parts.body, error.reason)


def with_front(note: NoteText, changes: Mapping[str, Any], place: str) -> str:
    """Return the head of `note` with entries changed; as it is when it cannot be read or changed.

    Not writing metadata loses nothing; rewriting what a person broke might.
    """
    if note.yaml is None or note.problem:
        return note.head
    with suppress(BadInputError):
        return wrap(update(note.yaml, changes, place))
    return note.head


def content_hash(body: str, front: Mapping[str, Any]) -> str:
    """Return `sha256:…` over a body and, for insights, the entries that carry meaning.

    Blanks at line ends and empty lines at the end do not count: editors trim them on saving.
    """
    owned = _OWNED if front.get("type") == "insight" else ()
    values = [f"{key}={front.get(key)!r}" for key in owned]
    lines = [line.rstrip() for line in body.strip().split("\n")]
    text = "\n".join([*values, *lines])
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()}"


def sealed(front: Mapping[str, Any], body: str) -> dict[str, Any]:
    """Return `front` with the hash that later tells whether a person edited the note."""
    plain = {key: value for key, value in front.items() if key != FRONT_HASH}
    return {**plain, FRONT_HASH: content_hash(body, plain)}


def title_of(note: NoteText, path: str) -> str:
    """Return the title of the front matter, else the first heading, else the file's name."""
    stated = text_in(note.front, "title")
    if stated and stated.strip():
        return " ".join(stated.split())
    heading = next((section.title for section in sections(note.body) if section.title), "")
    return heading or PurePosixPath(path).stem


def time_in(front: Mapping[str, Any], key: str) -> datetime | None:
    """Return an entry as a UTC time, None when it is none."""
    with suppress(ValueError, TypeError):
        return parse_utc(front[key]) if key in front else None
    return None


def text_in(front: Mapping[str, Any], key: str) -> str | None:
    """Return an entry as text: numbers as written words, None for absent, null or a collection."""
    value = front.get(key)
    if value is None or isinstance(value, dict | list):
        return None
    return str(value)


def list_in(front: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """Return an entry as words; a single word is a list of one, as people write it."""
    value = front.get(key)
    if isinstance(value, list):
        return tuple(str(item) for item in value if isinstance(item, str | int | float))
    word = text_in(front, key)
    return (word,) if word else ()


def refs_in(front: Mapping[str, Any]) -> tuple[Ref, ...]:
    """Return the places in repositories that an entry `refs` names."""
    items = front.get("refs")
    return tuple(_refs(items)) if isinstance(items, list) else ()


def _refs(items: list[Any]) -> Iterator[Ref]:
    for item in items:
        if isinstance(item, dict) and (repo := text_in(item, "repo")):
            yield Ref(repo, text_in(item, "path") or "", text_in(item, "commit"))

"""A first look at a path, so that each source can say whether it is one of its own.

Bounded, whatever lies there: so many names, the beginnings of so many files, and no more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Protocol, runtime_checkable

from connectors.archive import Member, walk_members
from connectors.archive_budget import LIMITS, MIB
from connectors.archive_formats import is_archive
from connectors.text import show_path
from connectors.walk import Found, find_files
from context_engine.errors import BadInputError

NAMES = 5_000
"""Files of which the name is looked at."""

HEADS = 200
"""Files of which the beginning is read."""

HEAD_BYTES = 64 * 1024

_LIMITS = replace(LIMITS, total_bytes=512 * MIB, members=1_000_000)
_READABLE = (
    *(".json", ".jsonl", ".ndjson", ".xml", ".html", ".htm"),
    *(".vtt", ".srt", ".sbv", ".txt", ".md", ".markdown", ".mdown"),
)


@dataclass(frozen=True, slots=True)
class Peek:
    """A file: its path below what was named (parts joined by `/`), and how it begins."""

    path: str
    head: bytes = b""

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rsplit("/", 1)[-1]


@dataclass(frozen=True, slots=True)
class Guess:
    """What a path looks like to a source, in words that follow "looks like".

    sure: by what is in it. A guess by names alone counts only where no source is sure.
    """

    words: str
    sure: bool = True


@dataclass(frozen=True)
class Look:
    """The files found, archives opened. complete: there are no more."""

    files: tuple[Peek, ...]
    complete: bool = True

    def named(self, *endings: str) -> tuple[Peek, ...]:
        """Return the files whose names end in one of these, whatever their case."""
        return tuple(file for file in self.files if file.name.lower().endswith(endings))

    def holding(self, endings: Sequence[str], *words: bytes) -> tuple[Peek, ...]:
        """Return the files of these endings in whose beginning all `words` occur."""
        named = self.named(*endings)
        return tuple(file for file in named if all(word in file.head for word in words))

    def counted(self, count: int, noun: str) -> str:
        """Return `count` with its noun, as a lower bound where there is more than was read."""
        more = "" if self.complete else "+"
        return f"{count:,}{more} {noun}{'' if count == 1 and not more else 's'}"


@runtime_checkable
class Recogniser(Protocol):
    """A source that says whether files are its own."""

    def recognise(self, look: Look) -> Guess | None:
        """Return what `look` shows, None when it is nothing of this source's."""
        ...


def look_at(path: Path) -> Look:
    """Return what lies at `path`: a file, a folder or an archive."""
    files = list(islice(_files(path), NAMES + 1))
    heads = sum(bool(file.head) for file in files)
    return Look(tuple(files[:NAMES]), complete=len(files) <= NAMES and heads < HEADS)


def _files(path: Path) -> Iterator[Peek]:
    heads = HEADS
    for found in find_files(path):
        if not isinstance(found, Found):
            continue
        inner = found.path.name if found.path == path else show_path(found.path.relative_to(path))
        for member in _members(found.path, inner):
            head = _head(member[1]) if heads and member[0].lower().endswith(_READABLE) else b""
            heads -= bool(head)
            yield Peek(member[0], head)


def _members(path: Path, inner: str) -> Iterator[tuple[str, Member]]:
    """Yield the members of an archive, or the file itself, each with its path."""
    inside = is_archive(path.name)
    for item in walk_members([path], limits=_LIMITS, enter=_is_at_the_top):
        if isinstance(item, Member):
            yield (item.path if inside else inner), item


def _is_at_the_top(path: str) -> bool:
    return "/" not in path


def _head(member: Member) -> bytes:
    try:
        with member.open() as stream:
            return stream.read(HEAD_BYTES)
    except BadInputError:
        return b""

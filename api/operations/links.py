"""Where a note's links lead, as places that a caller can read."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import unquote

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from vault.notes import Note

_MAX_LINKS = 20
_MAX_TEXT = 80


class LinkTo(BaseModel):
    """A link of a note. `path` can be given to read_memory; whether it exists is not said."""

    model_config = ConfigDict(frozen=True)

    text: str
    path: str


def links_of(note: Note, body: str) -> tuple[LinkTo, ...]:
    """Return the links in `body` to other notes of the same vault, the first twenty."""
    found = dict.fromkeys(_inside(note, body))
    return tuple(
        LinkTo(text=text[:_MAX_TEXT], path=path) for text, path in list(found)[:_MAX_LINKS]
    )


def _inside(note: Note, body: str) -> Iterator[tuple[str, str]]:
    from vault.markdown import links

    for link in links(body):
        target = link.target.split("#", 1)[0].strip()
        if not target or "://" in target or target.startswith(("/", "mailto:")):
            continue
        folder = "" if link.wiki else posixpath.dirname(note.path)
        spelled = target if link.wiki else unquote(target)
        path = posixpath.normpath(posixpath.join(folder, spelled))
        if not path.startswith(".."):
            name = path if path.endswith(".md") else f"{path}.md"
            yield link.text or link.target, f"{note.scope.value}/{name}"

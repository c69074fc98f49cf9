"""Where a note's links lead, as places that a caller can read."""

from __future__ import annotations

import posixpath
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote

from pydantic import BaseModel, ConfigDict

from context_engine.home import Home

if TYPE_CHECKING:
    from vault.markdown import Link
    from vault.notes import Note

_MAX_LINKS = 20
_MAX_TEXT = 80


class LinkTo(BaseModel):
    """A link of a note. `path` can be given to read_memory; whether it exists is not said."""

    model_config = ConfigDict(frozen=True)

    text: str
    path: str


class Links:
    """The links of one note to others of its vault. No link leads out of a vault."""

    def __init__(self, home: Home, note: Note) -> None:
        self._home = home
        self._note = note

    def within(self, text: str) -> tuple[LinkTo, ...]:
        """Return the first twenty links in `text`, a part of the note, each once."""
        found = dict.fromkeys(self._inside(text))
        return tuple(
            LinkTo(text=words[:_MAX_TEXT], path=f"{self._note.scope.value}/{path}")
            for words, path in list(found)[:_MAX_LINKS]
        )

    def _inside(self, text: str) -> Iterator[tuple[str, str]]:
        from vault.markdown import links

        for link in links(text):
            path = self._path(link)
            if path is not None:
                yield link.text or link.target, path

    def _path(self, link: Link) -> str | None:
        target = link.target.split("#", 1)[0].strip()
        if not target or "://" in target or target.startswith(("/", "mailto:")):
            return None
        folder = "" if link.wiki else posixpath.dirname(self._note.path)
        spelled = target if link.wiki else unquote(target)
        path = posixpath.normpath(posixpath.join(folder, spelled))
        if path.startswith(".."):
            return None
        name = path if path.endswith(".md") else f"{path}.md"
        return self._by_name.get(_key(name), name) if link.wiki and "/" not in name else name

    @cached_property
    def _by_name(self) -> Mapping[str, str]:
        """Where `[[name]]` leads: a note so called lies at the top, else anywhere in the vault."""
        from vault.listing import list_notes
        from vault.paths import vault_root

        notes = [file.path for file in list_notes(vault_root(self._home, self._note.scope))]
        # the last one of a name wins: the highest, then the first
        notes.sort(key=lambda path: (path.count("/"), path), reverse=True)
        return {_key(PurePosixPath(path).name): path for path in notes}


def _key(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()

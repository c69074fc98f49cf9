"""What was read last: projects and identity, until a file changes; a folder, for some seconds."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from api.operations.surroundings import Surroundings, surroundings
from context_engine.clock import Clock
from context_engine.errors import BadInputError, NotFoundError, UnsafePathError
from context_engine.home import Home
from context_engine.scopes import Scope

if TYPE_CHECKING:
    from vault.listing import NoteFile
    from vault.projects import ProjectState

_SETTLED_NS = 2_000_000_000
"""A file written this shortly ago may change again under the same time stamp."""


_FOLDER_SECONDS = 10.0
"""How long a working folder counts as looked at: a session asks several times in a row."""
_MAX_FOLDERS = 100


@dataclass(frozen=True)
class _File:
    """What changes when a file does."""

    place: str
    inode: int
    size: int
    mtime_ns: int


class Shelf:
    """Projects, identity and folders, for one home.

    Safe from several threads: at worst one is read twice.
    """

    def __init__(self) -> None:
        self._cards: dict[Scope, tuple[_File, str]] = {}
        self._folders: dict[str, tuple[float, Surroundings]] = {}
        self._known: dict[tuple[Scope, str], tuple[NoteFile, ProjectState]] = {}

    def projects(self, home: Home, scope: Scope) -> list[ProjectState]:
        """Return the projects of one vault; notes that cannot be read are passed over."""
        from vault.layout import PROJECTS
        from vault.listing import list_notes
        from vault.paths import vault_root

        found = [
            self._project(home, scope, file)
            for file in list_notes(vault_root(home, scope), PROJECTS)
        ]
        return [project for project in found if project is not None]

    def identity_card(self, home: Home, scope: Scope) -> str:
        """Return what callers of `scope` are told about the owner; raises as the vault does."""
        from vault.identity import identity_card
        from vault.layout import IDENTITY, PROFILE

        file = _stat(home, scope, IDENTITY if scope is Scope.PERSONAL else PROFILE)
        known = self._cards.get(scope)
        if file is not None and known is not None and known[0] == file:
            return known[1]
        card = identity_card(home, scope)
        if file is not None and _is_settled(file.mtime_ns):
            self._cards[scope] = (file, card)
        return card

    def surroundings(self, cwd: str, clock: Clock) -> Surroundings:
        """Return what goes on in a working folder."""
        now = clock.monotonic()
        known = self._folders.get(cwd)
        if known is not None and now - known[0] < _FOLDER_SECONDS:
            return known[1]
        if len(self._folders) >= _MAX_FOLDERS:
            self._folders.clear()
        found = surroundings(cwd, clock.now())
        self._folders[cwd] = (now, found)
        return found

    def _project(self, home: Home, scope: Scope, file: NoteFile) -> ProjectState | None:
        from vault.notes import read_note
        from vault.projects import project_state

        known = self._known.get((scope, file.path))
        if known is not None and known[0] == file:
            return known[1]
        with suppress(NotFoundError, BadInputError, UnsafePathError):
            project = project_state(read_note(home, scope, file.path))
            if _is_settled(file.mtime_ns):
                self._known[scope, file.path] = (file, project)
            return project
        return None


def _stat(home: Home, scope: Scope, path: str) -> _File | None:
    place = str(home.vault(scope) / path)
    try:
        info = os.lstat(place)
    except OSError:
        return None
    return _File(place, info.st_ino, info.st_size, info.st_mtime_ns)


def _is_settled(mtime_ns: int) -> bool:
    return time.time_ns() - mtime_ns > _SETTLED_NS

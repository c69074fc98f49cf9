"""Project notes as they were read last; one is read again when its file changed."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING

from context_engine.errors import BadInputError, NotFoundError, UnsafePathError
from context_engine.home import Home
from context_engine.scopes import Scope

if TYPE_CHECKING:
    from vault.listing import NoteFile
    from vault.projects import ProjectState

_SETTLED_NS = 2_000_000_000
"""A file written this shortly ago may change again under the same time stamp."""


class ProjectShelf:
    """The projects of one home. Safe from several threads: at worst a note is read twice."""

    def __init__(self) -> None:
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

    def _project(self, home: Home, scope: Scope, file: NoteFile) -> ProjectState | None:
        from vault.notes import read_note
        from vault.projects import project_state

        known = self._known.get((scope, file.path))
        if known is not None and known[0] == file:
            return known[1]
        with suppress(NotFoundError, BadInputError, UnsafePathError):
            project = project_state(read_note(home, scope, file.path))
            if time.time_ns() - file.mtime_ns > _SETTLED_NS:
                self._known[scope, file.path] = (file, project)
            return project
        return None

"""Whether an index knows its vault at all: how many notes each of them holds."""

from __future__ import annotations

from dataclasses import dataclass

from context_engine.home import Home
from context_engine.scopes import Scope
from index.browse import tally
from vault.layout import IDENTITY
from vault.listing import list_notes

_IDENTITY_FOLDER = IDENTITY.rpartition("/")[0] + "/"


@dataclass(frozen=True)
class Coverage:
    """The notes of one vault and of its index. A fresh home's identity is not counted as a note."""

    scope: Scope
    vault: int
    index: int

    def __str__(self) -> str:
        return (
            f"the {self.scope} vault has {self.vault:,} notes, the index {self.index:,}: "
            "context-engine reindex"
        )


def empty_index(home: Home, scope: Scope) -> Coverage | None:
    """Return what an index lacks that knows no note of a vault that has some, else None.

    Looks at the files only when the index is empty. Raises IndexCorruptError.
    """
    if tally(home, scope).notes:
        return None
    found = coverage(home, scope)
    return found if found.vault else None


def coverage(home: Home, scope: Scope) -> Coverage:
    """Count the notes of a vault and of its index. Raises IndexCorruptError."""
    files = sum(
        not file.path.startswith(_IDENTITY_FOLDER) for file in list_notes(home.vault(scope))
    )
    return Coverage(scope, files, tally(home, scope).notes)

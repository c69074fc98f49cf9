"""Whether an index knows its vault at all: how many notes each of them holds."""

from __future__ import annotations

from collections.abc import Iterator
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
            f"the {self.scope} vault has {self.vault:,} note{'s' * (self.vault != 1)}, "
            f"the index {self.index:,}: "
            "context-engine reindex"
        )


def empty_index(home: Home, scope: Scope) -> Coverage | None:
    """Return what an index lacks that knows no note of a vault that has some, else None.

    Counts the files only then; a vault without notes costs a look at its folders. Raises
    IndexCorruptError.
    """
    if not any(_notes(home, scope)) or tally(home, scope).notes:
        return None
    return coverage(home, scope)


def coverage(home: Home, scope: Scope) -> Coverage:
    """Count the notes of a vault and of its index. Raises IndexCorruptError."""
    return Coverage(scope, sum(_notes(home, scope)), tally(home, scope).notes)


def _notes(home: Home, scope: Scope) -> Iterator[bool]:
    """Yield True a note."""
    files = list_notes(home.vault(scope))
    return (True for file in files if not file.path.startswith(_IDENTITY_FOLDER))

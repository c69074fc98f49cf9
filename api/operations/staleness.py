"""Whether what a note speaks of has changed since it was written."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vault.notes import Note

_MAX_REFS = 20
_MAX_WARNINGS = 3
_MAX_NAME = 60


def stale_warnings(note: Note) -> tuple[str, ...]:
    """Return a warning for the first files in `refs` that changed after the note was checked."""
    checked = note.verified or note.date
    if checked is None:
        return ()
    changed = [name for name, path in _files(note) if _changed(path, checked)]
    return tuple(
        f"{name[-_MAX_NAME:]} changed since this was written: check before relying on it"
        for name in changed[:_MAX_WARNINGS]
    )


def _files(note: Note) -> Iterator[tuple[str, Path]]:
    for ref in note.refs[:_MAX_REFS]:
        inside = ref.path and not ref.path.startswith("/")
        if ref.repo.startswith("/") and inside and ".." not in PurePosixPath(ref.path).parts:
            yield ref.path, Path(ref.repo) / ref.path


def _changed(path: Path, checked: datetime) -> bool:
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC) > checked
    except (OSError, ValueError, OverflowError):
        # the repository may lie on another machine: nothing can be said
        return False

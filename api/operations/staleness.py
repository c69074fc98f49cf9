"""Whether what a note speaks of has changed since it was written."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

from api.operations.notes import LoadedNote

_MAX_REFS = 20
_MAX_NAME = 60
_MAX_WARNINGS = 3


def stale_warnings(note: LoadedNote) -> tuple[str, ...]:
    """Return a warning for the first files in `refs` that changed after the note was checked."""
    checked = note.moment("verified", "updated", "created")
    if checked is None:
        return ()
    changed = [name for name, path in _files(note.fields.get("refs")) if _changed(path, checked)]
    return tuple(
        f"{name[-_MAX_NAME:]} changed since this was written: check before relying on it"
        for name in changed[:_MAX_WARNINGS]
    )


def _files(refs: Any) -> Iterator[tuple[str, Path]]:
    for ref in refs[:_MAX_REFS] if isinstance(refs, list) else ():
        repo, path = (ref.get("repo"), ref.get("path")) if isinstance(ref, dict) else (None, None)
        if not (isinstance(repo, str) and isinstance(path, str) and repo.startswith("/")):
            continue
        if not path.startswith("/") and ".." not in PurePosixPath(path).parts:
            yield path, Path(repo) / path


def _changed(path: Path, checked: datetime) -> bool:
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC) > checked
    except (OSError, ValueError, OverflowError):
        # the repository may lie on another machine: nothing can be said
        return False

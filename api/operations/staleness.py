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
_MAX_PLACE = 200


def stale_warnings(note: Note) -> tuple[str, ...]:
    """Return why what a note says may no longer hold: replaced, its source, files in `refs`."""
    return (*_replaced(note), *_of_source(note), *_of_files(note))


def _replaced(note: Note) -> tuple[str, ...]:
    from vault.marks import SUPERSEDED_BY
    from vault.notefile import text_in

    by = text_in(note.front, SUPERSEDED_BY)
    if not by or note.type != "insight":
        return ()
    place = " ".join(by.split())[:_MAX_PLACE]
    return (f"replaced since by {note.scope.value}/{place}: rely on that one",)


def _of_source(note: Note) -> tuple[str, ...]:
    from vault.marks import Standing

    warning = {
        Standing.WITHDRAWN: "deleted at the source: search leaves it out, do not rely on it",
        Standing.STALE: "its source was changed since and no longer says this",
    }.get(note.standing)
    return (warning,) if warning else ()


def _of_files(note: Note) -> tuple[str, ...]:
    checked = note.verified or note.date
    if checked is None:
        return ()
    found = ((name, _since(repo, path, checked)) for name, repo, path in _files(note))
    changed = [(name, what) for name, what in found if what]
    return tuple(
        f"{name[-_MAX_NAME:]} {what} since this was written: check before relying on it"
        for name, what in changed[:_MAX_WARNINGS]
    )


def _files(note: Note) -> Iterator[tuple[str, Path, Path]]:
    for ref in note.refs[:_MAX_REFS]:
        inside = ref.path and not ref.path.startswith("/")
        if ref.repo.startswith("/") and inside and ".." not in PurePosixPath(ref.path).parts:
            yield ref.path, Path(ref.repo), Path(ref.repo) / ref.path


def _since(repo: Path, path: Path, checked: datetime) -> str | None:
    try:
        when = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except FileNotFoundError:
        # a repository that is not here may lie on another machine: nothing can be said
        return "is gone" if repo.is_dir() else None
    except (OSError, ValueError, OverflowError):
        return None
    return "changed" if when > checked else None

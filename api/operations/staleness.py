"""Whether what a note speaks of has changed since it was written."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from api.operations.commits import Commit
    from vault.notes import Note

_MAX_REFS = 20
_MAX_REPOS = 2
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
    return (f"replaced since by {note.scope.value}/{place}: rely on that one while it is there",)


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
    refs = list(_files(note))
    said = _asked({ref.repo for ref in refs}, refs, checked)
    found = ((ref.path, _since(ref, said.get(ref.repo), checked)) for ref in refs)
    changed = [(name, what) for name, what in found if what]
    return tuple(
        f"{name[-_MAX_NAME:]} {what} since this was written: check before relying on it"
        for name, what in changed[:_MAX_WARNINGS]
    )


@dataclass(frozen=True)
class _File:
    repo: Path
    path: str


def _files(note: Note) -> Iterator[_File]:
    for ref in note.refs[:_MAX_REFS]:
        inside = ref.path and not ref.path.startswith("/")
        usable = "\0" not in ref.repo + ref.path and ".." not in PurePosixPath(ref.path).parts
        if ref.repo.startswith("/") and inside and usable:
            yield _File(Path(ref.repo), ref.path)


def _asked(
    repos: Collection[Path], refs: Collection[_File], checked: datetime
) -> dict[Path, Mapping[str, Commit] | None]:
    """Ask git about each of the first repositories, once for all of its files."""
    from api.operations.commits import commits_since

    return {
        repo: commits_since(repo, [ref.path for ref in refs if ref.repo == repo], checked)
        for repo in sorted(repos)[:_MAX_REPOS]
    }


def _since(ref: _File, said: Mapping[str, Commit] | None, checked: datetime) -> str | None:
    commit = said.get(ref.path) if said else None
    if commit is not None:
        return f'changed in {commit.digest} ({commit.day}, "{commit.subject}")'
    try:
        when = datetime.fromtimestamp((ref.repo / ref.path).stat().st_mtime, UTC)
    except FileNotFoundError:
        # a repository that is not here may lie on another machine: nothing can be said
        return "is gone" if ref.repo.is_dir() else None
    except (OSError, ValueError, OverflowError):
        return None
    if when <= checked:
        return None
    return "changed" if said is None else "changed in the working copy"

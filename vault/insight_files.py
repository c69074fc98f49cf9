"""The files that hold insights: finding those that are meant, changing one under its lock."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from context_engine.errors import BadInputError, NoteConflictError, UnsafePathError
from context_engine.home import Home
from context_engine.scopes import Scope
from vault.layout import INBOX, KIND_FOLDERS, SECTION_KINDS
from vault.listing import list_notes
from vault.locks import note_lock
from vault.notefile import NoteText, decode_note
from vault.paths import vault_root
from vault.store import Snapshot, read_or_none, remove, rewrite
from vault.subjects import is_blank

Change = Callable[[NoteText], str | None]
"""Gives the note's new text, "" to delete it, None to leave it."""

_IN_SECTIONS = frozenset(KIND_FOLDERS[kind] for kind in SECTION_KINDS)


def files_with(root: Path, is_meant: Callable[[bytes], bool]) -> Iterator[str]:
    """Yield the insight files of a vault whose bytes are what is looked for."""
    for folder in (*KIND_FOLDERS.values(), INBOX):
        for file in list_notes(root, folder):
            # only a first look, at thousands of files: whoever changes one opens it with care
            with suppress(OSError):
                if is_meant((root / file.path).read_bytes()):
                    yield file.path


def change_file(home: Home, scope: Scope, path: str, note: Change, sections: Change) -> bool:
    """Change an insight's note by `note`, a project's or person's by `sections`; say if it did.

    What is left without content is deleted.
    """
    in_sections = path.rpartition("/")[0] in _IN_SECTIONS
    root = vault_root(home, scope)
    try:
        with note_lock(home, scope, lock_key(path)):
            changed = _rewritten(root, path, sections if in_sections else note)
            seen = read_or_none(root, path) if changed and in_sections else None
            if seen is not None and is_blank(decode_note(seen.data, path)):
                remove(root, path, seen)
            return changed
    except (BadInputError, UnsafePathError, NoteConflictError):
        # a person is at it, or made of it what is no note of ours: theirs stays
        return False


def lock_key(path: str) -> str:
    """Return what an insight's file is locked by: its id, or the folder of a subject's note."""
    folder, _, name = path.rpartition("/")
    return folder if folder in _IN_SECTIONS else name.removesuffix(".md").rpartition("-")[2]


def _rewritten(root: Path, path: str, change: Change) -> bool:
    changed, doomed = rewrite(root, path, lambda seen: _changed(seen, path, change))
    if doomed is not None:
        remove(root, path, doomed)
    return changed


def _changed(
    seen: Snapshot | None, path: str, change: Change
) -> tuple[bytes | None, tuple[bool, Snapshot | None]]:
    text = change(decode_note(seen.data, path)) if seen else None
    if seen is None or text is None:
        return None, (False, None)
    if not text:
        return None, (True, seen)
    data = text.encode("utf-8", "replace")
    return data, (data != seen.data, None)

"""Notes about a project or a person: found by name or alias, made when there is none."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from context_engine.errors import BadInputError, UnsafePathError
from context_engine.ids import short_id
from context_engine.insights import Insight, Kind
from context_engine.redaction import redact
from vault.escape import escape, one_line
from vault.frontmatter import render, wrap
from vault.layout import KIND_FOLDERS
from vault.listing import list_notes
from vault.names import subject_slug
from vault.notefile import NoteText, decode_note, list_in, text_in
from vault.store import read_or_none

_NAME_LIMIT = 120


def subject_name(insight: Insight) -> str:
    """Return whom or what a `person` or `project` insight is about, on one line."""
    return one_line(redact(insight.subject or "").text, _NAME_LIMIT)


def find_subject(root: Path, kind: Kind, name: str) -> str:
    """Return the path of the note about `name`, or the one that it would get.

    A person's own note counts when its title or one of its aliases is `name`. A file without
    readable front matter is nobody's to append to: then the path beside it is returned.
    """
    folder = KIND_FOLDERS[kind]
    plain = f"{folder}/{subject_slug(name)}.md"
    if _is_usable(root, plain):
        return plain
    named = next(_named(root, folder, name), None)
    if named:
        return named
    beside = f"{folder}/{subject_slug(name)}-{short_id('subject', name)}.md"
    return beside if os.path.lexists(root / plain) else plain


def new_subject(insight: Insight, name: str) -> str:
    """Return the text of a new note about `name`, without sections."""
    front: dict[str, Any] = {
        "type": insight.kind.value,
        "id": short_id(insight.kind.value, insight.scope, name),
        "title": name,
        "scope": insight.scope.value,
    }
    if insight.kind is Kind.PROJECT:
        front |= {"state": "active", "goal": None, "next_steps": []}
    else:
        front |= {"aliases": []}
    front["updated"] = insight.created
    return f"{wrap(render(front))}# {escape(name)}\n"


def is_blank(note: NoteText) -> bool:
    """Tell whether a note is as `new_subject` made it, with nothing of a person's in it."""
    front = note.front
    made = {"type", "id", "title", "scope", "updated", "refs"}
    made |= {"state", "goal", "next_steps", "aliases"}
    filled = any(front.get(key) for key in ("goal", "next_steps", "aliases"))
    heading = f"# {escape(text_in(front, 'title') or '')}"
    return (
        set(front) <= made
        and not filled
        and front.get("state") in (None, "active")
        and note.body.strip() == heading
    )


def _is_usable(root: Path, path: str) -> bool:
    note = _read(root, path)
    return note is not None and note.yaml is not None and note.problem is None


def _named(root: Path, folder: str, name: str) -> Iterator[str]:
    wanted = _folded(name)
    for file in list_notes(root, folder):
        note = _read(root, file.path)
        if note is None:
            continue
        names = (text_in(note.front, "title") or "", *list_in(note.front, "aliases"))
        if wanted in {_folded(other) for other in names}:
            yield file.path


def _read(root: Path, path: str) -> NoteText | None:
    try:
        seen = read_or_none(root, path)
        return decode_note(seen.data, path) if seen else None
    except (BadInputError, UnsafePathError):
        return None


def _folded(name: str) -> str:
    return subject_slug(name) if name.strip() else ""

"""Where things lie below `~/.claude/projects`, in every layout that Claude Code had so far.

<cwd slug>/<session>.jsonl                           a conversation
<cwd slug>/agent-<id>.jsonl                          a subagent's (2.0)
<cwd slug>/<session>/subagents/**/agent-<id>.jsonl   a subagent's (2.1), described in .meta.json
<cwd slug>/<session>/tool-results/*                  output of tools
<cwd slug>/<session>/workflows/*                     state of runs
<cwd slug>/memory/*.md                               what the assistant noted for later
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from connectors.jsonl import parse_object
from connectors.text import clean_text, show_path
from connectors.walk import Found

MEMORY_LIMIT = 1024 * 1024
"""Bytes of one memory note; they are loaded into a prompt and thus small."""

_MACHINE_FOLDERS = frozenset({"tool-results", "session-memory", "workflows"})
_MACHINE_FILES = frozenset({"sessions-index.json", "ccr-tip.json"})
_SLUG = re.compile(r"-.|[A-Za-z]--")
_SESSION = re.compile(r"[A-Za-z0-9_-]{1,100}")
_HEAD_BYTES = 256 * 1024
_META_BYTES = 64 * 1024


class Kind(Enum):
    """What to do with a file."""

    TRANSCRIPT = "transcript"
    EXPORT = "export"
    MEMORY = "memory"
    LEFT_OUT = "left out"
    UNKNOWN = "unknown"


def kind_of(path: Path) -> Kind:
    """Tell a file's kind from its name and place."""
    name, folder = path.name, path.parent.name
    if folder in _MACHINE_FOLDERS or name in _MACHINE_FILES or name.endswith(".meta.json"):
        return Kind.LEFT_OUT
    if path.suffix == ".md":
        return Kind.MEMORY if folder == "memory" else Kind.UNKNOWN
    return {".jsonl": Kind.TRANSCRIPT, ".json": Kind.EXPORT}.get(path.suffix, Kind.UNKNOWN)


def unknown_kind(path: Path) -> str:
    """Name the kind of a file that is not known, for counting."""
    return clean_text(f"file {path.suffix.lower() or path.name}")[:80]


def native_id(path: Path) -> str:
    """Return the name of a document: its path below the projects folder.

    It is the same whichever path the user named, and the same in a backup: it begins at the last
    folder that is named like a slug, else below the last folder `projects`, else at the root.
    """
    parts = Path(show_path(path.absolute())).parts
    for index in range(len(parts) - 2, 0, -1):
        if _SLUG.match(parts[index]):
            return "/".join(parts[index:])
    for index in range(len(parts) - 2, 0, -1):
        if parts[index] == "projects":
            return "/".join(parts[index + 1 :])
    return "/".join(parts[1:])


@dataclass(frozen=True, slots=True)
class Subagent:
    """Whose transcript an agent's file is."""

    name: str
    parent: Path | None
    kind: str | None
    task: str | None


def subagent_of(path: Path) -> Subagent | None:
    """Return what file names and `.meta.json` tell about a subagent, None for a conversation."""
    if not path.name.startswith("agent-"):
        return None
    meta = _small_object(path.with_name(path.stem + ".meta.json"))
    return Subagent(
        name=path.stem.removeprefix("agent-"),
        parent=_parent_of(path),
        kind=_text(meta.get("agentType")),
        task=_text(meta.get("description")),
    )


def _parent_of(path: Path) -> Path | None:
    for folder in path.parents:
        if folder.name == "subagents":
            session = folder.parent
            return session.with_name(session.name + ".jsonl") if session.name else None
    session_id = first_value(path, "sessionId")
    if session_id is None or not _SESSION.fullmatch(session_id):
        return None
    return path.with_name(session_id + ".jsonl")


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _small_object(path: Path) -> dict[str, Any]:
    value = parse_object(_head(path, _META_BYTES))
    return value if isinstance(value, dict) else {}


def _head(path: Path, size: int) -> bytes:
    try:
        if path.is_file():  # a pipe would block
            with path.open("rb") as handle:
                return handle.read(size)
    except OSError:
        pass
    return b""


def first_value(path: Path, field: str) -> str | None:
    """Return the first text of a record field (`cwd`, `sessionId`) in a transcript's head."""
    for line in _head(path, _HEAD_BYTES).split(b"\n"):
        record = parse_object(line)
        if isinstance(record, dict) and (value := _text(record.get(field))):
            return value
    return None


def slug_of(cwd: str) -> str:
    """Return the name of the folder in which Claude Code keeps the sessions started in `cwd`."""
    return re.sub(r"[^a-zA-Z0-9]", "-", cwd)


def cwd_of_folder(folder: Path) -> str | None:
    """Return the working directory that a folder of sessions stands for.

    The slug cannot be reversed, so a session that was started there is asked.
    """
    for path in _sessions(folder):
        cwd = first_value(path, "cwd")
        if cwd and slug_of(cwd) == folder.name:
            return cwd
    return None


def _sessions(folder: Path, limit: int = 20) -> Sequence[Path]:
    try:
        return sorted(folder.glob("*.jsonl"))[:limit]
    except OSError:
        return []


def by_age(files: Iterator[Found] | Sequence[Found]) -> list[Found]:
    """Return the files oldest change first.

    A session that was continued under a new name repeats its beginning; what was said is then
    kept with the older file.
    """
    return sorted(files, key=lambda found: (found.mtime_ns, str(found.path)))

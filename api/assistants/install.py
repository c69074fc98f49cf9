"""Writes our part into a configuration file, or takes it out; the rest of the file stays."""

from __future__ import annotations

import os
import tempfile
import tomllib
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from api.assistants.jsonc import loads, with_value, without_value
from api.assistants.targets import NAME, Hooks, Part, Server, is_ours
from api.assistants.tomltext import with_table, without_table
from context_engine.errors import BadInputError

Edit = Callable[[Part, str], str]
"""Returns a file's text with one part put in, or taken out."""


def shown(parts: Sequence[Part]) -> str:
    """Return what would be written, by itself."""
    return "\n".join(
        f"# {file}\n{_all(_installed, group, '').strip()}\n" for file, group in _by_file(parts)
    )


def install(parts: Sequence[Part], now: datetime) -> dict[Path, bool]:
    """Write our parts; returns which files changed. What was there before is kept beside them.

    Raises BadInputError when a file is not what its assistant writes.
    """
    return {file: _change(file, group, _installed, now) for file, group in _by_file(parts)}


def uninstall(parts: Sequence[Part], now: datetime) -> dict[Path, bool]:
    """Take our parts out; returns which files changed. One that held nothing else is gone."""
    return {
        file: file.exists() and _change(file, group, _removed, now)
        for file, group in _by_file(parts)
    }


def _by_file(parts: Sequence[Part]) -> list[tuple[Path, list[Part]]]:
    files: dict[Path, list[Part]] = {}
    for part in parts:
        files.setdefault(part.file, []).append(part)
    return list(files.items())


def _all(edit: Edit, parts: Sequence[Part], text: str) -> str:
    for part in parts:
        text = edit(part, text)
    return text


def _installed(part: Part, text: str) -> str:
    if isinstance(part, Hooks):
        for event, group in part.groups.items():
            text = with_value(text, ("hooks", event), [*_others(text, event), group])
        return text
    if part.file.suffix == ".toml":
        return with_table(text, part.path[0], NAME, part.entry)
    return with_value(text, (*part.path, NAME), part.entry)


def _removed(part: Part, text: str) -> str:
    if isinstance(part, Server):
        if part.file.suffix == ".toml":
            return without_table(text, part.path[0], NAME)
        return without_value(text, (*part.path, NAME))
    for event in part.groups:
        others = _others(text, event)
        if others:
            text = with_value(text, ("hooks", event), others)
        else:
            text = without_value(text, ("hooks", event))
    return text


def _others(text: str, event: str) -> list[Any]:
    """Return the matcher groups of an event without our commands."""
    kept = []
    for group in _groups(text, event):
        hooks = group.get("hooks") if isinstance(group, dict) else None
        if not isinstance(hooks, list):
            kept.append(group)
        elif left := [hook for hook in hooks if not is_ours(hook)]:
            kept.append(group if left == hooks else {**group, "hooks": left})
    return kept


def _groups(text: str, event: str) -> Sequence[Any]:
    hooks = loads(text).get("hooks") or {}
    groups = hooks.get(event) or [] if isinstance(hooks, dict) else None
    if not isinstance(groups, list):
        raise ValueError(f"its hooks of {event} are no list")  # noqa: TRY004 - a value in a file
    return groups


def _change(file: Path, parts: Sequence[Part], edit: Edit, now: datetime) -> bool:
    # a file that is a link (people keep their configuration in Git) stays one
    target = file.resolve()
    try:
        before = target.read_text(encoding="utf-8") if target.exists() else ""
        after = _all(edit, parts, before)
    except (ValueError, tomllib.TOMLDecodeError) as error:
        raise BadInputError(str(file), f"{error}; it is left as it is") from error
    if after == before or _same(file, before, after):
        return False
    if not "".join(after.split()).strip("{}") and not file.is_symlink():
        # ours was all there was: no file of ours stays, nor a backup of nothing else
        target.unlink()
        return True
    target.parent.mkdir(parents=True, exist_ok=True)
    if before:
        backup = target.with_name(f"{target.name}.{now:%Y%m%dT%H%M%SZ}.bak")
        _write(backup, before, target)
    _write(target, after, target)
    return True


def _same(file: Path, before: str, after: str) -> bool:
    """Tell whether two texts say the same, so that another layout is nothing to write about."""
    if not before.strip():
        return False
    read = tomllib.loads if file.suffix == ".toml" else loads
    return bool(read(before) == read(after))


def _write(path: Path, text: str, like: Path) -> None:
    """Write whole or not at all, with the permissions of `like`, else for the owner alone."""
    mode = like.stat().st_mode & 0o777 if like.exists() else 0o600
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise

"""Checks of the home: that it is there, private, whole, and that a client may come."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import apsw

from api import tokens
from api.doctor.model import Check, bad, good
from api.routines.report import problems, routine_states
from context_engine.errors import ContextEngineError, IndexCorruptError
from context_engine.home import Home
from context_engine.home_format import FORMAT, format_of
from context_engine.scopes import Scope
from context_engine.settings import Settings
from index.checking import look_through
from index.coverage import coverage
from workers import outbox_report
from workers.outbox import Outbox

LEAST_FREE = 1_000_000_000
"""Bytes: an import and the rewriting of the broker's log need room."""


def home(settings: Settings) -> Check:
    """Look whether there is a home that can be written."""
    root = settings.paths.root
    if not root.is_dir():
        return bad("home", f"{root} is not there yet", "context-engine init")
    if not os.access(root, os.W_OK | os.X_OK):
        return bad("home", f"{root} cannot be written", f"chmod u+rwx {shlex.quote(str(root))}")
    return good("home", str(root))


def permissions(settings: Settings) -> Check:
    """Look whether nobody else on this machine can read the memory."""
    paths = settings.paths
    private = [paths.root, paths.state, paths.vaults, paths.keys, paths.tokens, paths.audit_log]
    open_to_others = [p for p in private if p.exists() and p.stat().st_mode & 0o077]
    foreign = [p for p in private if p.exists() and p.stat().st_uid != os.getuid()]
    if foreign:
        names = " ".join(shlex.quote(str(p)) for p in foreign)
        return bad("permissions", f"{names} belongs to somebody else", f"sudo chown $USER {names}")
    if open_to_others:
        names = " ".join(shlex.quote(str(p)) for p in open_to_others)
        said = f"others can read {names}"
        if paths.root not in open_to_others:
            said = f"only the mode of {paths.root} keeps others out of {names}"
        return bad("permissions", said, f"chmod go-rwx {names}")
    return good("permissions", "readable by its owner alone")


def disk(settings: Settings) -> Check:
    """Look whether there is room."""
    free = shutil.disk_usage(_existing(settings.paths.root)).free
    said = f"{free / 1e9:.1f} GB free"
    if free < LEAST_FREE:
        return bad("disk", said, "free some space: the engine pauses when the disk is full")
    return good("disk", said)


def _existing(path: Path) -> Path:
    return path if path.exists() else _existing(path.parent)


def index(settings: Settings) -> Check:
    """Look whether every index is whole, as far as time allows, and knows its vault."""
    try:
        looked_through = [look_through(settings.paths.index(scope)) for scope in Scope]
        found = [coverage(settings.paths, scope) for scope in Scope]
    except (IndexCorruptError, apsw.Error, OSError) as error:
        return bad("index", str(error), "context-engine reindex --rebuild")
    unknown = [each for each in found if each.vault and not each.index]
    if unknown:
        return bad("index", "; ".join(map(str, unknown)), "context-engine reindex")
    behind = [str(each) for each in found if each.vault > each.index]
    said = "whole" if all(looked_through) else "readable; too large to look through all of it"
    return good("index", "; ".join([said, *behind]), "context-engine reindex" if behind else None)


def client_tokens(settings: Settings) -> Check:
    """Look whether the token file is whole."""
    try:
        issued = tokens.list_tokens(settings.paths)
    except ContextEngineError as error:
        return bad("tokens", str(error), f"rm {shlex.quote(str(settings.paths.tokens))}")
    if not issued:
        hint = "context-engine token create NAME --scope personal"
        return good("tokens", "none yet: no client comes in over HTTP", hint)
    return good("tokens", ", ".join(sorted({token.client for token in issued})))


def quarantine(settings: Settings) -> Check:
    """Look whether any job was given up."""
    if not settings.paths.outbox.exists():
        return good("quarantine", "empty")
    classes = outbox_report.quarantine_counts(Outbox(settings.paths.outbox))
    if not classes:
        return good("quarantine", "empty")
    said = ", ".join(f"{count} {name}" for name, count in classes.items())
    return bad("quarantine", f"given up: {said}", "context-engine retry --all")


def routines(settings: Settings) -> Check:
    """Look whether a routine keeps failing."""
    states = routine_states(settings)
    failing = problems(states)
    if failing:
        name = next(state.name for state in states if state.failing)
        return bad("routines", "; ".join(failing), f"context-engine routine run {name}")
    hint = None if states else "add a [[routine]] to config.toml so that it collects by itself"
    return good("routines", f"{len(states)} of them", hint)


_ASSISTANTS = (
    ("Claude Code", ".claude", "settings.json", "claude-code"),
    ("Codex", ".codex", "config.toml", "codex"),
    ("Cursor", ".cursor", "mcp.json", "cursor"),
    ("Gemini CLI", ".gemini", "settings.json", "gemini-cli"),
)


def assistants(user_home: Path) -> Iterator[Check]:
    """Look whether the assistants of this machine have the tools, and Claude Code the hooks.

    One that was never connected is a hint: nobody has to.
    """
    for name, folder, file, target in _ASSISTANTS:
        if not (user_home / folder).is_dir():
            continue
        fix = f"context-engine install {target}"
        if _names_us(user_home / folder / file):
            yield good(target, f"{name} is connected")
        elif target == "claude-code" and _names_us(user_home / ".claude.json"):
            yield bad(target, f"{name} has our tools, but no hooks of ours", fix)
        else:
            yield good(target, f"{name} is not connected", fix)


def _names_us(file: Path) -> bool:
    text = _text(file)
    return "context-engine" in text or "context_engine" in text


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def left_by_newer(home_: Home) -> Check:
    """Look whether the home's format is one that this program knows."""
    found = format_of(home_.root)
    if found > FORMAT:
        return bad(
            "format",
            f"the home has format {found}, this program knows {FORMAT}",
            "upgrade context-engine",
        )
    return good("format", str(found))

"""One note: rendered, raw, its history, and edited in place."""

from __future__ import annotations

import difflib
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from starlette.responses import Response

from api.dashboard.ask import Ask
from api.dashboard.deck import Deck
from api.dashboard.git_history import history
from api.dashboard.markdown import MAX_CHARACTERS, render
from api.dashboard.render import page, see_other
from context_engine.errors import BadInputError, NoteConflictError, NotFoundError
from context_engine.scopes import Scope
from vault.notes import Note, parse_note
from vault.paths import split_relative, vault_root
from vault.seals import seals_of
from vault.store import MAX_NOTE_BYTES, Snapshot, read, write

VIEWS = ("read", "raw", "edit", "history")
_MAX_DIFF_LINES = 2_000
_HIDDEN = frozenset({"content_hash"})


def show(deck: Deck, ask: Ask) -> Response:
    """Show the note in one of its views."""
    scope, path = _place(ask)
    snapshot = _read(deck, scope, path)
    view = ask.query.get("view", "read")
    view = view if view in VIEWS else "read"
    values = _page_values(deck, snapshot, scope, path)
    if view == "history":
        values["history"] = history(vault_root(deck.home, scope), path)
    return page(ask, "note.html", view=view, saved="saved" in ask.query, **values)


def save(deck: Deck, ask: Ask) -> Response:
    """Write the note, unless it became another one since the page was opened."""
    scope, path = _place(ask)
    seen = _read(deck, scope, path)
    data = _as_saved(ask.field("text"), seen.data)
    if len(data) > MAX_NOTE_BYTES:
        raise BadInputError(path, f"has {len(data)} bytes; at most {MAX_NOTE_BYTES}")
    if ask.field("digest") != seen.digest:
        return _conflict(deck, ask, seen, data)
    try:
        write(vault_root(deck.home, scope), path, data, seen)
    except NoteConflictError:
        return _conflict(deck, ask, _read(deck, scope, path), data)
    deck.services().notify(scope, path)
    return see_other(f"{page_of(scope, path)}?saved")


def page_of(scope: Scope, path: str) -> str:
    """Return the address of a note's page."""
    return f"/notes/{scope.value}/{quote(path)}"


def _place(ask: Ask) -> tuple[Scope, str]:
    name, path = ask.params["scope"], ask.params["path"]
    if name not in set(Scope) or not split_relative(path)[-1].endswith(".md"):
        raise NotFoundError(f"{name}/{path}")
    scope = Scope(name)
    ask.exchange.results = (f"{name}/{path}",)
    if ask.exchange.caller is not None:
        ask.exchange.caller = replace(ask.exchange.caller, scope=scope)
    return scope, path


def _read(deck: Deck, scope: Scope, path: str) -> Snapshot:
    return read(vault_root(deck.home, scope), path)


def _page_values(deck: Deck, snapshot: Snapshot, scope: Scope, path: str) -> dict[str, Any]:
    note, raw = _parsed(deck, scope, path, snapshot)
    front = {
        key: value for key, value in (note.front if note else {}).items() if key not in _HIDDEN
    }
    return {
        "here": "search",
        "scope": scope,
        "path": path,
        "address": page_of(scope, path),
        "title": note.title if note else PurePosixPath(path).stem,
        "note": note,
        "front": front,
        "raw": raw,
        "html": render(note.body, scope, path) if note else None,
        "cut": note is not None and len(note.body) > MAX_CHARACTERS,
        "digest": snapshot.digest,
        "conflict": None,
        "history": None,
        "has_git": (deck.home.root / ".git").exists()
        or (deck.home.vaults / ".git").exists()
        or (deck.home.vault(scope) / ".git").exists(),
    }


def _parsed(deck: Deck, scope: Scope, path: str, snapshot: Snapshot) -> tuple[Note | None, str]:
    try:
        note = parse_note(scope, path, snapshot, seals_of(deck.home, scope))
        return note, snapshot.data.decode("utf-8")
    except BadInputError:
        # not UTF-8: shown as well as it can be, and not offered for editing
        return None, snapshot.data.decode("utf-8", "replace")


def _as_saved(text: str, before: bytes) -> bytes:
    """Return a form's text with the line ends that the file has: browsers send CRLF always."""
    plain = text.replace("\r\n", "\n")
    if b"\r\n" in before:
        plain = plain.replace("\n", "\r\n")
    return plain.encode("utf-8", "replace")


def _conflict(deck: Deck, ask: Ask, now: Snapshot, mine: bytes) -> Response:
    scope, path = _place(ask)
    ask.exchange.outcome = "conflict"
    theirs, ours = (data.decode("utf-8", "replace").splitlines() for data in (now.data, mine))
    changes = difflib.unified_diff(
        theirs[:_MAX_DIFF_LINES], ours[:_MAX_DIFF_LINES], lineterm="", n=2
    )
    values = _page_values(deck, now, scope, path) | {
        "raw": mine.decode("utf-8"),
        "conflict": [line for line in changes if not line.startswith(("---", "+++"))],
    }
    return page(ask, "note.html", status=409, view="edit", saved=False, **values)

"""Conflict copies: what the engine had to say where a person had written; nothing is lost."""

from __future__ import annotations

from pathlib import PurePosixPath

from context_engine.home import Home
from context_engine.ids import short_id
from context_engine.scopes import Scope
from vault.frontmatter import render, wrap
from vault.layout import INBOX
from vault.names import note_name
from vault.paths import vault_root
from vault.store import Snapshot, rewrite


def save_conflict(home: Home, scope: Scope, of: str, reason: str, content: str) -> str:
    """Save `content` into the inbox of `scope` and return its path.

    `of` is the note that kept its text. The name follows from note and content: saving again
    changes nothing.
    """
    root = vault_root(home, scope)
    name = note_name(f"conflict {PurePosixPath(of).stem[:40]}", short_id("conflict", of, content))
    front = {"type": "conflict", "of": of, "reason": reason, "scope": scope.value}
    data = f"{wrap(render(front))}{content.rstrip()}\n".encode("utf-8", "replace")

    def create(seen: Snapshot | None) -> tuple[bytes | None, None]:
        return (data if seen is None else None), None

    rewrite(root, f"{INBOX}/{name}", create)
    return f"{INBOX}/{name}"

"""The one identity, and what of it the other scopes may see.

`identity/canonical.md` lies in the personal vault and is a person's alone. Work and public get a
generated projection that holds only items of their visibility or a wider one. In doubt an item is
personal: nothing leaves by a typing error.
"""

from __future__ import annotations

from dataclasses import dataclass

from context_engine.errors import NotFoundError
from context_engine.events import BadRecord
from context_engine.home import Home
from context_engine.scopes import Scope
from vault.conflicts import save_conflict
from vault.frontmatter import render, wrap
from vault.identity_items import Problem, parse_identity, render_identity
from vault.layout import IDENTITY, PROFILE
from vault.locks import note_lock
from vault.notefile import decode_note, sealed
from vault.paths import vault_root
from vault.store import Snapshot, read, read_or_none, rewrite

TEMPLATE = """---
type: identity
title: Identity
---
# Identity

<!--
Who you are and how you like to work, as list items under headings of your own.
An item is seen in the personal scope alone, unless it ends in a tag:

- Night owl; no meetings before ten
- Prefers pull requests below 300 lines {work}
- 日本語と英語で読み書きする {public}

{work} means work and personal, {public} means everywhere. A tag on a heading counts for the items
below it that have none. Comments like this one are never shown to an assistant.
-->

## Who I am

## How I work

## What I value
"""

_NOTICE = "*Generated from the owner's identity. Edits here do not last.*"
_EDITED = "the profile is generated; what was written into it was moved here"


@dataclass(frozen=True)
class Projection:
    """What became of one scope's profile."""

    scope: Scope
    path: str
    changed: bool
    conflict: str | None = None
    """Where a person's edit of the generated file went."""


def create_identity(home: Home) -> bool:
    """Write the template of `canonical.md` unless there is one; tell whether it was written."""

    def create(seen: Snapshot | None) -> tuple[bytes | None, bool]:
        return (None, False) if seen else (TEMPLATE.encode(), True)

    return rewrite(vault_root(home, Scope.PERSONAL), IDENTITY, create)


def project_identity(home: Home) -> tuple[Projection, ...]:
    """Bring the profiles of work and public in line with `canonical.md`.

    Raises BadInputError when the identity is not UTF-8; the profiles then stay as they are.
    """
    return tuple(_project(home, scope) for scope in Scope if scope is not Scope.PERSONAL)


def identity_card(home: Home, scope: Scope) -> str:
    """Return what callers of `scope` are told about the owner, as Markdown; "" when nothing is.

    Personal reads the identity itself, the others only the profile in their own vault.
    """
    if scope is Scope.PERSONAL:
        return render_identity(parse_identity(_canonical(home)), scope)
    try:
        data = read(vault_root(home, scope), PROFILE).data
    except NotFoundError:
        return ""
    return decode_note(data, PROFILE).body.replace(f"{_NOTICE}\n\n", "", 1).strip()


def check_identity(home: Home) -> tuple[BadRecord, ...]:
    """Return what in `canonical.md` is not understood and is therefore kept personal."""
    problems: list[Problem] = []
    note_body = _canonical(home)
    parse_identity(note_body, problems)
    return tuple(BadRecord(f"{IDENTITY}:{line}", reason) for line, reason in problems)


def _canonical(home: Home) -> str:
    seen = read_or_none(vault_root(home, Scope.PERSONAL), IDENTITY)
    return decode_note(seen.data, IDENTITY).body if seen else ""


def _project(home: Home, scope: Scope) -> Projection:
    with note_lock(home, scope, PROFILE):
        body = render_identity(parse_identity(_canonical(home)), scope)
        root = vault_root(home, scope)
        seen = read_or_none(root, PROFILE)
        if seen is None and not body:
            return Projection(scope, PROFILE, changed=False)
        conflict = _rescue(home, scope, seen) if seen else None
        text = f"# Profile\n\n{_NOTICE}\n\n{body}".rstrip() + "\n"
        front = sealed({"type": "profile", "scope": scope.value, "generated": True}, text)
        data = f"{wrap(render(front))}{text}".encode("utf-8", "replace")
        rewrite(root, PROFILE, lambda _: (data, None))
        return Projection(scope, PROFILE, seen is None or seen.data != data, conflict)


def _rescue(home: Home, scope: Scope, seen: Snapshot) -> str | None:
    """Save a profile that a person edited before it is generated anew."""
    text = seen.data.decode("utf-8", "replace")
    note = decode_note(text.encode(), PROFILE)
    return None if note.untouched else save_conflict(home, scope, PROFILE, _EDITED, text)

"""What an insight says of the owner becomes an item of the identity, by the owner's own act."""

from __future__ import annotations

import re

from api.review.changing import Decision
from api.review.model import Desk, Item
from context_engine.errors import NoteConflictError
from context_engine.home import Home
from context_engine.scopes import Scope
from vault.escape import escape, one_line, unescape
from vault.identity import create_identity, project_identity
from vault.layout import IDENTITY
from vault.locks import note_lock
from vault.paths import vault_root
from vault.store import read, read_or_none, write

_HEADING = "## Learned over time"
_LIMIT = 500
_ITEM = re.compile(r"^- (.*?)(?: \{[^{}]*\})?$", re.MULTILINE)


def append_item(decision: Decision, item: Item, visibility: Scope) -> None:
    """Append one line under a heading of its own at the end, and project the identity anew.

    Raises NoteConflictError when somebody saves the identity at this moment.
    """
    home = decision.desk.home
    create_identity(home)
    root = vault_root(home, Scope.PERSONAL)
    with note_lock(home, Scope.PERSONAL, IDENTITY):
        seen = read(root, IDENTITY)
        text = seen.data.decode("utf-8")
        data = _with_line(text, _line(item, visibility)).encode()
        if data != seen.data:
            decision.journal.change(Scope.PERSONAL, IDENTITY, seen.data, data, item.insight_id)
            write(root, IDENTITY, data, seen)
    follow_identity(decision.desk)


def follow_identity(desk: Desk) -> None:
    """Project the identity anew, for work and public."""
    for projection in project_identity(desk.home):
        if projection.changed:
            desk.notify(projection.scope, projection.path)


def learned_lines(home: Home) -> tuple[str, ...]:
    """Return what was appended so far, without marks and tags; nothing while there is no file."""
    seen = read_or_none(vault_root(home, Scope.PERSONAL), IDENTITY)
    text = seen.data.decode("utf-8", "replace") if seen else ""
    _, _, learned = text.partition(f"\n{_HEADING}\n")
    own = learned.partition("\n#")[0]
    return tuple(unescape(match[1]) for match in _ITEM.finditer(own))


def words_for_identity(item: Item) -> str:
    """Return what an insight says as one line of the identity, not escaped."""
    # braces are tags of visibility there, and angle brackets begin comments
    words = one_line(item.content, _LIMIT).replace("{", "(").replace("}", ")")
    return words.replace("<!--", "").replace("-->", "")


def _line(item: Item, visibility: Scope) -> str:
    return f"- {escape(words_for_identity(item))} {{{visibility.value}}}"


def _with_line(text: str, line: str) -> str:
    if line in text.splitlines():
        return text
    body = text.rstrip("\n")
    if "<!--" in body.rpartition("-->")[2]:
        raise NoteConflictError(IDENTITY)
    last = next((row for row in reversed(body.split("\n")) if row.startswith("#")), "")
    return f"{body}\n{line}\n" if last == _HEADING else f"{body}\n\n{_HEADING}\n\n{line}\n"

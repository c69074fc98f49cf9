"""A note's history from Git, when its vault lies in a repository."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from api.git import ask_git

_LIMIT = 50
_SECONDS = 5.0
_MAX_BYTES = 400_000
_FIELDS = "%x1e%H%x1f%aI%x1f%an%x1f%s%x1f"


@dataclass(frozen=True)
class Change:
    """One commit that changed the note."""

    commit: str
    at: str
    author: str
    subject: str
    patch: tuple[str, ...]
    """Lines of the difference, headers left out."""


def history(root: Path, path: str) -> tuple[Change, ...] | None:
    """Return the last changes of a note, the newest first; None when there is no history."""
    asked = [
        *("log", f"-n{_LIMIT}", "--no-textconv", "--no-ext-diff", "--no-show-signature"),
        *("--no-color", "-p", "-U2", f"--format={_FIELDS}", "--", path),
    ]
    text = ask_git(root, asked, seconds=_SECONDS, max_bytes=_MAX_BYTES)
    return None if text is None else tuple(_change(part) for part in text.split("\x1e")[1:])


def _change(text: str) -> Change:
    commit, at, author, subject, patch = [*text.split("\x1f", 4), "", "", "", ""][:5]
    lines = patch.split("\n")
    start = next((n for n, line in enumerate(lines) if line.startswith("@@")), len(lines))
    return Change(commit[:10], at[:10], author, subject, tuple(lines[start:]))

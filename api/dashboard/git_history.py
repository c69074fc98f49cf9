"""A note's history from Git, when its vault lies in a repository."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from context_engine.logs import get_logger

_LIMIT = 50
_SECONDS = 5.0
_MAX_BYTES = 400_000
_FIELDS = "%x1e%H%x1f%aI%x1f%an%x1f%s%x1f"

# the repository's own configuration names programs that git would start
_HARMLESS = (
    *("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.pager=cat"),
    *("-c", "diff.external=", "-c", "log.showSignature=false", "-c", "core.quotePath=false"),
)

log = get_logger(__name__)


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
    git = shutil.which("git")
    if git is None or not Path(git).is_absolute():
        return None
    command = [
        *(git, "--no-pager", "--literal-pathspecs", *_HARMLESS, "log", f"-n{_LIMIT}"),
        *("--no-textconv", "--no-ext-diff", "--no-color", "-p", "-U2", f"--format={_FIELDS}"),
        *("--", path),
    ]
    environment = {
        "PATH": os.defpath,
        "HOME": "/nonexistent",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        # an older git knows no other word against fetching what is missing, by any program named
        "GIT_ALLOW_PROTOCOL": "none",
        "LC_ALL": "C.UTF-8",
    }
    try:
        done = subprocess.run(  # noqa: S603 - an absolute program, arguments of our own
            command, cwd=root, env=environment, capture_output=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        log.warning("no history of a note", reason=str(error))
        return None
    if done.returncode != 0:
        return None
    text = done.stdout[:_MAX_BYTES].decode("utf-8", "replace")
    return tuple(_change(part) for part in text.split("\x1e")[1:])


def _change(text: str) -> Change:
    commit, at, author, subject, patch = [*text.split("\x1f", 4), "", "", "", ""][:5]
    lines = patch.split("\n")
    start = next((n for n, line in enumerate(lines) if line.startswith("@@")), len(lines))
    return Change(commit[:10], at[:10], author, subject, tuple(lines[start:]))

"""What a Git repository says of files since a moment."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from api.git import ask_git
from context_engine.clock import isoformat

_SECONDS = 1.5
_COMMITS = 20
_MAX_OUTPUT = 64_000
_MAX_SUBJECT = 60


@dataclass(frozen=True)
class Commit:
    """A commit that touched a file. `subject` is its author's text, on one line."""

    digest: str
    day: str
    subject: str


def commits_since(
    repo: Path, paths: Collection[str], since: datetime
) -> Mapping[str, Commit] | None:
    """Return the latest commit since then of each path (relative to `repo`) that has one.

    None when git cannot say: there is no git, no repository, or no answer in time.
    """
    asked = [
        *("log", f"--max-count={_COMMITS}", f"--since={isoformat(since)}", "--no-show-signature"),
        *("--no-ext-diff", "--no-textconv", "--name-only", "--relative", "-z"),
        *("--format=format:%x01%h%x02%cs%x02%s%x02", "HEAD", "--", *paths),
    ]
    output = ask_git(repo, asked, seconds=_SECONDS, max_bytes=_MAX_OUTPUT)
    return None if output is None else _latest(output)


def _latest(output: str) -> dict[str, Commit]:
    found: dict[str, Commit] = {}
    for record in output.split("\x01")[1:]:
        digest, day, subject, files = [*record.split("\x02"), "", "", "", ""][:4]
        commit = Commit(digest[:12], day[:10], _plain(subject))
        for name in filter(None, (part.strip("\n") for part in files.split("\0"))):
            found.setdefault(name, commit)
    return found


def _plain(text: str) -> str:
    """Return a stranger's text on one line, without what could pass for more than text."""
    shown = "".join(
        " " if unicodedata.category(char).startswith("C") else char for char in text[:400]
    )
    return " ".join(shown.replace('"', "'").split())[:_MAX_SUBJECT]

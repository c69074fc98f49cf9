"""What a Git repository says of files since a moment, asked so that the repository runs nothing.

A repository may be anybody's: its configuration names programs that git would start. `log` without
a patch starts none of the diff, filter and text conversion drivers; the rest is switched off, and a
repository of another user is refused by git itself.
"""

from __future__ import annotations

import shutil
import subprocess
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path

from context_engine.clock import isoformat

_SECONDS = 1.5
_COMMITS = 20
_MAX_OUTPUT = 64_000
_MAX_SUBJECT = 60
_PLACES = "/usr/bin:/bin:/usr/local/bin:/opt/homebrew/bin"
"""Where git is looked for: never in a folder that a caller chose."""

_SWITCHED_OFF = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.sshCommand=false",
    "core.alternateRefsCommand=true",
    "core.attributesFile=/dev/null",
    "log.showSignature=false",
    "gpg.program=false",
    "protocol.allow=never",
    "diff.external=",
)
_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/nonexistent",
    "LC_ALL": "C.UTF-8",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_NO_LAZY_FETCH": "1",
    # protocol.allow yields to a repository's own protocol.file.allow, this does not
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
}


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
    git = _git()
    if git is None or not repo.is_dir():
        return None
    options = [part for option in _SWITCHED_OFF for part in ("-c", option)]
    asked = [
        *("log", f"--max-count={_COMMITS}", f"--since={isoformat(since)}", "--no-show-signature"),
        *("--no-ext-diff", "--no-textconv", "--name-only", "--relative", "-z"),
        *("--format=format:%x01%h%x02%cs%x02%s%x02", "HEAD", "--", *paths),
    ]
    try:
        done = subprocess.run(  # noqa: S603 -- a fixed program, its place and environment ours
            [git, "--no-pager", "--literal-pathspecs", *options, "-C", str(repo), *asked],
            env=_ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    if done.returncode:
        return None
    return _latest(done.stdout[:_MAX_OUTPUT].decode("utf-8", "replace"))


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


@cache
def _git() -> str | None:
    return shutil.which("git", path=_PLACES)

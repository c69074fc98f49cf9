"""Asking Git about a repository so that the repository runs nothing.

A repository may be anybody's: its configuration names programs that git would start. `log` with
`--no-ext-diff --no-textconv` starts none of the diff, filter and text conversion drivers; the rest
is switched off here, and a repository of another user is refused by git itself.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from context_engine.logs import get_logger

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

log = get_logger(__name__)


def ask_git(
    folder: Path, arguments: Sequence[str], *, seconds: float, max_bytes: int
) -> str | None:
    """Return the beginning of what git says to `git -C folder ARGUMENTS…`.

    None when it cannot say: there is no git, no repository, or no answer within `seconds`.
    """
    git = shutil.which("git", path=_PLACES)
    if git is None or not folder.is_dir():
        return None
    options = [part for option in _SWITCHED_OFF for part in ("-c", option)]
    try:
        done = subprocess.run(  # noqa: S603 - a fixed program, its place and environment ours
            [git, "--no-pager", "--literal-pathspecs", *options, "-C", str(folder), *arguments],
            env=_ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        log.info("git does not say", reason=type(error).__name__)
        return None
    if done.returncode:
        return None
    return done.stdout[:max_bytes].decode("utf-8", "replace")

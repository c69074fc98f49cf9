"""Making a first home: settings from a few answers, the identity's template, Git in the vault."""

from __future__ import annotations

import getpass
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from context_engine.errors import ContextEngineError
from context_engine.home import Home
from vault.identity import create_identity

_WORK_FOLDERS = ("work", "Work", "job", "仕事")
_PUBLIC_FOLDERS = ("oss", "open-source", "public")
_CONTROL = {chr(code): f"\\u{code:04x}" for code in (*range(0x20), 0x7F)}


@dataclass(frozen=True)
class Answers:
    """What a newcomer said, or what was guessed."""

    owner: str
    work: tuple[str, ...]
    """Folders whose sessions belong to work; `~` stands for the user's home."""
    public: tuple[str, ...]
    git: bool
    connect: bool
    """Tie it to the machine: assistants that are here, start at login."""


def guess(user_home: Path, refused: frozenset[str] = frozenset()) -> Answers:
    """Return what the machine suggests, but for what the person refused before."""
    return Answers(
        owner=_git_name() or _user_name(),
        work=tuple(f"~/{name}" for name in _WORK_FOLDERS if (user_home / name).is_dir()),
        public=tuple(f"~/{name}" for name in _PUBLIC_FOLDERS if (user_home / name).is_dir()),
        git=shutil.which("git") is not None and "git" not in refused,
        connect=False,
    )


def _user_name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "owner"  # a container's user without a name


def _git_name() -> str:
    git = shutil.which("git")
    if git is None:
        return ""
    done = subprocess.run(  # noqa: S603 - a fixed command line
        [git, "config", "--global", "user.name"], capture_output=True, text=True, check=False
    )
    return done.stdout.strip()


def write_home(home: Home, answers: Answers) -> list[str]:
    """Create what is not there yet, and nothing else; returns a line for each thing created."""
    home.create()
    done = []
    if not home.config_file.exists():
        home.config_file.write_text(config_text(answers), encoding="utf-8")
        home.config_file.chmod(0o600)
        done.append(f"settings  {home.config_file}")
    if create_identity(home):
        done.append(f"identity  {home.vaults / 'personal' / 'identity' / 'canonical.md'}")
    if answers.git and not (home.vaults / ".git").exists():
        start_git(home.vaults, answers.owner)
        done.append(f"Git       {home.vaults}")
    return done


def config_text(answers: Answers) -> str:
    """Return config.toml."""
    lines = [
        "# Settings of Context Engine. All of them: docs/reference.md. Each also as CE_… variable.",
        f"owner_name = {_toml(answers.owner)}",
        "",
        "# A session's folder decides its vault; without a rule it is personal.",
    ]
    for scope, folders in (("work", answers.work), ("public", answers.public)):
        for folder in folders:
            path = folder.rstrip("/") + "/**"
            lines += ["[[scope_rule]]", f"path = {_toml(path)}", f'scope = "{scope}"', ""]
    routine = ["[[routine]]", 'name = "claude"', 'source = "claude"', 'every = "15m"']
    if not Path("~/.claude/projects").expanduser().is_dir():
        routine = [f"# {line}" for line in routine]
    lines += ["# Collected by itself while `context-engine up` runs; more: docs/routines.md."]
    lines += routine
    return "\n".join(lines).rstrip() + "\n"


def _toml(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(_CONTROL.get(sign, sign) for sign in escaped) + '"'


def start_git(folder: Path, owner: str) -> None:
    """Put `folder` under Git with one commit of what is there.

    Raises ContextEngineError with what Git said.
    """
    name = " ".join(owner.split()) or "owner"
    identity = ("-c", f"user.name={name}", "-c", "user.email=owner@localhost")
    _git(folder, ("init", "--quiet"))
    _git(folder, ("add", "--all"))
    _git(folder, (*identity, "commit", "--quiet", "--allow-empty", "-m", "Begin the memory"))


def _git(folder: Path, arguments: Sequence[str]) -> None:
    git = shutil.which("git")
    if git is None:
        raise ContextEngineError("Git is not installed; run init again with --no-git")
    # no hooks and no template of the user's: this is not a project of theirs
    done = subprocess.run(  # noqa: S603 - our own arguments
        [git, "-C", str(folder), "-c", "core.hooksPath=/dev/null", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise ContextEngineError(f"git {arguments[0]} failed: {done.stderr.strip()}")

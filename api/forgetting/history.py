"""What forgetting cannot reach by itself: earlier versions in Git, backups, other machines."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from api.forgetting.plan import Plan
from context_engine.home import Home
from vault.paths import vault_root


def history_advice(home: Home, plan: Plan) -> tuple[str, ...]:
    """Return lines that explain where earlier versions are, with commands to be run as they are."""
    return (*_explained(), *_commands(home, plan))


def _explained() -> Iterator[str]:
    yield "The engine keeps no earlier versions. Others may:"
    yield "- backups (context-engine backup, Time Machine, a sync service): delete or redo them;"
    yield "- the source itself: delete it there, or only its tombstone keeps it out;"
    yield "- Git, when a vault is a repository: its history holds every committed version."


def _commands(home: Home, plan: Plan) -> Iterator[str]:
    paths: dict[Path, list[str]] = {}
    for scope, path in (*plan.notes, *((part.scope, part.path) for part in plan.sections)):
        file = vault_root(home, scope) / path
        repository = _repository(file)
        if repository is not None:
            paths.setdefault(repository, []).append(file.relative_to(repository).as_posix())
    if not paths:
        yield "No vault concerned is a Git repository."
        return
    yield ""
    yield "# rewrites the history; needs git-filter-repo. Clones and remotes keep theirs: push with"
    yield "# --force-with-lease afterwards and have every clone made anew."
    for repository, names in paths.items():
        yield from _purge(repository, names)


def _purge(repository: Path, names: list[str]) -> Iterator[str]:
    git = f"git -C {shlex.quote(str(repository))}"
    wanted = " ".join(f"--path {shlex.quote(name)}" for name in dict.fromkeys(names))
    yield f"{git} filter-repo --force --invert-paths {wanted}"
    yield f"{git} reflog expire --expire=now --all"
    yield f"{git} gc --prune=now"


def _repository(file: Path) -> Path | None:
    return next((folder for folder in file.parents if (folder / ".git").exists()), None)

"""What a working directory tells, from its name alone: nothing here touches the file system."""

from __future__ import annotations

from pathlib import PurePath, PurePosixPath, PureWindowsPath

from context_engine.events import Ref

# Directly below the root these are mount points and scratch space, not projects.
_NO_PROJECT = frozenset({"root", "tmp", "home", "Users", "workspace", "app"})
_HOMES = ("home", "Users")
_WORKTREES = (("worktrees", ".claude"), (".worktrees", None))


def _pure(path: str) -> PurePath:
    windows = "\\" in path or path[1:3] in {":/", ":"}
    return PureWindowsPath(path) if windows else PurePosixPath(path)


def project_name(cwd: str | None) -> str | None:
    """Return the project that work in `cwd` belongs to: the folder's name, or None.

    A worktree below `.claude/worktrees` or `.worktrees` belongs to the repository around it.
    Homes and temporary folders are no projects.
    """
    if not cwd:
        return None
    path = _pure(cwd)
    *folders, name = _without_worktree(path.parts) or ("",)
    below = len(folders) - bool(path.anchor)
    if not name or name == path.anchor or (below == 0 and name in _NO_PROJECT):
        return None
    is_home = below == 1 and folders[-1] in _HOMES
    return None if is_home else name


def _without_worktree(parts: tuple[str, ...]) -> tuple[str, ...]:
    for index, part in enumerate(parts):
        for name, parent in _WORKTREES:
            if part == name and index and parent in {None, parts[index - 1]}:
                return parts[: index - 1] if parent else parts[:index]
    return parts


def file_ref(cwd: str, file: str) -> Ref:
    """Return the place of `file`, relative to `cwd` when it lies below."""
    below = file.removeprefix(cwd)
    if below != file and below.startswith("/") and "//" not in file and "/." not in below:
        return Ref(repo=cwd, path=below[1:])
    path = _pure(file)
    try:
        return Ref(repo=cwd, path=path.relative_to(_pure(cwd)).as_posix())
    except (ValueError, TypeError):
        return Ref(repo=cwd, path=path.as_posix())

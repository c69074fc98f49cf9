"""Paths inside a vault: walked one folder at a time, through no link, never out of it."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from context_engine.errors import ConfigError, UnsafePathError
from context_engine.home import Home
from context_engine.scopes import Scope

_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_CONTROL = re.compile("[\x00-\x1f\x7f]")
_MAX_PATH_BYTES = 1_024


def vault_root(home: Home, scope: Scope) -> Path:
    """Return the root of one vault, made when it is missing.

    Raises ConfigError when two vaults are the same folder or lie within each other: what is
    written to one scope would be read in another.
    """
    home.vault(scope).mkdir(mode=0o700, parents=True, exist_ok=True)
    roots = {other: Path(os.path.realpath(home.vault(other))) for other in Scope}
    mine = roots.pop(scope)
    for other, root in roots.items():
        if _overlap(mine, root):
            raise ConfigError(f"the vaults {scope} and {other} overlap: {mine} and {root}")
    return mine


def split_relative(relative: str) -> tuple[str, ...]:
    """Return the pieces of a note's path relative to its vault.

    Raises UnsafePathError when it is absolute, climbs, hides behind a dot or holds control
    characters.
    """
    pieces = tuple(relative.split("/"))
    if any(not piece or piece.startswith(".") for piece in pieces):
        raise UnsafePathError(relative, "a note's path is relative, without `..` or hidden folders")
    if _CONTROL.search(relative) or "\\" in relative:
        raise UnsafePathError(relative, "control characters and backslashes are refused")
    if len(os.fsencode(relative)) > _MAX_PATH_BYTES:
        raise UnsafePathError(relative[:80], f"longer than {_MAX_PATH_BYTES} bytes")
    return pieces


@contextmanager
def open_folder(root: Path, pieces: Sequence[str], *, create: bool = False) -> Iterator[int]:
    """Give a descriptor of the folder `root`/`pieces`; no piece may be a link.

    Raises FileNotFoundError when it is missing and not to be created, UnsafePathError when a piece
    is a link or no folder.
    """
    handle = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for depth, piece in enumerate(pieces, 1):
            below = _step(handle, piece, "/".join(pieces[:depth]), create=create)
            os.close(handle)
            handle = below
        yield handle
    finally:
        os.close(handle)


def sync_folder(handle: int) -> None:
    """Make the folder's entries durable."""
    # some network file systems know no fsync of a folder
    with suppress(OSError):
        os.fsync(handle)


def _step(handle: int, piece: str, shown: str, *, create: bool) -> int:
    try:
        return os.open(piece, _FOLDER_FLAGS, dir_fd=handle)
    except FileNotFoundError:
        if not create:
            raise
        with suppress(FileExistsError):
            os.mkdir(piece, 0o700, dir_fd=handle)
            sync_folder(handle)
        return _step(handle, piece, shown, create=False)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise UnsafePathError(shown, "is a link or no folder") from error
        raise


def _overlap(one: Path, two: Path) -> bool:
    if one == two or one.is_relative_to(two) or two.is_relative_to(one):
        return True
    return two.exists() and one.samefile(two)

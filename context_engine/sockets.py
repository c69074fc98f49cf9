"""Where a Unix socket of a home lies: inside it, unless its path is too long for one."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

from context_engine.errors import ConfigError
from context_engine.home import Home

_LIMIT = 100
"""Unix socket paths are limited to 108 bytes on Linux and 104 on macOS."""


def socket_place(home: Home, inside: Path) -> Path:
    """Return `inside`, or a place of the owner's in the temporary folder when that is too long."""
    if len(os.fsencode(inside)) <= _LIMIT:
        return inside
    name = hashlib.sha256(os.fsencode(home.root)).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"context-engine-{os.getuid()}-{name}" / inside.name


def make_socket_folder(socket: Path) -> None:
    """Create the folder of a socket, readable by the owner alone.

    Raises ConfigError when it is there and somebody else's.
    """
    socket.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if socket.parent.lstat().st_uid != os.getuid():
        raise ConfigError(f"{socket.parent} belongs to somebody else; remove it")

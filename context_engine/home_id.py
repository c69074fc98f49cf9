"""A home's own random name, by which it is told from others on a Redis that they share."""

from __future__ import annotations

import contextlib
import secrets
from pathlib import Path

NAME = ".id"


def home_id(root: Path) -> str:
    """Return the name of the home at `root`, the same in every process; made at the first call.

    A home that is copied takes its name along: delete `.id` in the copy. Restoring a backup does.
    """
    path = root / NAME
    with contextlib.suppress(FileNotFoundError):
        return path.read_text(encoding="ascii").strip()
    # whole before it can be seen: of two processes at once the first one names the home
    unseen = root / f"{NAME}.{secrets.token_hex(6)}"
    unseen.write_text(secrets.token_hex(8), encoding="ascii")
    try:
        with contextlib.suppress(FileExistsError):
            path.hardlink_to(unseen)
    finally:
        unseen.unlink()
    return path.read_text(encoding="ascii").strip()

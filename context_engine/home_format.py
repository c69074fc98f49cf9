"""The format of a home, so that an older program does not harm what a newer one wrote."""

from __future__ import annotations

import contextlib
from pathlib import Path

from context_engine.errors import ContextEngineError

FORMAT = 1
"""Of the homes this program writes. A step up needs an entry in `api.upgrade`."""

_NAME = ".format"


class NewerHomeError(ContextEngineError):
    """The home was written by a newer program."""


def format_of(root: Path) -> int:
    """Return the format of the home at `root`; one that says nothing has the first."""
    try:
        return int((root / _NAME).read_text(encoding="ascii"))
    except FileNotFoundError:
        return 1
    except ValueError as error:
        raise ContextEngineError(f"{root / _NAME} should hold the number {FORMAT}") from error


def claim(root: Path) -> None:
    """Make `root` a home of this program's, unless it says what it is already.

    Raises NewerHomeError saying what to do.
    """
    found = format_of(root)
    if found > FORMAT:
        raise NewerHomeError(
            f"{root} was written by a newer version (format {found}, this one knows {FORMAT}); "
            "upgrade this program, or restore an older backup into another home"
        )
    if not (root / _NAME).exists():
        # a home that cannot be written can still be read
        with contextlib.suppress(OSError):
            write_format(root, FORMAT if not any(root.iterdir()) else 1)


def write_format(root: Path, number: int) -> None:
    """Note the format of the home at `root`."""
    (root / _NAME).write_text(f"{number}\n", encoding="ascii")

"""Looking through an index file for damage, for so long and no longer."""

from __future__ import annotations

import time
from pathlib import Path

import apsw

from context_engine.errors import IndexCorruptError
from index.schema import damage_reported, open_for_reading

SECONDS = 10.0
"""Of looking at one file; some gigabytes from a warm disk."""
_STEPS = 10_000
"""Of SQLite's machine between two looks at the clock."""


def look_through(path: Path, seconds: float = SECONDS) -> bool:
    """Return whether all of the index was seen in time; a missing one is whole.

    Raises IndexCorruptError when it is damaged.
    """
    with damage_reported(path):
        connection = open_for_reading(path)
        if connection is None:
            return True
        deadline = time.monotonic() + seconds
        connection.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS)
        try:
            answer = connection.execute("PRAGMA quick_check(1)").fetchall()[0][0]
        except apsw.InterruptError:
            return False
        finally:
            connection.close()
    if answer != "ok":
        raise IndexCorruptError(str(path), " ".join(str(answer).split()))
    return True

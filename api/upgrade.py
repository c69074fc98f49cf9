"""Bringing a home of an older format up to date: a backup first, then one step after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from api.backup import back_up
from context_engine.home import Home
from context_engine.home_format import FORMAT, format_of, write_format
from context_engine.logs import get_logger

Step = Callable[[Home], None]

STEPS: Mapping[int, Step] = {}
"""Format → what makes a home of it one of the next format. Each may be killed and run again."""

log = get_logger(__name__)


def upgrade(home: Home, *, steps: Mapping[int, Step] = STEPS, wanted: int = FORMAT) -> Path | None:
    """Bring `home` to the format `wanted`; returns the backup made before, None without a need.

    The caller holds the home: no engine runs on it. A failed step leaves the format as it was.
    """
    found = format_of(home.root)
    if found >= wanted:
        return None
    backup = back_up(home).archive
    log.info("upgrading the home", before=found, after=wanted, backup=str(backup))
    for number in range(found, wanted):
        steps[number](home)
        write_format(home.root, number + 1)
    return backup

"""When a routine is due next. Pure: times in, times out."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

from cronsim import CronSim

from context_engine.routine_settings import RoutineSettings, seconds_of


def next_due(routine: RoutineSettings, *, last: datetime | None, since: datetime) -> datetime:
    """Return when the routine is due, in UTC; a time in the past was missed and is due now.

    last: when it began last. since: when it was first seen, for one that never ran. However many
    times were missed, the next run makes up for all: what follows is counted from that run.
    """
    if routine.every is not None:
        interval = timedelta(seconds=seconds_of(routine.every))
        due = since if last is None else last + interval
    else:
        due = _next_cron(routine, since if last is None else last)
    return due + _jitter(routine, due)


def _next_cron(routine: RoutineSettings, after: datetime) -> datetime:
    # cron's own way with the clock's changes: a time that is skipped runs once right after, one
    # that comes twice runs once
    local = after.astimezone(zone_of(routine))
    return next(CronSim(routine.cron or "", local)).astimezone(UTC)


def _jitter(routine: RoutineSettings, due: datetime) -> timedelta:
    """Return the delay of one time: fixed, so that a restart does not draw anew."""
    most = seconds_of(routine.jitter)
    seed = hashlib.sha256(f"{routine.name}@{due.timestamp():.0f}".encode()).digest()
    return timedelta(seconds=int.from_bytes(seed[:8], "big") % (most + 1))


def zone_of(routine: RoutineSettings) -> tzinfo:
    """Return the zone that `cron` is meant in."""
    return ZoneInfo(routine.zone) if routine.zone else machine_zone()


def machine_zone() -> tzinfo:
    """Return the machine's time zone with its changes; UTC when it has none."""
    try:
        with Path("/etc/localtime").open("rb") as file:
            return ZoneInfo.from_file(file)
    except (OSError, ValueError):
        return UTC

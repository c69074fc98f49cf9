"""When routines are due: time zones, changes of the clock, missed times, jitter."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from pydantic import ValidationError

from api.routines.schedule import machine_zone, next_due
from context_engine.routine_settings import RoutineSettings


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def cron(line: str, zone: str = "UTC", **more: str) -> RoutineSettings:
    return RoutineSettings.model_validate(
        {"name": "r", "source": "claude", "cron": line, "zone": zone, **more}
    )


def every(interval: str, **more: str) -> RoutineSettings:
    return RoutineSettings.model_validate(
        {"name": "r", "source": "claude", "every": interval, **more}
    )


@pytest.mark.parametrize(
    ("line", "zone", "last", "due"),
    [
        ("0 4 * * *", "Asia/Tokyo", "2026-11-02T00:00:00+09:00", "2026-11-02T04:00:00+09:00"),
        ("0 4 * * 1", "Asia/Tokyo", "2026-11-02T04:00:01+09:00", "2026-11-09T04:00:00+09:00"),
        # 02:30 does not exist on that day: right after the change, once
        ("30 2 * * *", "Europe/Berlin", "2026-03-28T02:30:01+01:00", "2026-03-29T03:00:00+02:00"),
        ("30 2 * * *", "Europe/Berlin", "2026-03-29T03:00:01+02:00", "2026-03-30T02:30:00+02:00"),
        # 02:30 comes twice on that day: once
        ("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00+02:00", "2026-10-25T02:30:00+02:00"),
        ("30 2 * * *", "Europe/Berlin", "2026-10-25T02:30:01+02:00", "2026-10-26T02:30:00+01:00"),
        # what runs each hour runs each hour, whatever the clock shows
        ("0 * * * *", "Europe/Berlin", "2026-10-25T02:00:01+02:00", "2026-10-25T02:00:00+01:00"),
    ],
)
def test_cron_follows_the_zone_and_its_changes(line: str, zone: str, last: str, due: str) -> None:
    found = next_due(cron(line, zone), last=at(last), since=at("2020-01-01T00:00:00+00:00"))
    assert found == at(due)


def test_what_was_missed_is_due_once_and_then_counted_from_that_run() -> None:
    routine, since = cron("0 4 * * *"), at("2026-01-01T00:00:00+00:00")
    now = at("2026-02-01T10:00:00+00:00")
    assert next_due(routine, last=at("2026-01-10T04:00:00+00:00"), since=since) < now
    assert next_due(routine, last=now, since=since) == at("2026-02-02T04:00:00+00:00")


def test_a_new_routine_waits_for_its_time_and_an_interval_begins_at_once() -> None:
    now = at("2026-01-01T05:00:00+00:00")
    assert next_due(cron("0 4 * * *"), last=None, since=now) == at("2026-01-02T04:00:00+00:00")
    assert next_due(every("6h"), last=None, since=now) == now
    assert next_due(every("6h"), last=now, since=now) == now + timedelta(hours=6)


def test_jitter_is_bounded_and_the_same_after_a_restart() -> None:
    now = at("2026-01-01T05:00:00+00:00")
    delays = []
    for day in range(40):
        last = now + timedelta(days=day)
        due = next_due(cron("0 4 * * *", jitter="10m"), last=last, since=now)
        assert due == next_due(cron("0 4 * * *", jitter="10m"), last=last, since=now)
        delays.append((due - due.replace(hour=4, minute=0, second=0)).total_seconds())
    assert 0 <= min(delays) < max(delays) <= 600


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"cron": "0 4 * * *", "every": "1h"},
        {"cron": "61 * * * *"},
        {"cron": "0 0 31 2 *"},
        {"cron": "毎朝"},
        {"every": "0s"},
        {"every": "soon"},
        {"every": "1h", "zone": "Mars/Olympus"},
        {"every": "1h", "zone": "../../etc/passwd"},
        {"every": "1h", "name": "../x"},
        {"every": "1h", "surprise": 1},
    ],
)
def test_a_routine_that_cannot_be_meant_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        RoutineSettings.model_validate({"name": "r", "source": "claude", **wrong})


def test_the_machine_has_a_zone() -> None:
    assert datetime(2026, 1, 1, tzinfo=UTC).astimezone(machine_zone()).utcoffset() is not None

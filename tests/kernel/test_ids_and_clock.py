"""Ids are stable and collide with none; times are UTC and nothing else."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_engine.clock import ManualClock, SystemClock, isoformat, parse_utc
from context_engine.ids import digest, long_id, marker_id, short_id

WORDS = st.lists(st.text(), max_size=4)


def test_ids_are_the_same_in_every_version() -> None:
    # they name files and rows of vaults that exist: a change here would orphan them
    assert short_id("document", "claude", "a") == "e79c65c01c2a"
    assert long_id("event", "x", "1").startswith(short_id("event", "x", "1"))


@given(WORDS, WORDS)
def test_different_parts_have_different_ids(one: list[str], other: list[str]) -> None:
    assert (digest(*one) == digest(*other)) == (one == other)


@given(WORDS)
def test_ids_are_lower_case_hex_of_their_length(parts: list[str]) -> None:
    for make, length in ((short_id, 12), (marker_id, 16), (long_id, 32)):
        assert re.fullmatch(rf"[0-9a-f]{{{length}}}", make(*parts))


def test_half_a_surrogate_pair_has_an_id_too() -> None:
    assert short_id("\ud83d") != short_id("\ud83c")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-02T09:05:11Z", "2026-11-02T09:05:11Z"),
        ("2026-11-02T18:05:11+09:00", "2026-11-02T09:05:11Z"),
        ("2026-11-02T09:05:11.987654", "2026-11-02T09:05:11Z"),
        ("2026-11-02", "2026-11-02T00:00:00Z"),
    ],
)
def test_a_time_is_read_in_any_offset_and_written_in_utc(text: str, expected: str) -> None:
    assert isoformat(parse_utc(text)) == expected


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01", "11/02/2026"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        parse_utc(text)


@given(st.datetimes(datetime(1970, 1, 2), datetime(9999, 12, 30)), st.integers(-14 * 60, 14 * 60))  # noqa: DTZ001  hypothesis wants naive bounds
def test_writing_and_reading_a_time_keeps_the_second(naive: datetime, minutes: int) -> None:
    moment = naive.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    assert parse_utc(isoformat(moment)) == moment.replace(microsecond=0)


def test_the_machines_clock_is_aware_and_its_other_hand_never_goes_back() -> None:
    clock = SystemClock()
    assert clock.now().tzinfo is UTC
    assert clock.monotonic() <= clock.monotonic()


def test_a_manual_clock_moves_both_hands_and_only_by_hand() -> None:
    start = datetime(2026, 11, 2, 9, tzinfo=UTC)
    clock = ManualClock(start)
    assert clock.now() == clock.now() == start
    clock.advance(90)
    assert clock.now() == start + timedelta(seconds=90)
    assert clock.monotonic() == 90

"""The usage log: what was searched, what was read of it, in ids only."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import apsw
import pytest

from api.caller import Caller, Transport
from api.usage import schema
from api.usage.log import FILE, UsageLog
from api.usage.report import UsageReport, usage_report
from context_engine.clock import ManualClock
from context_engine.home import Home
from context_engine.scopes import Scope

NOW = datetime(2026, 12, 1, 9, 0, tzinfo=UTC)
CLAUDE = Caller("claude", Scope.WORK, Transport.STDIO)
PLACES = [f"work/knowledge/learning/secret-title-{n}.md" for n in range(6)]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW)


@pytest.fixture
def usage(home: Home, clock: ManualClock) -> UsageLog:
    return UsageLog(home.state / FILE, clock)


def test_rates_count_searches_and_what_was_read_of_them(
    home: Home, usage: UsageLog, clock: ManualClock
) -> None:
    usage.searched(CLAUDE, PLACES)
    usage.read(CLAUDE, PLACES[:1])
    usage.read(CLAUDE, PLACES[4:5])
    usage.read(CLAUDE, ["work/found/by/no/search.md"])
    usage.searched(CLAUDE, [])

    report = usage_report(home, clock)
    assert (report.searches, report.zero_result_rate) == (2, 0.5)
    assert (report.readings, report.readings_after_search, report.top3_rate) == (3, 2, 0.5)


def test_a_note_with_two_passages_stands_where_the_first_does(
    home: Home, usage: UsageLog, clock: ManualClock
) -> None:
    usage.searched(CLAUDE, [PLACES[0], PLACES[0], PLACES[0], PLACES[1]])
    usage.read(CLAUDE, [PLACES[1]])

    assert usage_report(home, clock).top3_rate == 1.0


@pytest.mark.parametrize(
    "reader",
    [Caller("codex", Scope.WORK, Transport.STDIO), Caller("claude", Scope.PERSONAL, Transport.MCP)],
)
def test_another_client_s_search_is_not_mine(
    home: Home, usage: UsageLog, clock: ManualClock, reader: Caller
) -> None:
    usage.searched(CLAUDE, PLACES)
    usage.read(reader, PLACES)

    assert usage_report(home, clock).readings_after_search == 0


def test_a_reading_hours_later_is_another_task_s(
    home: Home, usage: UsageLog, clock: ManualClock
) -> None:
    usage.searched(CLAUDE, PLACES)
    clock.advance(2 * 3600)
    usage.read(CLAUDE, PLACES)

    assert usage_report(home, clock).readings_after_search == 0


def test_no_text_is_in_the_file(home: Home, usage: UsageLog) -> None:
    usage.searched(CLAUDE, PLACES)
    usage.read(CLAUDE, PLACES)

    stored = b"".join(file.read_bytes() for file in home.state.glob(f"{FILE}*"))
    for word in (b"secret", b"title", b"claude", b".md"):
        assert word not in stored


def test_old_rows_go_and_the_file_stays_bounded(
    home: Home, usage: UsageLog, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.usage.log.MAX_SEARCHES", 50)
    for _ in range(2 * schema.SWEEP_EVERY):
        usage.searched(CLAUDE, PLACES)
    db = apsw.Connection(str(home.state / FILE))
    assert db.execute("SELECT count(*) FROM search").fetchone() == (50,)
    assert db.execute("SELECT count(*) FROM shown").fetchone() == (50 * len(PLACES),)

    clock.advance(91 * schema.DAY)
    for _ in range(schema.SWEEP_EVERY):
        usage.searched(CLAUDE, [])
    assert db.execute("SELECT count(*) FROM shown").fetchone() == (0,)
    db.close()


def test_a_log_that_cannot_be_written_fails_no_request(home: Home, clock: ManualClock) -> None:
    (home.state / FILE).write_bytes(b"no database " * 1000)
    usage = UsageLog(home.state / FILE, clock)
    usage.searched(CLAUDE, PLACES)
    usage.read(CLAUDE, PLACES)

    assert usage_report(home, clock) == UsageReport()


def test_where_nothing_was_used_nothing_is_said(tmp_path: Path) -> None:
    assert usage_report(Home(tmp_path)) == UsageReport()

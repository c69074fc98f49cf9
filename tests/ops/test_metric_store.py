"""Counts and points: what is counted arrives once, charts are bounded, damage begins anew."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from context_engine import metrics
from context_engine.metric_store import HOUR, HOURS_KEPT, MINUTE, MINUTES_KEPT, MetricStore

DAY = 24 * HOUR
START = 1_800_000_000 // HOUR * HOUR


@pytest.fixture(autouse=True)
def _nothing_counted_before() -> None:
    metrics.take()


def test_what_several_threads_count_arrives_in_the_file_once(tmp_path: Path) -> None:
    path = tmp_path / "metrics.sqlite"

    def work() -> None:
        for _ in range(500):
            metrics.count("jobs_total", queue="ingest", outcome="done")

    with metrics.flushing(path, every=0.001):
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    metrics.flush(path)
    with MetricStore(path) as store:
        assert store.totals() == {
            ("jobs_total", (("outcome", "done"), ("queue", "ingest"))): 2000.0
        }


def test_counts_that_cannot_be_written_are_kept_for_later(tmp_path: Path) -> None:
    metrics.count("searches_total", found="none")
    metrics.flush(tmp_path / "missing" / "metrics.sqlite")
    path = tmp_path / "metrics.sqlite"
    metrics.flush(path)
    with MetricStore(path) as store:
        assert store.totals() == {("searches_total", (("found", "none"),)): 1.0}


def test_a_name_nobody_declared_is_a_mistake() -> None:
    with pytest.raises(KeyError):
        metrics.count("jobs")
    with pytest.raises(KeyError):
        metrics.observe("jobs_total", 1.0)


def test_a_day_has_minutes_and_a_month_has_hours(tmp_path: Path) -> None:
    now = START + 2 * HOUR
    with MetricStore(tmp_path / "m") as store:
        for minute in range(120):
            store.record(START + minute * MINUTE + 7, {"jobs": float(minute)})
        minutes = store.points("jobs", now=now, seconds=HOUR)
        hours = store.points("jobs", now=now, seconds=HOURS_KEPT)
        assert store.series() == ["jobs"]
    assert [point.value for point in minutes] == [float(n) for n in range(60, 120)]
    assert [(p.at - START, p.value, p.high, p.last) for p in hours] == [
        (0, 29.5, 59.0, 59.0),
        (HOUR, 89.5, 119.0, 119.0),
    ]


def test_old_points_go_and_so_do_those_of_a_clock_that_was_wrong(tmp_path: Path) -> None:
    with MetricStore(tmp_path / "m") as store:
        store.record(START + 400 * DAY, {"jobs": 9.0})
        for hour in range(32 * 24):
            store.record(START + hour * HOUR, {"jobs": float(hour)})
        now = START + 32 * DAY - HOUR
        minutes = store.points("jobs", now=now, seconds=MINUTES_KEPT)
        hours = store.points("jobs", now=now, seconds=40 * DAY)
    assert len(minutes) == 24
    assert len(hours) == 30 * 24
    assert hours[-1].last == 32 * 24 - 1


def test_a_rate_is_growth_a_second_and_survives_a_new_beginning(tmp_path: Path) -> None:
    with MetricStore(tmp_path / "m") as store:
        for at, total in ((0, 0.0), (1, 60.0), (2, 60.0), (5, 240.0), (6, 30.0)):
            store.record(START + at * MINUTE, {"requests_total": total})
        rates = store.rates("requests_total", now=START + 6 * MINUTE, seconds=HOUR)
    assert [point.value for point in rates] == [1.0, 0.0, 1.0, 0.5]


def test_a_damaged_file_is_put_away_and_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "metrics.sqlite"
    path.write_bytes(b"no database at all " * 500)
    with MetricStore(path) as store:
        store.record(START, {"jobs": 1.0})
        assert store.series() == ["jobs"]
    assert path.with_suffix(".damaged").exists()

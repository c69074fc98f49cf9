"""What was given up is listed and tried again; a place that cannot be written only delays."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from connectors.base import ReadOptions
from connectors.registry import load
from context_engine.home import Home
from context_engine.settings import Settings
from support.engine import run, run_json, write_sessions
from workers import outbox_report
from workers.collector import collect
from workers.jobs import DISK, run_job
from workers.outbox import Outbox
from workers.outbox_model import Job, Outcome


@pytest.fixture
def outbox(home: Home, tmp_path: Path) -> Outbox:
    """Return an outbox with two jobs to do."""
    write_sessions(tmp_path / "sessions", 2, 1)
    outbox = Outbox(home.outbox)
    collect(load("claude"), [tmp_path / "sessions"], outbox, ReadOptions(owner_name="Aki"))
    return outbox


def work_all(outbox: Outbox, error: Exception, *, max_attempts: int = 1) -> None:
    def work(job: Job) -> Outcome:
        raise error

    for waiting in outbox.publishable("ingest", 10):
        run_job(outbox, "w", (waiting.job_id, waiting.key), work, max_attempts=max_attempts)


def test_what_was_given_up_is_listed_and_tried_again(home: Home, outbox: Outbox) -> None:
    work_all(outbox, RuntimeError("kaputt \x1b[31m"))
    listed = run_json(home, "retry")
    assert listed["classes"] == [{"class": "error", "ailment": "other", "jobs": 2}]
    text = run(home, "retry")
    assert "kaputt" in text.stdout
    assert "\x1b" not in text.stdout
    first, second = (job["job"] for job in listed["jobs"])
    assert run_json(home, "retry", str(first)) == {"replayed": 1, "running": False}
    assert run(home, "retry", str(first)).returncode == 1
    assert run_json(home, "retry", "--class", "error")["replayed"] == 1
    assert outbox_report.quarantined(outbox) == []
    assert {job.job_id for job in outbox.publishable("ingest", 10)} == {first, second}


def test_two_ways_at_once_are_wrong_use(home: Home) -> None:
    assert run(home, "retry", "1", "--all").returncode == 2


@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM])
def test_a_vault_that_may_not_be_written_delays_jobs_and_costs_no_attempt(
    home: Home, outbox: Outbox, number: int
) -> None:
    work_all(outbox, OSError(number, "Permission denied"))
    assert outbox_report.quarantined(outbox) == []
    assert outbox_report.waiting_for(outbox, DISK) == (2, f"[Errno {number}] Permission denied")
    done = run(home, "status")
    assert done.returncode == 1
    assert "2 jobs waiting for a place that can be written" in done.stdout


def test_after_its_cause_is_mended_a_retried_job_is_done_by_the_next_ingest(
    home: Home, tmp_path: Path
) -> None:
    write_sessions(tmp_path / "sessions", 1, 1)
    blocked = [scope / "sources" for scope in Settings(home=home.root).paths.vaults.iterdir()]
    for place in blocked:
        place.rmdir() if place.is_dir() else None
        place.write_text("in the way")
    first = run(home, "ingest", "claude", str(tmp_path / "sessions"))
    assert first.returncode == 1
    assert "context-engine retry --all" in first.stdout
    assert "context-engine retry --all" in run(home, "status").stdout
    for place in blocked:
        place.unlink()
    assert run(home, "retry", "--all").returncode == 0
    assert run(home, "ingest", "claude", str(tmp_path / "sessions")).returncode == 0
    assert list(home.vaults.rglob("sources/**/*.md")) != []


def test_what_waited_for_the_vault_is_done_by_the_next_ingest(
    home: Home, outbox: Outbox, tmp_path: Path
) -> None:
    work_all(outbox, PermissionError(errno.EACCES, "Permission denied"))
    outbox.close()
    assert run(home, "ingest", "claude", str(tmp_path / "sessions")).returncode == 0
    assert len(list(home.vaults.rglob("sources/**/*.md"))) == 2

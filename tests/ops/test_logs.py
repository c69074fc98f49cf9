"""Logs: one order of time, by part and by event, followed through rotations, safe on a terminal."""

from __future__ import annotations

import json
import logging
from itertools import islice
from pathlib import Path

import pytest
import structlog

from api.log_reading import follow, last_lines
from context_engine.clock import SystemClock
from context_engine.home import Home
from context_engine.logs import configure
from support.engine import run
from workers.jobs import run_job
from workers.outbox import Outbox
from workers.outbox_model import NewJob


def write(folder: Path, part: str, *lines: dict[str, object]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{part}.jsonl").open("a", encoding="utf-8") as file:
        for line in lines:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def line(second: int, message: str, **fields: object) -> dict[str, object]:
    return {
        "timestamp": f"2026-11-02T09:00:{second:02d}Z",
        "level": "info",
        "event": message,
        **fields,
    }


def test_the_lines_of_all_parts_come_in_order_of_time(home: Home) -> None:
    write(home.logs, "worker", line(1, "one"), line(3, "three"))
    write(home.logs, "indexer", line(2, "two", path="設計.md"))
    done = run(home, "logs")
    assert [text.split()[4] for text in done.stdout.splitlines()] == ["one", "two", "three"]
    assert "path=設計.md" in done.stdout
    only = run(home, "logs", "--part", "indexer", "--json")
    assert json.loads(only.stdout)["part"] == "indexer"


def test_a_part_that_has_no_log_is_wrong_use(home: Home) -> None:
    write(home.logs, "worker", line(1, "one"))
    done = run(home, "logs", "--part", "wroker")
    assert done.returncode == 2
    assert "worker" in done.stderr


def test_an_event_is_found_in_old_files_too(home: Home) -> None:
    write(home.logs, "worker", line(1, "old", event_id="ev1"), line(1, "other", event_id="ev2"))
    (home.logs / "worker.jsonl").rename(home.logs / "worker.jsonl.1")
    write(home.logs, "worker", line(2, "new", job="extract:ev1"))
    found = last_lines(home.logs, None, "ev1", 10)
    assert [item.fields["event"] for item in found] == ["old", "new"]


def test_following_goes_on_through_a_rotation_and_a_new_part(home: Home) -> None:
    write(home.logs, "worker", line(1, "before"))
    steps = iter(range(10))

    def meanwhile(_seconds: float) -> None:
        match next(steps):
            case 0:
                write(home.logs, "worker", line(2, "last of the old"))
                (home.logs / "worker.jsonl").rename(home.logs / "worker.jsonl.1")
                write(home.logs, "worker", line(3, "first of the new"))
            case 1:
                write(home.logs, "api", line(4, "new part"))

    seen = islice(follow(home.logs, None, wait=meanwhile), 3)
    assert [item.fields["event"] for item in seen] == [
        "last of the old",
        "first of the new",
        "new part",
    ]


def test_what_a_terminal_would_obey_is_shown_as_text(home: Home) -> None:
    write(home.logs, "worker", line(1, "bad \x1b[31m name", path="a\u202eb\nforged"))
    with (home.logs / "worker.jsonl").open("ab") as file:
        file.write(b"\xff torn \x1b]0;x\x07\n")
    for arguments in ((), ("--json",)):
        out = run(home, "logs", *arguments).stdout
        assert not {"\x1b", "\u202e", "\x07"} & set(out)
        assert len(out.splitlines()) == 2


def test_a_failed_job_logs_its_event_and_its_job(
    home: Home, caplog: pytest.LogCaptureFixture
) -> None:
    before = logging.getLogger().handlers[:]
    configure("worker", folder=home.logs)
    outbox = Outbox(home.outbox, clock=SystemClock())
    outbox.add([NewJob("ingest", "ingest:ev9", {}, "lane", event_id="ev9")])
    (job,) = outbox.publishable("ingest", 1)

    def work(_job: object) -> None:
        raise ValueError("boom")

    run_job(outbox, "w", (job.job_id, job.key), work, max_attempts=3)  # type: ignore[arg-type]  # it never returns
    for handler in logging.getLogger().handlers:
        handler.close()
    logging.getLogger().handlers = before
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()
    (found,) = last_lines(home.logs, None, "ev9", 10)
    assert found.fields["event"] == "job failed"
    assert found.fields["event_id"] == "ev9"
    assert found.fields["job_id"] == job.job_id

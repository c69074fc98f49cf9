"""Each event has a receipt, found from any of its ends."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from api.audit import AuditEntry, AuditLog
from api.cli.main import cli
from api.cli.receipt_words import came_to, reason_in_words
from api.forgetting import carry_out, plan_event
from api.receipts import receipt
from connectors.base import ReadOptions
from connectors.registry import load
from context_engine.errors import BadInputError, NotFoundError
from context_engine.scopes import Scope
from context_engine.settings import Settings
from support.engine import write_sessions
from support.notes import index_all
from support.vaults import START
from workers.collector import collect
from workers.ingest import ingest_work
from workers.outbox import Outbox


@pytest.fixture
def outbox(settings: Settings, tmp_path: Path) -> Outbox:
    write_sessions(tmp_path / "sessions", 1, 2)
    outbox = Outbox(settings.paths.outbox)
    collect(load("claude"), [tmp_path / "sessions"], outbox, ReadOptions())
    return outbox


def event_of(outbox: Outbox) -> str:
    return str(outbox.connection().execute("SELECT event_id FROM event").fetchall()[0][0])


def ingest(settings: Settings, outbox: Outbox) -> None:
    (waiting,) = outbox.publishable("ingest", 1)
    job = outbox.start(waiting.job_id, waiting.key, "w", max_attempts=3)
    assert job is not None
    outbox.finish(job, ingest_work(settings, outbox)(job, None))
    index_all(settings.paths, None, *Scope)


def test_the_way_of_an_event_is_found_from_each_of_its_ends(
    settings: Settings, outbox: Outbox
) -> None:
    ingest(settings, outbox)
    AuditLog(settings.paths.audit_log).write(
        AuditEntry(START, "mcp", "read_memory", "ok", "codex", "personal", ("personal/x.md",))
    )
    by_event = receipt(settings.paths, event_of(outbox))
    (event,), (file,) = by_event.events, by_event.files
    assert [(job["queue"], job["state"]) for job in event["jobs"]] == [
        ("ingest", "done"),
        ("extract", "pending"),
    ]
    assert event["jobs"][0]["result"]["added"] == 2
    assert file["exists"]
    assert file["indexing"]["state"] == "pending"
    assert [chunk["state"] for chunk in file["chunks"]] == ["waits for its vector"] * 2
    for end in (file["place"], file["chunks"][0]["chunk_id"]):
        found = receipt(settings.paths, end)
        assert (found.events, found.files) == (by_event.events, by_event.files)
    assert receipt(settings.paths, "personal/x.md").requests[0]["client"] == "codex"


def test_a_failure_is_told_with_its_reason(settings: Settings, outbox: Outbox) -> None:
    (waiting,) = outbox.publishable("ingest", 1)
    job = outbox.start(waiting.job_id, waiting.key, "w", max_attempts=1)
    assert job is not None
    outbox.fail(job, "BadInputError", str(BadInputError("x", "broken")), max_attempts=1)
    (event,) = receipt(settings.paths, event_of(outbox)).events
    assert (event["jobs"][0]["state"], event["jobs"][0]["reason"]) == (
        "quarantined",
        "BadInputError: x: broken",
    )
    assert event["text_waits_here"]


def test_a_forgotten_event_says_so_without_a_word_of_it(settings: Settings, outbox: Outbox) -> None:
    event_id = event_of(outbox)
    carry_out(settings, plan_event(settings.paths, outbox, event_id, insights=True))
    (event,) = receipt(settings.paths, event_id).events
    assert (event["forgotten"], event["title"], event["jobs"]) == (True, "", [])


def test_what_nobody_knows_has_no_receipt(settings: Settings) -> None:
    with pytest.raises(NotFoundError):
        receipt(settings.paths, "nothing")


def test_a_person_reads_words_and_a_program_what_is_kept(
    settings: Settings, outbox: Outbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingest(settings, outbox)
    monkeypatch.setenv("CE_HOME", str(settings.paths.root))
    shown = CliRunner().invoke(cli, ["receipt", event_of(outbox)]).stdout
    assert "→ 2 messages added to personal/sources/" in shown
    assert "{" not in shown
    kept = CliRunner().invoke(cli, ["receipt", event_of(outbox), "--json"]).stdout
    assert '"added": 2' in kept


def test_what_a_job_came_to_is_said_in_words() -> None:
    indexed = {"chunks": 4, "summary": "memory.found_by_summary"}
    assert came_to("index", indexed) == "4 chunks, found by its summary"
    distilled = {
        "insights": {"decision": 2},
        "rejected": 0,
        "memory": {"new": 1, "duplicate": 1},
        "outcomes": {"accepted": 2, "unverified_quote": 1},
        "extractor": "cues",
    }
    assert came_to("extract", distilled) == (
        "2 insights (decision 2) by cues, in the memory: new 1 · duplicate 1,"
        " besides: unverified quote 1"
    )
    assert came_to("ingest", {"forgotten": True}) == "forgotten"
    away = "ollama is not available: it does not answer"
    assert reason_in_words(f"ollama: {away}") == away
    assert reason_in_words("refused: no UTF-8") == "refused: no UTF-8"

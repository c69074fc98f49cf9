"""A day without the model costs nothing, and one conversation it dies of blocks no other."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from context_engine.clock import ManualClock
from context_engine.events import Role, SourceDocument, Utterance
from context_engine.home import Home
from context_engine.scopes import Scope
from context_engine.settings import Settings
from support.ollama_faults import Wire, faulty_ollama
from vault.notes import Note, iter_notes
from workers import outbox_report
from workers.extract import OLLAMA, extract_work
from workers.ingest import ingest_work
from workers.jobs import run_job
from workers.outbox import Outbox

TEXTS = [
    "キューはValkeyにする。ライセンスが理由。",
    "Never push on Fridays, nobody is there to mend it.",
    "検索が遅かったのは索引がないからだった。",
]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(datetime(2026, 11, 2, 9, 0, tzinfo=UTC))


@pytest.fixture
def outbox(home: Home, clock: ManualClock) -> Outbox:
    home.create()
    return Outbox(home.outbox, clock=clock)


def settings(home: Home, url: str, mode: str) -> Settings:
    llm: Any = {"mode": mode, "model": "tiny", "deadline_seconds": 5}
    return Settings(home=home.root, ollama_url=url, llm=llm, default_scope=Scope.WORK)


def collect(home: Home, outbox: Outbox, texts: list[str] = TEXTS) -> None:
    documents = [
        SourceDocument(
            "claude",
            f"s{number}",
            Scope.WORK,
            f"session {number}",
            (Utterance(f"s{number}-0", "aki", Role.OWNER, outbox.clock.now(), text),),
        )
        for number, text in enumerate(texts)
    ]
    outbox.commit("claude", documents, [])
    work = ingest_work(settings(home, "http://127.0.0.1:9", "cues"), outbox)
    drain(outbox, "ingest", work)


def drain(outbox: Outbox, queue: str, work: Any) -> int:
    """Do what is published now, each job once; return how many."""
    jobs = outbox.publishable(queue, 100)
    outbox.mark_queued(jobs)
    for job in jobs:
        message = (job.job_id, job.key)
        run_job(outbox, "w", message, lambda job: work(job, None), max_attempts=3)
    return len(jobs)


def states(outbox: Outbox) -> dict[str, int]:
    return outbox_report.counts(outbox)["extract"]


def answers(wire: Wire) -> None:
    """Quote the sentence that the last message ends with, as a healthy model would."""
    said = wire.request["messages"][-1]["content"]
    text = next((text for text in TEXTS if text in said), None)
    insight = {"kind": "decision", "title": "t", "content": text, "quote": text, "stated": True}
    wire.head()
    wire.part(json.dumps({"insights": [insight] if text else []}, ensure_ascii=False))
    wire.done()


def dies_of_fridays(wire: Wire) -> None:
    if "Fridays" in json.dumps(wire.request["messages"]):
        wire.reset()
    else:
        answers(wire)


def insights(home: Home) -> list[Note]:
    found = [note for note in iter_notes(home, Scope.WORK, "knowledge") if isinstance(note, Note)]
    return [note for note in found if note.front["extractor"] == "ollama:tiny"]


@pytest.mark.parametrize("mode", ["ollama", "auto"])
def test_a_day_without_the_model_burns_no_attempt_and_drains_exactly_once(
    home: Home, outbox: Outbox, clock: ManualClock, mode: str
) -> None:
    collect(home, outbox)
    away = extract_work(settings(home, "http://127.0.0.1:9", mode), outbox)
    assert drain(outbox, "extract", away) == 3
    for _ in range(4):
        clock.advance(6 * 3600)
        assert drain(outbox, "extract", away) == 0
        assert outbox.resume(OLLAMA) == 3
        assert drain(outbox, "extract", away) == 3
        assert states(outbox) == {"waiting": 3}
    assert insights(home) == []
    counted = outbox_report.outcomes(outbox)
    assert counted["extract.llm_down"] == 15

    with faulty_ollama(answers) as server:
        back = extract_work(settings(home, server.url, mode), outbox)
        assert outbox.resume(OLLAMA) == 3
        assert drain(outbox, "extract", back) == 3
        assert states(outbox) == {"done": 3}
        asked = len(server.requests)
        assert outbox.resume(OLLAMA) == drain(outbox, "extract", back) == 0
        assert len(server.requests) == asked
    assert len(insights(home)) == 3
    assert outbox_report.quarantined(outbox) == []
    extractors = {note.front["extractor"] for note in iter_notes(home, Scope.WORK, "knowledge")}  # type: ignore[union-attr]  # all are notes: counted above
    assert extractors == {"ollama:tiny"}


def test_a_conversation_that_the_model_dies_of_blocks_no_other(
    home: Home, outbox: Outbox, clock: ManualClock
) -> None:
    collect(home, outbox)
    with faulty_ollama(dies_of_fridays) as server:
        work = extract_work(settings(home, server.url, "ollama"), outbox)
        for _ in range(3):
            drain(outbox, "extract", work)
            assert len(insights(home)) == 2
            clock.advance(3600)
    assert states(outbox) == {"done": 2, "quarantined": 1}
    (given_up,) = outbox_report.quarantined(outbox)
    assert (given_up.error_class, given_up.attempts) == ("server_error", 3)
    assert outbox_report.outcomes(outbox)["extract.server_error"] == 3


def test_a_model_that_hangs_is_counted_by_its_deadline(home: Home, outbox: Outbox) -> None:
    def hangs(wire: Wire) -> None:
        if "Say ok" in json.dumps(wire.request["messages"]):
            answers(wire)
        else:
            wire.wait(20)

    collect(home, outbox, TEXTS[:1])
    with faulty_ollama(hangs) as server:
        given = settings(home, server.url, "ollama")
        quick = given.model_copy(
            update={"llm": given.llm.model_copy(update={"deadline_seconds": 0.5})}
        )
        drain(outbox, "extract", extract_work(quick, outbox))
    assert outbox_report.outcomes(outbox)["extract.deadline"] == 1
    assert states(outbox) == {"pending": 1}

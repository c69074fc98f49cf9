"""The outbox: what is committed is never lost and never done twice."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import apsw
import pytest

from context_engine.clock import ManualClock
from context_engine.errors import DependencyDownError
from context_engine.events import Checkpoint, Role, SourceDocument, Utterance
from context_engine.scopes import Scope
from workers import outbox_report
from workers.outbox import Outbox
from workers.outbox_model import Job, NewJob, Outcome

WORKER = "worker-1"


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(datetime(2026, 11, 2, 9, 0, tzinfo=UTC))


@pytest.fixture
def outbox(tmp_path: Path, clock: ManualClock) -> Outbox:
    return Outbox(tmp_path / "outbox.db", clock=clock)


def document(native_id: str = "s1", texts: Sequence[str] = ("こんにちは",)) -> SourceDocument:
    utterances = tuple(
        Utterance(f"{native_id}-{n}", "aki", Role.OWNER, None, text) for n, text in enumerate(texts)
    )
    return SourceDocument("claude", native_id, Scope.WORK, "title", utterances)


def started(outbox: Outbox, queue: str = "ingest", worker: str = WORKER) -> Job:
    (job, *_) = outbox.publishable(queue, 10)
    outbox.mark_queued([job])
    running = outbox.start(job.job_id, job.key, worker, max_attempts=3)
    assert running is not None
    return running


def test_committing_an_event_again_adds_nothing(outbox: Outbox) -> None:
    assert outbox.commit("claude", [document()], []) == 1
    assert outbox.commit("claude", [document()], []) == 0
    assert len(outbox.publishable("ingest", 10)) == 1


def test_a_payload_comes_back_as_it_was_until_it_is_in_the_vault(outbox: Outbox) -> None:
    original = document(texts=("日本語と English", "\u0000 odd \ufdfa"))
    outbox.commit("claude", [original], [])
    assert outbox.document(original.event_id) == original
    outbox.finish(started(outbox), Outcome(drop_payload=True))
    assert outbox.document(original.event_id) is None


def test_reading_state_and_seen_utterances_survive_reopening(
    outbox: Outbox, tmp_path: Path
) -> None:
    outbox.commit("claude", [document()], [Checkpoint("file.jsonl", {"offset": 120})])
    outbox.close()
    again = Outbox(tmp_path / "outbox.db")
    assert again.checkpoint("claude", "file.jsonl") == {"offset": 120}
    assert again.seen("claude", ["s1-0", "unknown"]) == {"s1-0"}
    assert again.seen("slack", ["s1-0"]) == set()


def test_a_failing_commit_stores_neither_events_nor_reading_state(outbox: Outbox) -> None:
    with pytest.raises(TypeError):
        outbox.commit("claude", [document()], [Checkpoint("file.jsonl", {"offset": {1, 2}})])
    assert outbox.publishable("ingest", 10) == []
    assert outbox.checkpoint("claude", "file.jsonl") is None


def test_a_second_delivery_of_a_running_or_done_job_does_nothing(outbox: Outbox) -> None:
    outbox.commit("claude", [document()], [])
    job = started(outbox)
    assert outbox.start(job.job_id, job.key, "worker-2", max_attempts=3) is None
    outbox.finish(job, Outcome())
    assert outbox.start(job.job_id, job.key, "worker-2", max_attempts=3) is None


def test_a_message_of_an_older_outbox_starts_nothing(outbox: Outbox) -> None:
    outbox.commit("claude", [document()], [])
    (job,) = outbox.publishable("ingest", 10)
    assert outbox.start(job.job_id, "ingest:of-another-life", WORKER, max_attempts=3) is None


def test_three_unfinished_starts_end_in_quarantine_and_the_queue_goes_on(outbox: Outbox) -> None:
    outbox.commit("claude", [document("poison"), document("good")], [])
    for number in range(3):
        started(outbox, worker=f"worker-{number}")
        assert outbox.release(f"worker-{number}", max_attempts=3) == 1
    (given_up,) = outbox_report.quarantined(outbox)
    assert given_up.error_class == "crash"
    assert [job.key for job in outbox.publishable("ingest", 10)] == [
        f"ingest:{document('good').event_id}"
    ]
    assert outbox.replay([given_up.job_id]) == 1
    assert len(outbox.publishable("ingest", 10)) == 2


def test_waiting_for_a_dependency_for_days_burns_no_attempt(
    outbox: Outbox, clock: ManualClock
) -> None:
    outbox.commit("claude", [document()], [])
    for _ in range(50):
        job = started(outbox)
        outbox.wait_for(job, DependencyDownError("Ollama", "connection refused"))
        clock.advance(1800)
        assert outbox.publishable("ingest", 10) == []
        assert outbox.resume("Ollama") == 1
    assert started(outbox).attempts == 0


def test_a_failed_attempt_waits_a_little_before_the_next(
    outbox: Outbox, clock: ManualClock
) -> None:
    outbox.commit("claude", [document()], [])
    assert not outbox.fail(started(outbox), "error", "boom", max_attempts=3)
    assert outbox.publishable("ingest", 10) == []
    clock.advance(2)
    assert outbox.publishable("ingest", 10)[0].attempts == 1


def test_jobs_of_one_lane_are_published_one_after_the_other(outbox: Outbox) -> None:
    outbox.commit("claude", [document("s1", ("one",)), document("s1", ("two",))], [])
    outbox.commit("claude", [document("s2")], [])
    keys = [job.key for job in outbox.publishable("ingest", 10)]
    assert keys == [
        f"ingest:{document('s1', ('one',)).event_id}",
        f"ingest:{document('s2').event_id}",
    ]
    outbox.finish(started(outbox), Outcome())
    assert f"ingest:{document('s1', ('two',)).event_id}" in [
        job.key for job in outbox.publishable("ingest", 10)
    ]


def test_a_repeatable_job_asked_for_while_it_runs_runs_once_more(outbox: Outbox) -> None:
    again = NewJob("index", "index:work:a.md", {"path": "a.md"}, "lane", repeatable=True)
    outbox.add([again])
    job = started(outbox, "index")
    outbox.add([again, again])
    outbox.finish(job, Outcome())
    outbox.finish(started(outbox, "index"), Outcome())
    assert outbox.publishable("index", 10) == []
    assert outbox_report.counts(outbox)["index"] == {"done": 1}


def test_what_redis_forgot_is_published_again(outbox: Outbox) -> None:
    outbox.commit("claude", [document()], [])
    outbox.mark_queued(outbox.publishable("ingest", 10))
    assert outbox.publishable("ingest", 10) == []
    assert outbox.republish() == 1
    assert len(outbox.publishable("ingest", 10)) == 1


def test_finishing_adds_follow_ups_paths_and_counters_in_one_step(outbox: Outbox) -> None:
    outbox.commit("claude", [document()], [], run_id="run")
    follow_up = NewJob("index", "index:work:a.md", {"path": "a.md"}, "lane", repeatable=True)
    outbox.finish(
        started(outbox),
        Outcome(follow_ups=(follow_up,), paths=(("work", "a.md"),), outcomes={"accepted": 2}),
    )
    assert outbox_report.run_paths(outbox, "run") == {("work", "a.md")}
    assert outbox_report.run_progress(outbox, "run") == (1, 2)
    assert outbox_report.outcomes(outbox) == {"accepted": 2}
    outbox.finish(started(outbox, "index"), Outcome(result={"chunks": 7}))
    assert outbox_report.run_progress(outbox, "run") == (0, 2)
    assert outbox_report.run_chunks(outbox, "run") == 7


def test_the_age_of_the_oldest_unfinished_job_is_known(outbox: Outbox, clock: ManualClock) -> None:
    assert outbox_report.oldest_pending(outbox) is None
    outbox.commit("claude", [document()], [])
    clock.advance(90)
    assert outbox_report.oldest_pending(outbox) == 90


def test_being_told_to_stop_again_and_again_never_quarantines(outbox: Outbox) -> None:
    outbox.commit("claude", [document()], [])
    for number in range(10):
        started(outbox, worker=f"worker-{number}")
        assert outbox.give_back(f"worker-{number}") == 1
    assert outbox_report.quarantined(outbox) == []
    assert started(outbox).attempts == 0


def test_no_question_of_the_relay_reads_the_jobs_that_are_done(outbox: Outbox) -> None:
    connection = outbox.connection()
    asked: list[str] = []
    connection.trace_v2(apsw.SQLITE_TRACE_STMT, lambda event: asked.append(event["sql"]))
    outbox.publishable("ingest", 10)
    outbox.in_flight("ingest")
    outbox.running_workers()
    outbox.has_waiting("ollama")
    outbox.republish()
    outbox.republish("ingest", older_than=60)
    outbox.release(WORKER, max_attempts=3)
    connection.trace_v2(0)
    questions = [str(sql) for sql in asked if " job" in str(sql)]
    assert len(questions) == 7
    for sql in questions:
        plan = connection.execute("EXPLAIN QUERY PLAN " + sql, [0] * sql.count("?")).fetchall()
        assert not [row for row in plan if str(row[3]).startswith("SCAN")], sql

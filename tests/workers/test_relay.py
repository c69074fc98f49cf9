"""Outbox → Redis → worker, over a real Valkey: everything arrives, whatever is lost on the way."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import dramatiq
import pytest
from dramatiq.brokers.redis import RedisBroker

from context_engine.errors import BadInputError, ConfigError, DependencyDownError
from context_engine.events import Role, SourceDocument, Utterance
from context_engine.home import Home
from context_engine.scopes import Scope
from context_engine.settings import Settings
from workers import outbox_report
from workers.actors import declare
from workers.broker import (
    INGEST,
    check_broker,
    make_broker,
    make_client,
    namespace,
    queue_depths,
)
from workers.outbox import Outbox
from workers.outbox_model import Job, Outcome
from workers.relay import Relay


def documents(count: int, *, prefix: str = "doc") -> list[SourceDocument]:
    return [
        SourceDocument(
            "claude",
            f"{prefix}{n}",
            Scope.WORK,
            "title",
            (Utterance(f"{prefix}{n}-0", "aki", Role.OWNER, None, f"発言 {n}"),),
        )
        for n in range(count)
    ]


class Recorder:
    """A work that remembers what it was given, and misbehaves where a test wants it to."""

    def __init__(self) -> None:
        self.done: Counter[str] = Counter()
        self.misbehave: dict[str, Callable[[], None]] = {}
        self.events: list[str | None] = []
        self._lock = threading.Lock()

    def __call__(self, job: Job, event: str | None) -> Outcome:
        if job.key in self.misbehave:
            self.misbehave[job.key]()
        with self._lock:
            self.done[job.key] += 1
            self.events.append(event)
        return Outcome(drop_payload=True)


@pytest.fixture
def broker(embedded_broker: Home, settings: Settings) -> Iterator[RedisBroker]:
    broker = make_broker(settings)
    yield broker
    broker.client.close()


@pytest.fixture
def outbox(home: Home) -> Outbox:
    return Outbox(home.outbox)


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def running(
    settings: Settings, outbox: Outbox, broker: RedisBroker, recorder: Recorder
) -> Iterator[Relay]:
    declare(broker, outbox, "tester", {INGEST: recorder}, max_attempts=3)
    worker = dramatiq.Worker(broker, worker_threads=2, worker_timeout=50)
    worker.start()
    relay = Relay(settings, outbox, broker)
    relay.start()
    yield relay
    relay.stop()
    worker.stop(timeout=5000)


def wait_until(condition: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


def all_settled(outbox: Outbox) -> bool:
    states = outbox_report.counts(outbox).get("ingest", {})
    return sum(states.get(state, 0) for state in ("pending", "queued", "running")) == 0


def test_each_event_travels_once_and_whole(
    running: Relay, outbox: Outbox, recorder: Recorder
) -> None:
    batch = documents(150)
    outbox.commit("claude", batch, [])
    wait_until(lambda: all_settled(outbox))
    assert recorder.done == Counter(f"ingest:{d.event_id}" for d in batch)
    assert all(event is not None and "発言" in event for event in recorder.events)


def test_wiping_redis_in_the_middle_loses_nothing(
    running: Relay, outbox: Outbox, recorder: Recorder, broker: RedisBroker
) -> None:
    batch = documents(400)
    outbox.commit("claude", batch, [])
    wait_until(lambda: len(recorder.done) > 20)
    broker.client.flushall()
    wait_until(lambda: all_settled(outbox))
    assert recorder.done == Counter(f"ingest:{d.event_id}" for d in batch)


def test_messages_delivered_twice_are_worked_once(
    running: Relay, outbox: Outbox, recorder: Recorder
) -> None:
    batch = documents(50)
    outbox.commit("claude", batch, [])
    for _ in range(20):
        outbox.republish()
        time.sleep(0.01)
    wait_until(lambda: all_settled(outbox))
    assert set(recorder.done.values()) == {1}
    assert len(recorder.done) == 50


def test_bad_input_is_quarantined_at_once_and_the_rest_goes_on(
    running: Relay, outbox: Outbox, recorder: Recorder
) -> None:
    bad, good = documents(2)

    def refuse() -> None:
        raise BadInputError("session.jsonl:3", "no text")

    recorder.misbehave[f"ingest:{bad.event_id}"] = refuse
    outbox.commit("claude", [bad, good], [])
    wait_until(lambda: all_settled(outbox))
    (given_up,) = outbox_report.quarantined(outbox)
    assert (given_up.error_class, given_up.attempts) == ("bad_input", 1)
    assert "session.jsonl:3: no text" in given_up.error
    assert list(recorder.done) == [f"ingest:{good.event_id}"]


def test_a_job_that_waits_resumes_when_its_dependency_is_back(
    settings: Settings, outbox: Outbox, broker: RedisBroker, recorder: Recorder
) -> None:
    (event,) = documents(1)
    away = threading.Event()
    away.set()

    def need() -> None:
        if away.is_set():
            raise DependencyDownError("disk", "full")

    recorder.misbehave[f"ingest:{event.event_id}"] = need
    declare(broker, outbox, "tester", {INGEST: recorder}, max_attempts=3)
    worker = dramatiq.Worker(broker, worker_threads=1, worker_timeout=50)
    worker.start()
    relay = Relay(settings, outbox, broker, probes={"disk": lambda: not away.is_set()})
    relay.start()
    try:
        outbox.commit("claude", [event], [])
        wait_until(lambda: outbox_report.counts(outbox)["ingest"].get("waiting") == 1)
        away.clear()
        relay.probe_soon()
        wait_until(lambda: outbox_report.counts(outbox)["ingest"].get("done") == 1)
    finally:
        relay.stop()
        worker.stop(timeout=5000)
    assert list(recorder.done.values()) == [1]


def test_a_redis_that_may_evict_is_refused(embedded_broker: Home, settings: Settings) -> None:
    client = make_client(settings)
    check_broker(client)
    client.config_set("maxmemory-policy", "allkeys-lru")
    with pytest.raises(ConfigError, match="noeviction"):
        check_broker(client)
    client.close()


def test_a_redis_that_is_away_is_a_dependency_that_is_down(settings: Settings) -> None:
    with pytest.raises(DependencyDownError, match="Redis"):
        check_broker(make_client(settings))


def test_the_embedded_broker_keeps_every_write(embedded_broker: Home, settings: Settings) -> None:
    client = make_client(settings)
    wanted = {"appendonly": "yes", "appendfsync": "always", "maxmemory-policy": "noeviction"}
    assert {key: client.config_get(key)[key] for key in wanted} == wanted
    depths = queue_depths(client, namespace(settings))
    assert depths == {"ingest": 0, "extract": 0, "index": 0}
    client.close()


def test_a_home_with_a_long_path_still_gets_a_socket(tmp_path: Path) -> None:
    from workers.broker import socket_path

    long = Home(tmp_path / ("日本語の長いフォルダ名" * 6))
    assert len(str(socket_path(long)).encode()) < 104


def test_a_wrong_redis_address_is_a_clear_error(home: Home) -> None:
    with pytest.raises(ConfigError, match="CE_REDIS_URL"):
        make_client(Settings(home=home.root, redis_url="localhost:6379"))

"""/metrics: Prometheus reads it, counts are true, and nobody reads them from outside."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from api.prometheus import render
from api.sampling import Sampler, quantile
from context_engine import metrics
from context_engine.clock import SystemClock
from context_engine.home import Home
from context_engine.metric_store import MetricStore
from context_engine.metrics import FAMILIES, bucket_of
from context_engine.scopes import Scope
from context_engine.settings import Settings
from support.api import RunningApi, serving

KEY = "k" * 40
EVERYWHERE = "0.0.0.0"  # noqa: S104 - what must be safe


@pytest.fixture
def api(home: Home) -> Iterator[RunningApi]:
    with serving(home) as running:
        yield running


def samples(text: str) -> dict[str, list[Sample]]:
    found: dict[str, list[Sample]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name.removeprefix("context_engine_"), []).append(sample)
    return found


def test_requests_are_counted_by_client_operation_and_outcome(api: RunningApi) -> None:
    for _ in range(3):
        api.call(Scope.WORK, "search_knowledge", {"query": "無い語"})
    api.call(Scope.PERSONAL, "search_knowledge", {"wrong": 1})
    api.http.post("/v1/search_knowledge", json={})
    api.http.get("/made/up/by/a/stranger")
    reply = api.http.get("/metrics")
    assert reply.headers["content-type"].startswith("text/plain; version=0.0.4")
    found = samples(reply.text)
    counted = {
        (s.labels["client"], s.labels["operation"], s.labels["outcome"]): s.value
        for s in found["requests_total"]
    }
    assert counted["client-work", "search_knowledge", "ok"] == 3
    assert counted["client-personal", "search_knowledge", "invalid_arguments"] == 1
    assert counted["unknown", "other", "unauthorized"] == 2
    assert {s.labels["found"]: s.value for s in found["searches_total"]} == {"none": 3.0}
    buckets = [
        s.value
        for s in found["request_seconds_bucket"]
        if s.labels["operation"] == "search_knowledge"
    ]
    assert buckets == sorted(buckets)
    assert buckets[-1] == 4
    assert found["disk_free_bytes"][0].value > 0
    assert not any("queue_depth" in name for name in found), "no broker runs here"


def test_the_audit_log_is_not_filled_by_scrapes(api: RunningApi) -> None:
    api.call(Scope.WORK, "list_projects")
    api.http.get("/metrics")
    assert len(api.audit()) == 1


@pytest.mark.parametrize(
    "settings",
    [{"CE_API__HOST": EVERYWHERE}, {"CE_API__ALLOWED_HOSTS": '["memory.example"]'}],
)
def test_beyond_the_loopback_nobody_reads_counts(home: Home, settings: dict[str, str]) -> None:
    with serving(home, **settings) as running:
        base = running.base.replace(EVERYWHERE, "127.0.0.1")
        assert running.http.get(f"{base}/metrics").status_code == 401
        reply = running.http.get(f"{base}/metrics", headers=running.headers(Scope.WORK))
        assert reply.status_code == 404


def test_with_a_key_its_holder_alone_reads_counts(home: Home) -> None:
    with serving(home, CE_API__METRICS_KEY=KEY, CE_API__HOST="127.0.0.1") as running:
        assert running.http.get("/metrics").status_code == 401
        wrong = {"authorization": f"Bearer {KEY[:-1]}x"}
        assert running.http.get("/metrics", headers=wrong).status_code == 401
        right = {"authorization": f"Bearer {KEY}"}
        assert running.http.get("/metrics", headers=right).status_code == 200
        assert running.http.post("/v1/list_projects", json={}, headers=right).status_code == 401


def test_labels_of_any_text_stay_one_line() -> None:
    name = 'a"b\\c\nd 日本語'
    text = render(FAMILIES, {("searches_total", (("found", name),)): 1.0}, [])
    assert samples(text)["searches_total"][0].labels == {"found": name}


def test_a_sample_holds_jobs_index_and_latencies(settings: Settings) -> None:
    metrics.take()
    sampler = Sampler(settings)
    sampler.sample()
    for seconds in (0.03, 0.03, 0.03, 2.0):
        metrics.observe("job_seconds", seconds, queue="ingest")
    metrics.flush(settings.paths.metrics)
    sampler.sample()
    now = SystemClock().now().timestamp()
    with MetricStore(settings.paths.metrics) as store:
        last = {name: store.points(name, now=now, seconds=3600)[-1].last for name in store.series()}
    assert last["job_seconds_sum"] == pytest.approx(2.09)
    assert 0.025 < last["job_seconds.p50"] <= 0.05
    assert 1.0 < last["job_seconds.p95"] <= 2.5
    assert last["index_notes.work"] == 0
    assert last["events_total"] == 0
    assert json.dumps(sorted(last))


def test_a_quantile_above_the_last_bound_is_the_last_bound() -> None:
    assert quantile({bucket_of(5000.0): 3.0}, 0.5) == 600.0

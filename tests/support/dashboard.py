"""A home as a person might find it in the morning, and a real browser that looks at it."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from api.dashboard.links import create_link
from context_engine.clock import SystemClock
from context_engine.errors import LLMOutputError
from context_engine.events import Role, SourceDocument, Utterance
from context_engine.home import Home
from context_engine.metric_store import MetricStore
from context_engine.scopes import Scope
from support.api import RunningApi
from workers.jobs import run_job
from workers.outbox import Outbox
from workers.outbox_model import Job, NewJob, Outcome

_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
_DRIVERS = ("chromedriver", "chromium.chromedriver")
_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *(
        "--disable-dev-shm-usage",
        "--force-prefers-reduced-motion",
        "--force-device-scale-factor=1",
        "--hide-scrollbars",
    ),
)
HOSTILE = '<img src=x onerror="window.stolen=1"><script>window.stolen=1</script>'


def find_browser() -> tuple[str, str]:
    """Return browser and driver; skip where there are none, fail in CI."""
    browser = next(filter(None, map(shutil.which, _BROWSERS)), None)
    driver = next(filter(None, map(shutil.which, _DRIVERS)), None)
    if browser is None or driver is None:
        message = "no Chromium here: apt-get install chromium chromium-driver"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return browser, driver


@contextlib.contextmanager
def browsing(language: str = "en", *, width: int = 1280) -> Iterator[webdriver.Chrome]:
    """Have a headless Chromium with a profile of its own inside the block."""
    browser, driver = find_browser()
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    options.add_experimental_option("prefs", {"intl.accept_languages": language})
    with tempfile.TemporaryDirectory() as profile:
        for flag in (*_FLAGS, f"--user-data-dir={profile}", f"--window-size={width},900"):
            options.add_argument(flag)
        chrome = webdriver.Chrome(options, Service(driver, log_output=subprocess.DEVNULL))
        try:
            yield chrome
        finally:
            chrome.quit()
            # its helpers write into the profile for a moment longer
            shutil.rmtree(Path(profile) / "Default", ignore_errors=True)


def log_in(chrome: webdriver.Chrome, api: RunningApi) -> None:
    """Come in by a one-time link, as the command does."""
    chrome.get(f"{api.base}/login?link={create_link(api.home, SystemClock())}")


def document(number: int, title: str, *, source: str = "claude") -> SourceDocument:
    """Return a conversation that was collected."""
    now = SystemClock().now()
    said = Utterance(f"d{number}", "aki", Role.OWNER, now, f"{title} について話した。")
    return SourceDocument(
        source=source,
        native_id=f"dashboard-{number}",
        scope=Scope.WORK,
        title=title,
        started=now,
        utterances=(said,),
    )


def fill_outbox(home: Home) -> Outbox:
    """Collect conversations; most are done, some failed in each way there is."""
    outbox = Outbox(home.outbox)
    documents = [document(n, f"週次レビュー {n}") for n in range(12)]
    documents += [document(20, HOSTILE), document(21, "Deploy notes", source="slack")]
    outbox.commit("claude", documents, [], run_id="morning")
    for job in outbox.publishable("ingest", 12):
        _done(outbox, job)
    for error_class, title in (
        ("timeout", "長い会議の議事録"),
        ("bad_json", "Incident review"),
        ("bad_json", "顧客との打ち合わせ"),
        ("context_overflow", "An essay of 90 pages"),
        ("crash", "Broken export"),
        ("bad_input", HOSTILE),
    ):
        give_up(outbox, error_class, title)
    return outbox


def give_up(outbox: Outbox, error_class: str, title: str) -> int:
    """Put a job of an event called `title` into quarantine; return its number."""
    event = document(1000 + len(title), f"{title} ({error_class})")
    outbox.commit("claude", [event], [])
    job = next(j for j in outbox.publishable("ingest", 100) if j.event_id == event.event_id)
    _done(
        outbox,
        job,
        NewJob("extract", f"extract:{event.event_id}", {}, event.event_id, event.event_id),
    )
    extract = next(j for j in outbox.publishable("extract", 100) if j.event_id == event.event_id)
    started = outbox.start(extract.job_id, extract.key, "worker-1", max_attempts=3)
    assert started is not None
    outbox.fail(started, error_class, f"LLMOutputError: {title}: no use", max_attempts=1)
    return extract.job_id


def fail_once(outbox: Outbox) -> None:
    """Let the next ingest job fail, to be tried again later."""
    job = outbox.publishable("ingest", 1)[0]

    def work(_: Job) -> Outcome:
        raise LLMOutputError("bad_json", "no use")

    run_job(outbox, "worker-1", (job.job_id, job.key), work, max_attempts=3)


def _done(outbox: Outbox, job: Job, *follow_ups: NewJob) -> None:
    started = outbox.start(job.job_id, job.key, "worker-1", max_attempts=3)
    assert started is not None
    outbox.finish(
        started,
        Outcome(
            result={"chunks": 2},
            follow_ups=follow_ups,
            paths=(("work", "runbook.md"),),
        ),
    )


def fill_metrics(home: Home, *, minutes: int = 180) -> None:
    """Store points of the last hours: a morning's work, with a peak."""
    now = SystemClock().now().timestamp()
    with MetricStore(home.metrics) as store:
        jobs = requests = 0.0
        for minute in range(minutes, 0, -1):
            wave = abs((minute % 60) - 30) / 30
            jobs += 4 + 26 * wave**2
            requests += 2 + 3 * (1 - wave)
            store.record(
                now - minute * 60,
                {
                    "jobs_total": jobs,
                    "requests_total": requests,
                    "job_seconds.p50": 0.4 + wave,
                    "job_seconds.p95": 2.0 + 4 * wave,
                    "request_seconds.p50": 0.02 + 0.01 * wave,
                    "request_seconds.p95": 0.08 + 0.05 * wave,
                    "oldest_job_seconds.extract": 40 * wave,
                    "oldest_job_seconds.index": 3 * wave,
                },
            )
        store.add(
            {
                ("llm_tokens_total", (("direction", "written"),)): 52_000,
                ("llm_seconds_sum", ()): 1_810,
            }
        )

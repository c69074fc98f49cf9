"""A morning's home, a server on it, and one browser for all that look at it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from selenium import webdriver

from context_engine.home import Home
from support.api import RunningApi, serving
from support.dashboard import browsing, fill_metrics, fill_outbox, log_in
from support.library import index_home, write_notes

ROUTINE = """\
[[routine]]
name = "nightly-backup"
source = "backup"
cron = "0 4 * * *"

[[routine]]
name = "weekly-summary"
source = "review-summary"
every = "7d"
"""


@pytest.fixture(scope="session")
def morning(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A home with notes, work that was done and work that was given up, and figures."""
    home = Home(tmp_path_factory.mktemp("morning") / "home")
    home.create()
    write_notes(home)
    index_home(home, None)
    fill_outbox(home).close()
    fill_metrics(home)
    home.config_file.write_text(ROUTINE, encoding="utf-8")
    return home


@pytest.fixture(scope="session")
def board(morning: Home) -> Iterator[RunningApi]:
    """The API on that home, without a local model."""
    with serving(morning, CE_LLM__MODE="cues") as api:
        yield api


@pytest.fixture(scope="session")
def chrome(board: RunningApi) -> Iterator[webdriver.Chrome]:
    """A Chromium with an open session, in English."""
    with browsing() as browser:
        log_in(browser, board)
        yield browser

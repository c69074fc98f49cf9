"""Fixtures of all rooms: a home of its own for each test, a real broker where one is needed."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from context_engine.home import Home
from context_engine.settings import Settings


@pytest.fixture(autouse=True)
def _no_foreign_settings(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """A developer's own CE_… variables and home must not reach a test."""
    for name in [name for name in os.environ if name.startswith("CE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("CE_HOME", str(tmp_path / "home"))
    # the embedding model is converted once for all tests, not once for each
    models = pytestconfig.cache.mkdir("models")
    monkeypatch.setenv("CE_EMBEDDING__MODELS_DIR", str(models))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.create()
    return home


@pytest.fixture
def settings(home: Home) -> Settings:
    return Settings(home=home.root)


@pytest.fixture
def embedded_broker(home: Home) -> Iterator[Home]:
    """A real Valkey on the home's socket, stopped at the end."""
    from workers import embedded_broker as embedded

    process = subprocess.Popen(embedded.prepare(home), stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 20
    while not embedded.is_ready(home):
        assert process.poll() is None, "the broker ended while starting"
        assert time.monotonic() < deadline, "the broker did not come up"
        time.sleep(0.02)
    yield home
    process.terminate()
    process.wait(timeout=10)

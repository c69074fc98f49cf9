"""An indexed home, the real embedder, a running server, clients."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from support.library import copy_home, index_home, write_notes

from api import tokens
from context_engine.home import Home
from context_engine.scopes import Scope
from context_engine.settings import EmbeddingSettings
from index.embedding.base import Embedder
from index.embedding.factory import make_embedder

START_SECONDS = 30.0


@dataclass(frozen=True)
class RunningApi:
    """A server of its own process, and a token for each scope."""

    home: Home
    base: str
    process: subprocess.Popen[bytes]
    tokens: Mapping[Scope, str]

    def headers(self, scope: Scope) -> dict[str, str]:
        """Return what a client of `scope` sends."""
        return {"authorization": f"Bearer {self.tokens[scope]}"}

    def call(
        self, scope: Scope, operation: str, arguments: Mapping[str, Any] | None = None
    ) -> httpx.Response:
        """Call an operation over REST."""
        return httpx.post(
            f"{self.base}/v1/{operation}",
            json=dict(arguments or {}),
            headers=self.headers(scope),
            timeout=30,
        )

    def audit(self) -> list[dict[str, Any]]:
        """Return the audit log's lines."""
        text = self.home.audit_log.read_text(encoding="ascii")
        return [json.loads(line) for line in text.splitlines()]


@pytest.fixture(scope="session")
def bare_home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A home without notes, where the model is converted once a session."""
    home = Home(tmp_path_factory.mktemp("indexed") / "home")
    home.create()
    return home


@pytest.fixture(scope="session")
def embedder(bare_home: Home) -> Embedder:
    """The model that the product carries."""
    return make_embedder(EmbeddingSettings(), bare_home.models, "http://127.0.0.1:9")


@pytest.fixture(scope="session")
def indexed_home(bare_home: Home, embedder: Embedder) -> Home:
    """Notes in every scope, indexed. Tests that write take a copy."""
    home = bare_home
    write_notes(home)
    index_home(home, embedder)
    return home


@pytest.fixture
def library(indexed_home: Home, tmp_path: Path) -> Home:
    """A copy of the indexed home that a test may change."""
    return copy_home(indexed_home, tmp_path / "library")


@pytest.fixture(scope="session")
def api(indexed_home: Home, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApi]:
    """A server on a copy of the indexed home, for tests that need no settings of their own."""
    with serving(copy_home(indexed_home, tmp_path_factory.mktemp("api") / "home")) as running:
        yield running


@contextlib.contextmanager
def serving(home: Home, **settings: str) -> Iterator[RunningApi]:
    """Run the API on `home` as `up` does; `settings` are CE_… variables."""
    issued = {scope: tokens.create(home, f"client-{scope.value}", scope).text for scope in Scope}
    environment = {k: v for k, v in os.environ.items() if not k.startswith("CE_")}
    environment |= {"CE_HOME": str(home.root), "CE_API__PORT": "0", **settings}
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "api.http"], cwd=home.root, env=environment
    )
    try:
        address = _address(home, process)
        base = f"http://{address['host']}:{address['port']}"
        yield RunningApi(home, base, process, issued)
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=15) == 0


def _address(home: Home, process: subprocess.Popen[bytes]) -> dict[str, Any]:
    deadline = time.monotonic() + START_SECONDS
    place = home.state / "api.json"
    while not place.exists():
        assert process.poll() is None, "the API ended while starting"
        assert time.monotonic() < deadline, "the API did not come up"
        time.sleep(0.01)
    found: dict[str, Any] = json.loads(place.read_text(encoding="utf-8"))
    return found

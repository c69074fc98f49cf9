"""The API in a process of its own, as `up` runs it, and clients that hold a token each."""

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
from typing import Any

import httpx

from api import tokens
from context_engine.home import Home
from context_engine.scopes import Scope

START_SECONDS = 30.0


@dataclass(frozen=True)
class RunningApi:
    """A server of its own process, and a token for each scope."""

    home: Home
    base: str
    http: httpx.Client
    """Without a token."""
    tokens: Mapping[Scope, str]

    def headers(self, scope: Scope) -> dict[str, str]:
        """Return what a client of `scope` sends."""
        return {"authorization": f"Bearer {self.tokens[scope]}"}

    def call(
        self, scope: Scope, operation: str, arguments: Mapping[str, Any] | None = None
    ) -> httpx.Response:
        """Call an operation over REST."""
        return self.http.post(
            f"/v1/{operation}", json=dict(arguments or {}), headers=self.headers(scope)
        )

    def audit(self) -> list[dict[str, Any]]:
        """Return the audit log's lines."""
        text = self.home.audit_log.read_text(encoding="ascii")
        return [json.loads(line) for line in text.splitlines()]


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
        with httpx.Client(base_url=base, timeout=30) as client:
            yield RunningApi(home, base, client, issued)
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

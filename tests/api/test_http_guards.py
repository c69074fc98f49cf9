"""Who is let in: tokens, hosts, origins, rates, bodies. Against a real server."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from pathlib import Path
from typing import Any

import pytest
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from api import tokens
from api.caller import Caller, Transport
from api.exchange import Exchange
from api.http import create_app
from api.http.app import ACCESS
from api.http.guards import MAX_BODY_BYTES, Access, BodyGuard
from api.http.reply import put_exchange
from context_engine.home import Home
from context_engine.scopes import Scope as VaultScope
from context_engine.settings import Settings
from support.api import RunningApi, serving
from support.library import copy_home

UNAUTHORIZED = {
    "error": {
        "code": "unauthorized",
        "message": "A valid token is needed: send 'Authorization: Bearer ce_…'.",
    }
}


def test_every_route_has_a_rule_and_every_rule_a_route(settings: Settings) -> None:
    routes = {route.path for route in create_app(settings).routes if isinstance(route, Route)}

    assert routes == set(ACCESS)
    assert len(create_app(settings).routes) == len(routes)
    assert [path for path, rule in ACCESS.items() if rule is Access.OPEN] == ["/healthz"]


@pytest.mark.parametrize("path", [*ACCESS, "/v1", "/v1/nothing", "/mcp/", "/docs", "/.env"])
def test_without_a_valid_token_every_path_but_health_answers_the_same(
    api: RunningApi, path: str
) -> None:
    good = api.tokens[VaultScope.WORK]
    bad: list[dict[str, str]] = [
        {},
        {"authorization": ""},
        {"authorization": "Bearer"},
        {"authorization": "Bearer ce_wrong"},
        {"authorization": good},
        {"authorization": f"Basic {good}"},
        {"authorization": f"Bearer {good}x"},
        {"authorization": f"Bearer {good[:-1]}"},
        {"authorization": "Bearer " + "x" * 5000},
        {"x-api-key": good},
        {"cookie": f"token={good}"},
    ]
    for headers, method in itertools.product(bad, ("GET", "POST", "DELETE")):
        reply = api.http.request(method, path, headers=headers)
        if path in ("/healthz", "/metrics"):
            assert reply.status_code == (200 if method == "GET" else 405)
            assert good not in reply.text
            continue
        assert (reply.status_code, reply.json()) == (401, UNAUTHORIZED)
        assert reply.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("scope", VaultScope)
@pytest.mark.parametrize("path", [path for path, rule in ACCESS.items() if rule is Access.TOKEN])
def test_every_token_reaches_every_route(api: RunningApi, path: str, scope: VaultScope) -> None:
    method = "GET" if path == "/openapi.json" else "POST"
    reply = api.http.request(
        method, path, headers=api.headers(scope), json={} if method == "POST" else None
    )

    assert reply.status_code not in (401, 403, 404, 405)
    assert reply.status_code < 500


@pytest.mark.parametrize("path", ["/v1/nothing", "/v1/search_knowledge/", "/mcp/", "/docs"])
def test_with_a_token_an_unknown_path_says_so(api: RunningApi, path: str) -> None:
    reply = api.http.get(path, headers=api.headers(VaultScope.WORK))

    assert reply.status_code == 404
    assert reply.json()["error"]["code"] == "no_such_route"


@pytest.mark.parametrize("path", ["/mcp", "/v1/search_knowledge"])
def test_other_methods_are_refused_in_the_same_form(api: RunningApi, path: str) -> None:
    for method in ("GET", "DELETE", "PUT", "PATCH", "OPTIONS"):
        reply = api.http.request(method, path, headers=api.headers(VaultScope.WORK))
        assert reply.status_code == 405
        assert reply.json()["error"]["code"] == "wrong_method"


GOOD_HOSTS = ["127.0.0.1:{port}", "localhost:{port}", "LOCALHOST:{port}", "memory.example"]
BAD_HOSTS = ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:{port}", "x" * 300]
GOOD_ORIGINS: list[str | None] = [None, "http://127.0.0.1:{port}", "https://app.example"]
BAD_ORIGINS = ["null", "https://evil.example", "http://localhost", "file://"]
FORWARDED: list[dict[str, str]] = [
    {},
    {"x-forwarded-for": "127.0.0.1"},
    {"x-forwarded-host": "127.0.0.1"},
    {"x-forwarded-proto": "https", "forwarded": "host=localhost"},
]


def test_only_our_hosts_and_origins_are_answered_whatever_was_forwarded(
    indexed_home: Home, tmp_path: Path
) -> None:
    home = copy_home(indexed_home, tmp_path / "home")
    lists = {
        "CE_API__ALLOWED_HOSTS": '["memory.example"]',
        "CE_API__ALLOWED_ORIGINS": '["https://app.example"]',
    }
    with serving(home, **lists) as running:
        port = running.base.rsplit(":", 1)[1]
        token = running.headers(VaultScope.PUBLIC)
        tried = 0
        for host, origin, forwarded, path in itertools.product(
            GOOD_HOSTS + BAD_HOSTS, [*GOOD_ORIGINS, *BAD_ORIGINS], FORWARDED, ("/healthz", "/mcp")
        ):
            headers = {**token, **forwarded, "host": host.format(port=port)}
            if origin is not None:
                headers["origin"] = origin.format(port=port)
            reply = running.http.get(path, headers=headers)
            answered = 200 if path == "/healthz" else 405
            expected = 421 if host in BAD_HOSTS else 403 if origin in BAD_ORIGINS else answered
            assert reply.status_code == expected, (host, origin, forwarded)
            assert "access-control-allow-origin" not in reply.headers
            tried += 1
        assert tried >= 200


def test_a_token_is_not_even_looked_at_under_a_foreign_host(api: RunningApi) -> None:
    headers = {"host": "evil.example"}
    without = api.http.get("/mcp", headers=headers)
    with_token = api.http.get("/mcp", headers=headers | api.headers(VaultScope.WORK))

    assert without.status_code == with_token.status_code == 421
    assert without.content == with_token.content


def test_one_client_s_rush_is_slowed_and_no_other_s(indexed_home: Home, tmp_path: Path) -> None:
    home = copy_home(indexed_home, tmp_path / "home")
    with serving(home, CE_API__REQUESTS_PER_MINUTE="5") as running:
        statuses = [
            running.call(VaultScope.WORK, "search_knowledge", {"query": "x"}).status_code
            for _ in range(6)
        ]
        refused = running.call(VaultScope.WORK, "search_knowledge", {"query": "x"})
        other = running.call(VaultScope.PERSONAL, "search_knowledge", {"query": "x"})

        assert statuses == [200] * 5 + [429]
        assert refused.json()["error"]["code"] == "too_many_requests"
        assert 1 <= int(refused.headers["retry-after"]) <= 13
        assert other.status_code == 200


def test_strangers_can_neither_lock_a_client_out_nor_fill_the_log(
    indexed_home: Home, tmp_path: Path
) -> None:
    home = copy_home(indexed_home, tmp_path / "home")
    with serving(home, CE_API__REQUESTS_PER_MINUTE="300") as running:
        rush = [running.http.post("/mcp").status_code for _ in range(100)]
        known = running.call(VaultScope.WORK, "search_knowledge", {"query": "x"})

        assert set(rush) == {401, 429}
        assert rush.count(429) >= 50
        assert known.status_code == 200
        assert len(running.audit()) == rush.count(401) + 1


def test_a_revoked_token_is_refused_by_the_next_request(library: Home) -> None:
    with serving(library) as running:
        assert running.call(VaultScope.WORK, "list_projects").status_code == 200
        tokens.revoke(library, "client-work")
        assert running.call(VaultScope.WORK, "list_projects").status_code == 401


@pytest.mark.parametrize("path", ["/v1/search_knowledge", "/mcp"])
def test_a_body_that_is_too_large_is_refused_unread(api: RunningApi, path: str) -> None:
    headers = api.headers(VaultScope.WORK) | {"content-type": "application/json"}
    large = b'{"query": "' + b"x" * MAX_BODY_BYTES + b'"}'

    def in_pieces() -> Any:
        for start in range(0, len(large), 65_536):
            yield large[start : start + 65_536]

    for content in (large, in_pieces()):
        reply = api.http.post(path, content=content, headers=headers)
        assert reply.status_code == 413
        assert reply.json()["error"]["code"] == "too_large"


@pytest.mark.parametrize("path", ["/v1/search_knowledge", "/mcp"])
@pytest.mark.parametrize(
    "content_type",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""],
)
def test_only_json_is_taken(api: RunningApi, path: str, content_type: str) -> None:
    headers = api.headers(VaultScope.WORK) | {"content-type": content_type}
    reply = api.http.post(path, content=b'{"query": "x"}', headers=headers)

    assert reply.status_code == 415
    assert reply.json()["error"]["code"] == "wrong_content_type"


def test_a_body_that_trickles_in_is_given_up() -> None:
    async def trickle() -> Message:
        await asyncio.sleep(0.02)
        return {"type": "http.request", "body": b" ", "more_body": True}

    sent = asyncio.run(_through_body_guard(trickle, seconds=0.2))

    assert sent[0]["status"] == 408
    assert json.loads(sent[1]["body"])["error"]["code"] == "too_slow"


def test_a_body_reaches_the_route_whole() -> None:
    pieces = iter([(b'{"a"', True), (b": 1}", False)])

    async def receive() -> Message:
        body, more = next(pieces)
        return {"type": "http.request", "body": body, "more_body": more}

    sent = asyncio.run(_through_body_guard(receive, seconds=5))

    assert sent[0] == {"type": "echo", "body": b'{"a": 1}'}


async def _through_body_guard(receive: Receive, *, seconds: float) -> list[Message]:
    sent: list[Message] = []

    async def echo(scope: Scope, receive: Receive, send: Send) -> None:
        message = await receive()
        await send({"type": "echo", "body": message["body"]})

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/",
        "headers": [(b"content-type", b"application/json")],
    }
    exchange = Exchange("rest", "POST /", time.monotonic())
    exchange.caller = Caller("someone", VaultScope.WORK, Transport.REST)
    put_exchange(scope, exchange)
    await BodyGuard(echo, seconds)(scope, receive, send)
    return sent

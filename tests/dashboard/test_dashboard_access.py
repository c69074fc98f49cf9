"""Who gets in: one-time links, sessions, CSRF, headers. Against a real server."""

from __future__ import annotations

import contextlib
import itertools
import stat
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from api.audit import AuditLog
from api.dashboard import links
from api.dashboard.app import SECURITY_HEADERS, create_dashboard
from api.dashboard.deck import Deck
from api.dashboard.gate import SECTIONS, belongs
from api.dashboard.links import LINK_SECONDS, SESSION_SECONDS, create_link, csrf_token, redeem
from api.dashboard.routes import ROUTES, Access
from api.http.app import ACCESS
from api.services import Engine
from context_engine.clock import ManualClock, SystemClock
from context_engine.home import Home
from context_engine.scopes import Scope
from context_engine.settings import Settings
from support.api import RunningApi, serving

START = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
PAGES = ("/", "/work", "/review", "/search", "/sources", "/clients", "/settings", "/live")


@contextlib.contextmanager
def open_session(api: RunningApi) -> Iterator[tuple[httpx.Client, str]]:
    """Give a client with a session, and what its POSTs have to carry."""
    with httpx.Client(base_url=api.base, timeout=30) as client:
        reply = client.get(f"/login?link={create_link(api.home, SystemClock())}")
        assert reply.status_code == 200
        session = next(cookie.value for cookie in client.cookies.jar if "session" in cookie.name)
        yield client, csrf_token(session or "")


def test_every_route_has_a_rule_and_lies_where_the_gate_looks(settings: Settings) -> None:
    engine = Engine(settings)
    deck = Deck(settings, engine.services, AuditLog(settings.paths.audit_log), SystemClock())
    app = create_dashboard(deck)
    inner = app._app  # type: ignore[attr-defined]  # the headers' layer holds it
    assert isinstance(inner, Starlette)
    routes = {route.path for route in inner.routes if isinstance(route, Route)}

    assert routes == {route.path for route in ROUTES}
    assert all(belongs(route.path) for route in ROUTES)
    assert {path[1:].partition("/")[0] for path in routes} == SECTIONS
    assert not any(belongs(path) for path in ACCESS)
    opened = {route.path for route in ROUTES if route.access is Access.OPEN}
    assert opened == {"/login", "/static/{name}"}
    assert all(route.recorded for route in ROUTES if route.method == "POST")


def test_without_a_session_nothing_is_shown(board: RunningApi) -> None:
    for route in ROUTES:
        if route.access is Access.OPEN:
            continue
        path = route.path.replace("{scope}", "work").replace("{path:path}", "runbook.md")
        reply = board.http.request(route.method, path)
        assert reply.status_code == 401, path
        assert "Runbook" not in reply.text
        assert "context-engine dashboard" in reply.text


def test_no_token_opens_the_dashboard(board: RunningApi) -> None:
    for scope, path in itertools.product(Scope, PAGES):
        token = board.tokens[scope]
        for headers in (
            board.headers(scope),
            {"cookie": f"ce_session_{httpx.URL(board.base).port}={token}"},
            board.headers(scope) | {"cookie": f"ce_session={token}"},
        ):
            assert board.http.get(path, headers=headers).status_code == 401


def test_a_link_opens_one_session(board: RunningApi) -> None:
    link = create_link(board.home, SystemClock())
    first = board.http.get(f"/login?link={link}")
    again = board.http.get(f"/login?link={link}")
    board.http.cookies.clear()

    cookie = first.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert link not in cookie
    assert (first.status_code, again.status_code) == (200, 401)
    assert "set-cookie" not in again.headers


def test_a_link_ends_after_a_minute_and_a_session_after_its_hours(home: Home) -> None:
    clock = ManualClock(START)
    late, used = create_link(home, clock), create_link(home, clock)
    session = redeem(home, used, clock)
    assert session is not None
    clock.advance(LINK_SECONDS + 1)
    assert redeem(home, late, clock) is None
    assert links.is_open(home, session, clock)
    clock.advance(SESSION_SECONDS)
    assert not links.is_open(home, session, clock)


def test_a_clock_that_was_ahead_leaves_no_link_for_later(home: Home) -> None:
    clock = ManualClock(START + timedelta(days=30))
    link = create_link(home, clock)
    assert redeem(home, link, ManualClock(START)) is None


def test_secrets_are_the_owners_alone_and_not_in_their_files(home: Home) -> None:
    clock = ManualClock(START)
    link = create_link(home, clock)
    session = redeem(home, create_link(home, clock), clock)
    assert session is not None
    folder = home.state / "dashboard"

    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for place in folder.iterdir():
        assert stat.S_IMODE(place.stat().st_mode) == 0o600
        assert not any(secret in place.name + place.read_text() for secret in (link, session))


def test_a_post_needs_the_sessions_token_and_our_origin(board: RunningApi) -> None:
    with open_session(board) as (client, csrf):
        ours = {"origin": board.base}
        form = {"csrf": csrf, "ce_theme": "dark", "back": "/work"}
        refused = [
            client.post("/preferences", data=form),
            client.post("/preferences", data=form | {"csrf": "x"}, headers=ours),
            client.post("/preferences", data=form | {"csrf": ""}, headers=ours),
            client.post("/preferences", data=form, headers={"origin": "http://evil.example"}),
            client.post("/preferences", json=form, headers=ours),
        ]
        taken = client.post("/preferences", data=form, headers=ours)

        assert {reply.status_code for reply in refused} <= {400, 403}
        assert (taken.status_code, taken.headers["location"]) == (303, "/work")


@pytest.mark.parametrize("back", ["//evil.example", "https://evil.example/", "/\\evil", "", "/\n"])
def test_going_back_never_leads_elsewhere(board: RunningApi, back: str) -> None:
    with open_session(board) as (client, csrf):
        reply = client.post(
            "/preferences", data={"csrf": csrf, "back": back}, headers={"origin": board.base}
        )
        assert reply.headers["location"] == "/"


def test_another_site_gets_nothing_even_with_the_cookie(board: RunningApi) -> None:
    with open_session(board) as (client, _):
        for fetched_by in ("cross-site", "same-site"):
            reply = client.get("/work", headers={"sec-fetch-site": fetched_by})
            assert reply.status_code == 401
        assert client.get("/work", headers={"sec-fetch-site": "same-origin"}).status_code == 200


def test_every_reply_forbids_what_we_do_not_load(board: RunningApi) -> None:
    with open_session(board) as (client, _):
        for path in ("/", "/nothing-here/x", "/notes/work/runbook.md", "/static/app.js", "/login"):
            headers = client.get(path).headers
            if belongs(path):
                assert headers.items() >= SECURITY_HEADERS.items(), path
        policy = client.get("/").headers["content-security-policy"]
        assert "unsafe" not in policy
        assert "http" not in policy
        assert "frame-ancestors 'none'" in policy


def test_leaving_ends_the_session(board: RunningApi) -> None:
    with open_session(board) as (client, csrf):
        cookie = {c.name: c.value or "" for c in client.cookies.jar}
        client.post("/logout", data={"csrf": csrf}, headers={"origin": board.base})
        client.cookies.clear()
        client.cookies.update(cookie)
        assert client.get("/").status_code == 401


def test_a_tunnel_finds_no_dashboard(home: Home) -> None:
    with serving(home, CE_API__ALLOWED_HOSTS='["memory.example"]') as api:
        link = create_link(home, SystemClock())
        for path in ("/", f"/login?link={link}", "/static/app.css"):
            reply = api.http.get(path, headers={"host": "memory.example"})
            assert (reply.status_code, reply.json()["error"]["code"]) == (401, "unauthorized")


def test_what_shows_or_changes_notes_is_in_the_audit_log(board: RunningApi) -> None:
    with open_session(board) as (client, _):
        client.get("/notes/work/runbook.md")
        client.get("/work")
        client.get("/notes/work/nothing.md")
    lines = [line for line in board.audit() if line["transport"] == "dashboard"][-2:]

    assert [line["action"] for line in lines] == ["dashboard note", "dashboard note"]
    assert lines[0]["results"] == ["work/runbook.md"]
    assert (lines[0]["client"], lines[0]["scope"]) == ("dashboard", "work")
    assert [line["outcome"] for line in lines] == ["ok", "not_found"]


@pytest.mark.parametrize(
    "path",
    [
        "/notes/work/%2e%2e/personal/identity/canonical.md",
        "/notes/work//etc/passwd",
        "/notes/work/.git/config",
        "/notes/nobody/runbook.md",
        "/notes/work/runbook",
        "/events/" + "0" * 32,
        "/review/000000000000/detail",
        "/static/..%2fapp.py",
    ],
)
def test_what_is_not_there_is_said_calmly(board: RunningApi, path: str) -> None:
    with open_session(board) as (client, _):
        reply = client.get(path)
        assert reply.status_code == 404
        assert "持病" not in reply.text

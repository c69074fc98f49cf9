"""The dashboard's ASGI application: session, CSRF and headers around every route."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.caller import Caller, Transport
from api.dashboard import links
from api.dashboard.ask import Ask, cookie_name, read_ask
from api.dashboard.deck import CLIENT, Deck
from api.dashboard.live import live
from api.dashboard.render import page
from api.dashboard.routes import ROUTES, Access, DashboardRoute
from api.dispatch import in_thread
from api.http.guards import BODY_SECONDS
from api.http.reply import exchange_of
from api.problems import problem_of
from context_engine.errors import ContextEngineError, NotFoundError, UnsafePathError

MAX_FORM_BYTES = 20_000_000
"""A note may have 16 MB, and a form may need more for it."""
SECURITY_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # "no-referrer" would make a browser send "Origin: null" with our own forms
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), interest-cohort=()",
}
_STATUS = {403: "forbidden", 404: "missing", 405: "missing", 408: "slow", 413: "large"}

Handler = Callable[[Request], Awaitable[Response]]


def create_dashboard(deck: Deck) -> ASGIApp:
    """Return the application; it expects the audit layer and the host check before it."""
    routes = [
        Route(route.path, _endpoint(deck, route), methods=[route.method], name=route.name)
        for route in ROUTES
    ]
    app = Starlette(routes=routes, exception_handlers={HTTPException: _problem})
    app.router.redirect_slashes = False
    return _Headers(app)


class _Headers:
    """Puts the security headers on every reply of the dashboard."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = dict(message["headers"])
                for name, value in SECURITY_HEADERS.items():
                    headers[name.encode()] = value.encode()
                headers.setdefault(b"cache-control", b"no-store")
                cookies = [pair for pair in message["headers"] if pair[0] == b"set-cookie"]
                rest = [pair for pair in headers.items() if pair[0] != b"set-cookie"]
                message["headers"] = [*rest, *cookies]
            await send(message)

        await self._app(scope, receive, with_headers)


def _endpoint(deck: Deck, route: DashboardRoute) -> Handler:
    async def endpoint(request: Request) -> Response:
        exchange = exchange_of(request.scope)
        exchange.transport = Transport.DASHBOARD
        exchange.action = f"dashboard {route.name}"
        session = _session(deck, request)
        if route.access is Access.SESSION and not session:
            # anybody may ask; what a stranger repeats is not recorded
            exchange.recorded = False
            return _locked(request)
        exchange.recorded = route.recorded
        exchange.caller = Caller(CLIENT, deck.settings.default_scope, Transport.DASHBOARD)
        body = await _body(request) if route.method == "POST" else b""
        try:
            ask = read_ask(request, exchange, session, body)
        except ValueError as error:
            raise HTTPException(400) from error
        if route.method == "POST" and not _is_own(request, ask):
            exchange.outcome = "forbidden"
            raise HTTPException(403)
        if route.stream:
            return live(deck, ask)
        return await in_thread(lambda: _run(deck, route, ask))

    return endpoint


def _run(deck: Deck, route: DashboardRoute, ask: Ask) -> Response:
    try:
        if route.method == "POST":
            deck.audit.check()
        return route.handler(deck, ask)
    except (NotFoundError, UnsafePathError):
        ask.exchange.outcome = "not_found"
        return page(ask, "error.html", status=404, reason="missing", detail="")
    except ContextEngineError as error:
        problem = problem_of(error)
        ask.exchange.outcome = problem.code
        # the owner looks at their own machine: what the error says is theirs to know
        return page(ask, "error.html", status=problem.status, reason="failed", detail=str(error))
    except Exception as error:  # noqa: BLE001 - the boundary: problem_of logs what is unforeseen
        ask.exchange.outcome = problem_of(error).code
        return page(ask, "error.html", status=500, reason="failed", detail="")


def _session(deck: Deck, request: Request) -> str:
    # another server on this machine is the same site to a browser: only our own pages count
    fetched_by = request.headers.get("sec-fetch-site", "none")
    if fetched_by not in ("same-origin", "none"):
        return ""
    secret = request.cookies.get(cookie_name(request), "")
    return secret if links.is_open(deck.home, secret, deck.clock) else ""


def _is_own(request: Request, ask: Ask) -> bool:
    """Return whether a POST comes from a page of ours: Origin, and the token of the session."""
    host = request.headers["host"].lower()
    if request.headers.get("origin", "").lower() != f"http://{host}":
        return False
    given = request.headers.get("x-csrf-token") or ask.field("csrf")
    return bool(ask.csrf) and hmac.compare_digest(given.encode(), ask.csrf.encode())


async def _body(request: Request) -> bytes:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind and kind != "application/x-www-form-urlencoded":
        raise HTTPException(400)
    parts, length = [], 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in request.stream():
                parts.append(part)
                length += len(part)
                if length > MAX_FORM_BYTES:
                    raise HTTPException(413)
    except TimeoutError as error:
        raise HTTPException(408) from error
    return b"".join(parts)


def _locked(request: Request) -> Response:
    ask = read_ask(request, exchange_of(request.scope), "", b"")
    ask.exchange.outcome = "no_session"
    reply = page(ask, "locked.html", status=401, failed=False)
    if ask.partial:
        # a page that stayed open over the session's end: show the whole of this
        reply.headers["hx-refresh"] = "true"
    return reply


async def _problem(request: Request, error: Any) -> Response:
    exchange = exchange_of(request.scope)
    exchange.recorded = exchange.caller is not None
    ask = read_ask(request, exchange, "", b"")
    reason = _STATUS.get(error.status_code, "failed")
    return page(ask, "error.html", status=error.status_code, reason=reason, detail="")

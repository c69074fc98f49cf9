"""The HTTP application: which routes there are, who may call them, and what stands before them."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import anyio.to_thread
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from api.audit import AuditLog
from api.dashboard.gate import DashboardGate
from api.exchange import Exchange
from api.health import index_is_readable
from api.hook.server import Hooks, listening
from api.http import metrics, openapi, rest
from api.http.audited import Audited
from api.http.guards import (
    MAX_BODY_BYTES,
    Access,
    BodyGuard,
    HostGuard,
    Names,
    TokenGuard,
    names_for,
)
from api.http.rate import RateLimiter
from api.http.reply import UNCACHED, exchange_of, refuse
from api.mcp import Context, build_server
from api.operations.registry import OPERATIONS
from api.problems import INTERNAL, NO_ROUTE, WRONG_METHOD
from api.services import Engine, Notify
from api.tokens import TokenVerifier
from context_engine.clock import Clock, SystemClock
from context_engine.settings import Settings

WARM_UP_GRACE_SECONDS = 2.0
"""How long the end waits for a model that is being loaded."""

MCP_PATH = "/mcp"
HEALTH_PATH = "/healthz"
OPENAPI_PATH = "/openapi.json"
METRICS_PATH = "/metrics"

ACCESS = {
    HEALTH_PATH: Access.OPEN,
    METRICS_PATH: Access.METRICS,
    MCP_PATH: Access.TOKEN,
    OPENAPI_PATH: Access.TOKEN,
    **{rest.PREFIX + name: Access.TOKEN for name in OPERATIONS},
}
"""Every path there is. One that is missing here is answered as if it did not exist."""


def create_app(
    settings: Settings,
    *,
    port: int | None = None,
    notify: Notify | None = None,
    clock: Clock | None = None,
    stopping: threading.Event | None = None,
) -> Starlette:
    """Return the ASGI application.

    port: the one that is really bound, when `settings.api.port` is 0. notify: told about each note
    that save_insight wrote. stopping: set when the server ends.
    """
    clock = clock or SystemClock()
    engine = Engine(settings, notify, clock)
    audit = AuditLog(settings.paths.audit_log)
    port = settings.api.port if port is None else port
    names = names_for(
        settings.api.host,
        port,
        settings.api.allowed_hosts,
        settings.api.allowed_origins,
    )
    sessions = _mcp_sessions(engine, audit, names)
    app = Starlette(
        routes=_routes(settings, engine, audit, sessions),
        middleware=[
            *_outer(audit, names, clock),
            Middleware(
                DashboardGate,
                names=names_for("127.0.0.1", port, (), ()),
                make=lambda: _dashboard(settings, engine, audit, clock, stopping),
            ),
            *_inner(settings, clock),
        ],
        exception_handlers={HTTPException: _http_problem},
        lifespan=_lifespan(
            settings, engine, sessions, Hooks(settings, engine.services, audit, clock)
        ),
    )
    # a redirect would name the Host it was asked by, and tell routes from each other
    app.router.redirect_slashes = False
    return app


def _routes(
    settings: Settings, engine: Engine, audit: AuditLog, sessions: StreamableHTTPSessionManager
) -> list[Route]:
    return [
        Route(HEALTH_PATH, _health(settings), methods=["GET"]),
        Route(OPENAPI_PATH, _openapi, methods=["GET"]),
        Route(METRICS_PATH, metrics.endpoint(settings), methods=["GET"]),
        # POST alone: GET would hold a stream open on which nothing is ever sent
        Route(MCP_PATH, _McpApp(sessions), methods=["POST"]),
        *(
            Route(
                rest.PREFIX + operation.name,
                rest.endpoint(operation, engine.services, audit),
                methods=["POST"],
            )
            for operation in OPERATIONS.values()
        ),
    ]


def _outer(audit: AuditLog, names: Names, clock: Clock) -> list[Middleware]:
    return [
        Middleware(Audited, log=audit, clock=clock, unrecorded={HEALTH_PATH, METRICS_PATH}),
        Middleware(HostGuard, names=names),
    ]


def _inner(settings: Settings, clock: Clock) -> list[Middleware]:
    """Return what stands before the routes of clients with tokens."""
    verifier = TokenVerifier(settings.paths, clock)
    limiter = RateLimiter(settings.api.requests_per_minute, clock)
    return [
        Middleware(
            TokenGuard,
            verifier=verifier,
            access=ACCESS,
            limiter=limiter,
            metrics=metrics.gate(settings.api),
        ),
        Middleware(BodyGuard),
    ]


def _dashboard(
    settings: Settings,
    engine: Engine,
    audit: AuditLog,
    clock: Clock,
    stopping: threading.Event | None,
) -> ASGIApp:
    # imported when the first person looks: templates and charts concern no assistant
    from api.dashboard.app import create_dashboard
    from api.dashboard.deck import Deck

    return create_dashboard(
        Deck(settings, engine.services, audit, clock, stopping or threading.Event())
    )


class _McpApp:
    """An ASGI endpoint; a class, because Starlette takes a function for a request handler."""

    def __init__(self, sessions: StreamableHTTPSessionManager) -> None:
        self._sessions = sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._sessions.handle_request(scope, receive, send)


class _RequestRecorder:
    """The app writes the audit line of every HTTP request; a tool call adds to it."""

    def open(self, ctx: Context) -> Exchange:
        # set by the streamable HTTP transport, which is the only one that asks here
        request: Any = ctx.request
        return exchange_of(request.scope)

    def close(self, exchange: Exchange) -> None:
        pass


def _mcp_sessions(engine: Engine, audit: AuditLog, names: Names) -> StreamableHTTPSessionManager:
    return StreamableHTTPSessionManager(
        build_server(engine.services, audit, _RequestRecorder()),
        json_response=True,
        stateless=True,
        security_settings=TransportSecuritySettings(
            allowed_hosts=sorted(names.hosts), allowed_origins=sorted(names.origins)
        ),
        max_request_body_size=MAX_BODY_BYTES,
    )


def _lifespan(
    settings: Settings, engine: Engine, sessions: StreamableHTTPSessionManager, hooks: Hooks
) -> Callable[[Starlette], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        del app
        # beside the first requests, not before them: ready at once, fast soon after
        warm_up = threading.Thread(target=engine.warm, name="warm-up", daemon=True)
        warm_up.start()
        with listening(settings.paths, hooks.answer):
            async with sessions.run():
                yield
        engine.stop_warming()
        await anyio.to_thread.run_sync(warm_up.join, WARM_UP_GRACE_SECONDS)

    return lifespan


def _health(settings: Settings) -> Callable[[Request], Awaitable[Response]]:
    async def health(request: Request) -> Response:
        del request
        well = await anyio.to_thread.run_sync(index_is_readable, settings.paths)
        return JSONResponse(
            {"status": "ok" if well else "index unreadable"}, 200 if well else 503, UNCACHED
        )

    return health


async def _openapi(request: Request) -> Response:
    # the Host was checked; one without a port is a tunnel's, whose outer side is HTTPS
    host = request.headers["host"]
    scheme = "http" if ":" in host else "https"
    return JSONResponse(openapi.document(f"{scheme}://{host}"), headers=UNCACHED)


async def _http_problem(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    known = {404: NO_ROUTE, 405: WRONG_METHOD}
    headers = error.headers if isinstance(error, HTTPException) else None
    return refuse(request.scope, known.get(status, INTERNAL), headers)

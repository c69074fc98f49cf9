"""The front as an ASGI application: metadata, registration, consent, tokens, and `/mcp`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mcp.server.auth.handlers.metadata import MetadataHandler
from mcp.server.auth.routes import (
    build_metadata,
    cors_middleware,
    create_auth_routes,
    create_protected_resource_routes,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions, RevocationOptions
from mcp.server.transport_security import RequestBodyLimitMiddleware
from pydantic import AnyHttpUrl
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from api.http.guards import MAX_BODY_BYTES
from api.http.rate import RateLimiter
from api.oauth.client_documents import Fetch, fetch_public
from api.oauth.consent import Consent
from api.oauth.passing import Passing
from api.oauth.places import LOOPBACK, Front
from api.oauth.provider import MEMORY, Provider
from context_engine.clock import Clock, SystemClock
from context_engine.home import Home

REQUESTS_PER_MINUTE = 1_200
"""Of strangers a tenth: what needs no token."""

_REGISTRATION = ClientRegistrationOptions(
    enabled=True, valid_scopes=[MEMORY], default_scopes=[MEMORY]
)
_REVOCATION = RevocationOptions(enabled=True)


def create_app(
    home: Home, front: Front, clock: Clock | None = None, fetch: Fetch = fetch_public
) -> Starlette:
    """Return the front of one home; `fetch` reads clients' documents."""
    clock = clock or SystemClock()
    provider = Provider(home, front, clock, fetch)
    passing = Passing(home, front, provider)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        del app
        yield
        await passing.close()

    app = Starlette(
        routes=_routes(home, front, provider, passing, clock),
        middleware=[
            Middleware(TrustedHostMiddleware, allowed_hosts=[front.host, *LOOPBACK]),
            Middleware(_Limited, limiter=RateLimiter(REQUESTS_PER_MINUTE, clock)),
            Middleware(RequestBodyLimitMiddleware, MAX_BODY_BYTES),
        ],
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    return app


def _routes(
    home: Home, front: Front, provider: Provider, passing: Passing, clock: Clock
) -> list[Route]:
    issuer = _issuer(front)
    consent = Consent(home, provider, clock)
    return [
        # before the library's, which does not say that a client may be a URL or public
        _metadata(front),
        *create_auth_routes(
            provider,
            issuer,
            client_registration_options=_REGISTRATION,
            revocation_options=_REVOCATION,
        ),
        *create_protected_resource_routes(
            AnyHttpUrl(front.resource), [issuer], [MEMORY], resource_name="Context Engine"
        ),
        Route("/consent", consent.show, methods=["GET"]),
        Route("/consent", consent.decide, methods=["POST"]),
        Route("/mcp", passing.handle, methods=["POST"]),
    ]


def _issuer(front: Front) -> AnyHttpUrl:
    """Return the issuer without a slash at its end: clients compare it letter by letter."""
    said = {"issuer_url": front.url, "resource_server_url": None}
    return AuthSettings.model_validate(said).issuer_url


def _metadata(front: Front) -> Route:
    said = build_metadata(_issuer(front), None, _REGISTRATION, _REVOCATION)
    methods = [*(said.token_endpoint_auth_methods_supported or []), "none"]
    said = said.model_copy(
        update={
            "token_endpoint_auth_methods_supported": methods,
            "client_id_metadata_document_supported": True,
            "authorization_response_iss_parameter_supported": True,
        }
    )
    return Route(
        "/.well-known/oauth-authorization-server",
        cors_middleware(MetadataHandler(said).handle, ["GET", "OPTIONS"]),
        methods=["GET", "OPTIONS"],
    )


class _Limited:
    """Lets strangers ask so often and no more; who has a token is counted by the engine."""

    def __init__(self, app: ASGIApp, limiter: RateLimiter) -> None:
        self._app = app
        self._limiter = limiter

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        wait = 0.0
        if scope["type"] == "http" and scope["path"] != "/mcp":
            wait = self._limiter.wait(None)
        if wait > 0:
            headers = {"retry-after": str(int(wait) + 1)}
            await JSONResponse({"error": "too many requests"}, 429, headers=headers)(
                scope, receive, send
            )
            return
        await self._app(scope, receive, send)

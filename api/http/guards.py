"""What a request passes before it reaches a route: Host and Origin, token, rate, body."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.caller import Caller, Transport
from api.http.rate import RateLimiter
from api.http.reply import exchange_of, refuse
from api.problems import (
    NO_ROUTE,
    TOO_LARGE,
    TOO_MANY,
    TOO_SLOW,
    UNAUTHORIZED,
    WRONG_HOST,
    WRONG_ORIGIN,
    WRONG_TYPE,
)
from api.tokens import TokenVerifier

MAX_BODY_BYTES = 1024 * 1024
BODY_SECONDS = 15.0
_MAX_AUTHORIZATION = 512


class Access(StrEnum):
    """Who may call a route. A path that has no rule is nobody's."""

    OPEN = "open"
    """No token, and therefore no data."""
    TOKEN = "token"  # noqa: S105 - the name of a rule
    METRICS = "metrics"
    """Counts alone: open, or with a key of their own. Of no concern to a client's token."""


@dataclass(frozen=True)
class Names:
    """The Host and Origin headers that are ours, lower case, exact."""

    hosts: frozenset[str]
    origins: frozenset[str]


class HostGuard:
    """Refuses other Hosts and Origins: no web page reaches us by a name that it made up."""

    def __init__(self, app: ASGIApp, names: Names) -> None:
        self._app = app
        self._names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            if not _all_in(headers.getlist("host"), self._names.hosts, missing=False):
                await refuse(scope, WRONG_HOST)(scope, receive, send)
                return
            if not _all_in(headers.getlist("origin"), self._names.origins, missing=True):
                await refuse(scope, WRONG_ORIGIN)(scope, receive, send)
                return
        await self._app(scope, receive, send)


class TokenGuard:
    """Turns a bearer token into a Caller; without one only open routes answer."""

    def __init__(
        self,
        app: ASGIApp,
        verifier: TokenVerifier,
        access: Mapping[str, Access],
        limiter: RateLimiter,
        metrics: Callable[[Headers], bool],
    ) -> None:
        self._app = app
        self._verifier = verifier
        self._access = access
        self._limiter = limiter
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        rule = self._access.get(scope["path"]) if scope["type"] == "http" else Access.OPEN
        if rule is Access.OPEN or (rule is Access.METRICS and self._metrics(Headers(scope=scope))):
            await self._app(scope, receive, send)
            return
        exchange = exchange_of(scope)
        exchange.caller = self._caller(Headers(scope=scope), Transport(exchange.transport))
        wait = self._limiter.wait(exchange.caller.client if exchange.caller else None)
        if wait > 0:
            # what a stranger repeats is not recorded: it would fill the disk
            exchange.recorded = exchange.caller is not None
            headers = {"retry-after": str(int(wait) + 1)}
            await refuse(scope, TOO_MANY, headers)(scope, receive, send)
        elif exchange.caller is None:
            headers = {"www-authenticate": "Bearer"}
            await refuse(scope, UNAUTHORIZED, headers)(scope, receive, send)
        elif rule is None or rule is Access.METRICS:
            await refuse(scope, NO_ROUTE)(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _caller(self, headers: Headers, transport: Transport) -> Caller | None:
        given = headers.getlist("authorization")
        if len(given) != 1 or len(given[0]) > _MAX_AUTHORIZATION:
            return None
        scheme, _, text = given[0].partition(" ")
        if scheme.lower() != "bearer":
            return None
        token = self._verifier.verify(text.strip())
        return Caller(token.client, token.scope, transport) if token else None


class BodyGuard:
    """Reads the body whole before a route sees it: JSON only, bounded in size and in time."""

    def __init__(self, app: ASGIApp, seconds: float = BODY_SECONDS) -> None:
        self._app = app
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        # an open route takes no body, and a stranger's is not read
        if scope["type"] != "http" or exchange_of(scope).caller is None:
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        wants_json = scope["method"] == "POST"
        if (
            wants_json
            and headers.get("content-type", "").split(";")[0].strip().lower() != "application/json"
        ):
            await refuse(scope, WRONG_TYPE)(scope, receive, send)
            return
        try:
            body = await asyncio.wait_for(_read(headers, receive), self._seconds)
        except _TooLargeError:
            await refuse(scope, TOO_LARGE)(scope, receive, send)
        except TimeoutError:
            await refuse(scope, TOO_SLOW)(scope, receive, send)
        else:
            await self._app(scope, _Replay(body, receive).receive, send)


class _TooLargeError(Exception):
    """The body exceeds MAX_BODY_BYTES."""


def _declared_size(headers: Headers) -> int:
    try:
        return int(headers.get("content-length", "0"))
    except ValueError:
        return 0


async def _read(headers: Headers, receive: Receive) -> bytes:
    if _declared_size(headers) > MAX_BODY_BYTES:
        raise _TooLargeError
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > MAX_BODY_BYTES:
            raise _TooLargeError
        if message["type"] != "http.request" or not message.get("more_body", False):
            return bytes(body)


class _Replay:
    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def receive(self) -> Message:
        """Give the body once, then whatever the server says (a disconnect)."""
        if self._body is None:
            return await self._receive()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}


def _all_in(given: Sequence[str], allowed: frozenset[str], *, missing: bool) -> bool:
    return all(value.lower() in allowed for value in given) if given else missing


def names_for(host: str, port: int, hosts: Sequence[str], origins: Sequence[str]) -> Names:
    """Return the names a server bound to `host`:`port` answers to, `hosts` and `origins` added."""
    local = [f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")]
    if host not in ("", "0.0.0.0", "::"):  # noqa: S104 - compared, not bound
        local.append(f"[{host}]:{port}" if ":" in host else f"{host}:{port}")
    return Names(
        hosts=frozenset(name.lower() for name in (*local, *hosts)),
        origins=frozenset(
            name.lower().rstrip("/") for name in (*(f"http://{name}" for name in local), *origins)
        ),
    )

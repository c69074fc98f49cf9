"""One JSON API over HTTP: conditional requests, bounded replies, and the retries of all sources."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from connectors.jsonl import parse_object
from connectors.live import REPLY_LIMIT, TIMEOUT, Pause, TryAgainError, persistent, retry_after
from context_engine.errors import AccessDeniedError, BadInputError

if TYPE_CHECKING:
    import httpx

NOT_MODIFIED = 304
REDIRECTS = 3
UNNAMED_WAIT = 60.0
"""Seconds to wait when a service says we ask too much, but not for how long."""

_REDIRECT = frozenset({301, 302, 307, 308})
_GONE = frozenset({404, 410})
_UNAUTHORIZED, _FORBIDDEN, _TOO_MANY, _SERVER = 401, 403, 429, 500


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back. `body` is parsed JSON; None with status 304."""

    status: int
    body: Any
    etag: str | None
    next_url: str | None
    """Address of the next page by the Link header."""
    size: int
    """Bytes of the body."""


class GoneError(BadInputError):
    """There is nothing (any more) at an address, or the token may not see it."""


@dataclass(frozen=True)
class Api:
    """An API of one service at one origin: its secret is sent nowhere else."""

    service: str
    client: httpx.Client
    pause: Pause
    refused: str
    """What a person must do when the service refuses the token."""

    def get(
        self,
        url: str,
        params: Mapping[str, str | Sequence[str]] | None = None,
        etag: str | None = None,
    ) -> Reply:
        """Return the reply to GET `url`: absolute, or below the client's base.

        Raises GoneError for 404 and 410, AccessDeniedError when the token is refused,
        DependencyDownError when the service is away, BadInputError for anything else.
        """
        headers = {"If-None-Match": etag} if etag else {}

        def once() -> Reply:
            return self._once(self._request("GET", url, params=params, headers=headers))

        return persistent(self.service, once, self.pause)

    def look_up(self, url: str, asked: Mapping[str, Any]) -> Reply:
        """Return the reply to a POST that changes nothing; errors as for `get`."""

        def once() -> Reply:
            return self._once(self._request("POST", url, json=asked))

        return persistent(self.service, once, self.pause)

    def _request(self, method: str, url: str, **content: Any) -> httpx.Request:
        import httpx

        try:
            return self.client.build_request(method, url, **content)
        except httpx.InvalidURL as error:
            raise BadInputError(self.service, f"gives an address that is none: {error}") from error

    def _once(self, request: httpx.Request) -> Reply:
        import httpx

        try:
            for _ in range(REDIRECTS):
                self._stay(request.url)
                response = self.client.send(request, stream=True)
                try:
                    if response.status_code not in _REDIRECT or response.next_request is None:
                        return self._reply(response, _read(self.service, response))
                    request = response.next_request
                finally:
                    response.close()
        except httpx.HTTPError as error:
            raise TryAgainError(f"{type(error).__name__}: {error}") from error
        raise BadInputError(self.service, "redirects without end")

    def _stay(self, url: httpx.URL) -> None:
        base = self.client.base_url
        if (url.scheme, url.host, url.port) != (base.scheme, base.host, base.port):
            raise BadInputError(self.service, f"sends us to another host, {url.host}: not followed")

    def _reply(self, response: httpx.Response, data: bytes) -> Reply:
        status = response.status_code
        # a list becomes an object, so that one parser with one set of limits does for both
        parsed = parse_object(b'{"":' + data + b"}") if data else {"": None}
        body = parsed[""] if isinstance(parsed, dict) else None
        if status != NOT_MODIFIED and not response.is_success:
            self._refuse(response, body)
        if not isinstance(parsed, dict):
            raise TryAgainError(f"a reply that is cut short or no JSON: {parsed}")
        link = response.links.get("next", {}).get("url")
        return Reply(status, body, response.headers.get("etag"), link, len(data))

    def _refuse(self, response: httpx.Response, body: Any) -> None:
        """Raise what a status means that is no success."""
        status = response.status_code
        said = body.get("message") if isinstance(body, dict) else None
        reason = f"HTTP {status}" + (f" ({said[:200]})" if isinstance(said, str) else "")
        if status == _TOO_MANY or (status == _FORBIDDEN and _is_limit(response, reason)):
            raise TryAgainError(f"asks for fewer requests: {reason}", _asked(response))
        if status >= _SERVER:
            raise TryAgainError(reason, retry_after(response.headers.get("retry-after")))
        if status in {_UNAUTHORIZED, _FORBIDDEN}:
            raise AccessDeniedError(self.service, f"{reason}; {self.refused}")
        place = f"{self.service} {response.url.path}"
        raise (GoneError if status in _GONE else BadInputError)(place, reason)


def _read(service: str, response: httpx.Response) -> bytes:
    data = bytearray()
    for piece in response.iter_bytes():
        data += piece
        if len(data) > REPLY_LIMIT:
            raise BadInputError(service, f"a reply larger than {REPLY_LIMIT >> 20} MiB")
    return bytes(data)


def _is_limit(response: httpx.Response, reason: str) -> bool:
    headers = response.headers
    return (
        "retry-after" in headers
        or headers.get("x-ratelimit-remaining") == "0"
        or "rate limit" in reason.lower()
    )


def _asked(response: httpx.Response) -> float:
    """Return for how many seconds the service wants us to wait."""
    asked = retry_after(response.headers.get("retry-after"))
    reset = response.headers.get("x-ratelimit-reset", "")
    if asked is None and reset.isdecimal() and response.headers.get("x-ratelimit-remaining") == "0":
        # a second more: the service counts in whole seconds
        return max(0.0, float(reset[:12]) - time.time() + 1)
    return UNNAMED_WAIT if asked is None else asked


def open_client(base_url: str, headers: Mapping[str, str]) -> httpx.Client:
    """Return a client that sends `headers` with each request; close it after use."""
    import httpx

    # loading the certificates of all authorities takes longer than a request to this machine
    tls = base_url.startswith("https:")
    return httpx.Client(base_url=base_url, headers=dict(headers), timeout=TIMEOUT, verify=tls)

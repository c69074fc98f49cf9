"""MCP requests with a token of the front's, passed on to the engine as they are."""

from __future__ import annotations

import anyio
import httpx2
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from api.address import read_address
from api.oauth.places import Front
from api.oauth.provider import Provider
from context_engine.home import Home

_PASSED = ("accept", "content-type", "mcp-")
"""Beginnings of the names of headers that the protocol is made of."""
_SECONDS = 60.0
_NO_ENGINE = {"error": "the engine does not run; start it with: context-engine up"}


class Passing:
    """The `/mcp` of the front."""

    def __init__(self, home: Home, front: Front, provider: Provider) -> None:
        self._home = home
        self._front = front
        self._provider = provider
        self._client = httpx2.AsyncClient(timeout=_SECONDS, trust_env=False)

    async def handle(self, request: Request) -> Response:
        """Pass one request on, when its token is one of ours."""
        token = _bearer(request)
        if token is None or await self._provider.load_access_token(token) is None:
            return self._unauthorized(token)
        address = await anyio.to_thread.run_sync(read_address, self._home)
        if address is None:
            return JSONResponse(_NO_ENGINE, 503)
        headers = {n: value for n, value in request.headers.items() if n.startswith(_PASSED)}
        try:
            answer = await self._client.post(
                f"http://{address.authority}/mcp",
                content=await request.body(),
                headers={**headers, "authorization": f"Bearer {token}"},
            )
        except httpx2.HTTPError:
            return JSONResponse(_NO_ENGINE, 503)
        return Response(
            answer.content,
            answer.status_code,
            headers={"cache-control": "no-store", "x-content-type-options": "nosniff"},
            media_type=answer.headers.get("content-type"),
        )

    async def close(self) -> None:
        """Close the connections to the engine."""
        await self._client.aclose()

    def _unauthorized(self, token: str | None) -> Response:
        said = f'Bearer resource_metadata="{self._front.resource_metadata}"'
        if token is not None:
            said += ', error="invalid_token"'
        return JSONResponse({"error": "unauthorized"}, 401, headers={"www-authenticate": said})


def _bearer(request: Request) -> str | None:
    scheme, _, text = request.headers.get("authorization", "").partition(" ")
    return text.strip()[:512] if scheme.lower() == "bearer" and text.strip() else None

"""Assistants as the engine meets them: the real MCP client over stdio and streamable HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar

import httpx2
from mcp import StdioServerParameters
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from context_engine.home import Home
from context_engine.scopes import Scope
from support.api import RunningApi
from support.engine import COMMAND, environment

Era = Literal["auto", "legacy"]
T = TypeVar("T")


def over_stdio(
    home: Home,
    cwd: Path,
    talk: Callable[[Client], Awaitable[T]],
    *,
    era: Era = "auto",
    settings: Mapping[str, str] | None = None,
) -> T:
    """Start `context-engine mcp` in `cwd` and talk to it."""
    server = StdioServerParameters(
        command=COMMAND[0], args=["mcp"], env=environment(home, settings), cwd=str(cwd)
    )

    async def session() -> T:
        async with Client(server, mode=era) as client:
            return await talk(client)

    return asyncio.run(asyncio.wait_for(session(), 60))


def over_http(
    api: RunningApi, scope: Scope, talk: Callable[[Client], Awaitable[T]], *, era: Era = "auto"
) -> T:
    """Talk to /mcp with the token of `scope`."""

    async def session() -> T:
        async with httpx2.AsyncClient(headers=api.headers(scope), timeout=30) as http:
            transport = streamable_http_client(f"{api.base}/mcp", http_client=http)
            async with Client(transport, mode=era) as client:
                return await talk(client)

    return asyncio.run(asyncio.wait_for(session(), 60))


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool that succeeds and return its structured answer."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return dict(result.structured_content)

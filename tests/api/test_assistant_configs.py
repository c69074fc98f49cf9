"""The configurations that docs/assistants.md shows, used as they stand but for path and token."""

from __future__ import annotations

import asyncio
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import StdioServerParameters
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from api.operations.registry import OPERATIONS
from context_engine.home import Home
from context_engine.scopes import Scope
from support.api import RunningApi, serving
from support.engine import COMMAND, environment

PAGE = (Path(__file__).parents[2] / "docs" / "assistants.md").read_text(encoding="utf-8")
PLACEHOLDER = "/path/to/.venv/bin/context-engine"
READERS = {"json": json.loads, "toml": tomllib.loads}
BLOCKS = [
    READERS[kind](text) for kind, text in re.findall(r"```(json|toml)\n(.*?)```", PAGE, re.DOTALL)
]
SERVERS: list[dict[str, Any]] = [
    server
    for block in BLOCKS
    for servers in (block.get("mcpServers"), block.get("mcp_servers"))
    if servers
    for server in servers.values()
]
STARTED = [server for server in SERVERS if "command" in server]
CALLED = [server for server in SERVERS if "command" not in server]


async def _tools(transport: Any) -> set[str]:
    async with Client(transport) as client:
        return {tool.name for tool in (await client.list_tools()).tools}


def test_every_assistant_is_shown_a_configuration() -> None:
    assert len(STARTED) == 4
    assert len(CALLED) == 3


@pytest.mark.parametrize("server", STARTED, ids=range(len(STARTED)))
def test_a_command_that_is_shown_serves_the_tools(
    home: Home, tmp_path: Path, server: dict[str, Any]
) -> None:
    assert server["command"] == PLACEHOLDER
    started = StdioServerParameters(
        command=COMMAND[0],
        args=server["args"],
        env=environment(home, server.get("env")),
        cwd=str(tmp_path),
    )

    assert asyncio.run(asyncio.wait_for(_tools(started), 60)) == set(OPERATIONS)


@pytest.mark.parametrize("server", CALLED, ids=range(len(CALLED)))
def test_an_address_and_header_that_are_shown_are_let_in(
    api: RunningApi, server: dict[str, Any]
) -> None:
    address = server.get("url") or server["httpUrl"]
    assert address.startswith("http://127.0.0.1:7411/")
    # Codex makes the same header from a variable
    headers = server.get("headers", {"Authorization": "Bearer ce_…"})
    sent = {name: value.replace("ce_…", api.tokens[Scope.WORK]) for name, value in headers.items()}

    async def listed() -> set[str]:
        async with httpx2.AsyncClient(headers=sent, timeout=30) as http:
            place = address.replace("http://127.0.0.1:7411", api.base)
            return await _tools(streamable_http_client(place, http_client=http))

    assert asyncio.run(asyncio.wait_for(listed(), 60)) == set(OPERATIONS)


def test_through_a_tunnel_s_name_the_document_names_the_tunnel(library: Home) -> None:
    (block,) = [block["api"] for block in BLOCKS if "api" in block]
    host = block["allowed_hosts"][0]
    with serving(library, CE_API__ALLOWED_HOSTS=json.dumps(block["allowed_hosts"])) as running:
        headers = running.headers(Scope.PERSONAL) | {"host": host}
        document = running.http.get("/openapi.json", headers=headers).json()
        stranger = running.http.get("/openapi.json", headers=headers | {"host": f"x.{host}"})

    assert document["servers"] == [{"url": f"https://{host}"}]
    assert stranger.status_code == 421
    assert f'-H "Host: {host}"' in PAGE


def test_every_tool_is_explained_and_no_other() -> None:
    table = PAGE.split("## What they can do")[1].split("## ")[0]
    rows = re.findall(r"^\| (`[a-z_`, ]+`) \| ", table, re.MULTILINE)
    assert sorted(name for row in rows for name in re.findall(r"[a-z_]+", row)) == sorted(
        OPERATIONS
    )


def test_every_error_that_is_explained_has_that_status() -> None:
    from api import problems

    known = {
        (value.code, value.status)
        for value in vars(problems).values()
        if isinstance(value, problems.Problem)
    }
    shown = re.findall(r"^\| `([a-z_]+)` \((\d+)\)", PAGE, re.MULTILINE)
    assert len(shown) == 4
    assert {(code, int(status)) for code, status in shown} <= known

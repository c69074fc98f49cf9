"""MCP with the real client: both transports, both protocol eras."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from mcp.client import Client

from api.operations.registry import OPERATIONS
from context_engine.home import Home
from context_engine.scopes import Scope
from support.api import RunningApi
from support.assistants import Era, call, over_http, over_stdio
from support.engine import COMMAND, environment

ERAS: list[Era] = ["auto", "legacy"]


@pytest.mark.parametrize("era", ERAS)
def test_tools_are_the_operations_with_schemas_and_hints(api: RunningApi, era: Era) -> None:
    async def talk(client: Client) -> Any:
        return await client.list_tools()

    tools = {tool.name: tool for tool in over_http(api, Scope.WORK, talk, era=era).tools}

    assert set(tools) == set(OPERATIONS)
    for name, tool in tools.items():
        Draft202012Validator.check_schema(tool.input_schema)
        Draft202012Validator.check_schema(tool.output_schema or {})
        assert tool.input_schema["type"] == "object"
        assert tool.input_schema["additionalProperties"] is False
        assert "$ref" not in json.dumps(tool.input_schema)
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is (name not in ("save_insight", "reindex"))
        assert tool.annotations.destructive_hint is False
        assert len(tool.description or "") > 100


def test_the_tool_list_costs_a_model_little(api: RunningApi) -> None:
    from api.operations.budget import estimate_tokens

    async def talk(client: Client) -> Any:
        return await client.list_tools()

    listed = over_http(api, Scope.WORK, talk)
    shown = [
        {"name": t.name, "description": t.description, "input_schema": t.input_schema}
        for t in listed.tools
    ]

    assert estimate_tokens(json.dumps(shown)) < 4_000


@pytest.mark.parametrize("era", ERAS)
def test_search_then_context_over_http(api: RunningApi, era: Era) -> None:
    async def talk(client: Client) -> tuple[dict[str, Any], dict[str, Any]]:
        found = await call(client, "search_knowledge", query="キューは何にした?")
        best = found["results"][0]
        return best, await call(client, "get_context", chunk_id=best["chunk_id"])

    best, context = over_http(api, Scope.WORK, talk, era=era)

    assert best["path"] == "work/knowledge/decision/2026-11-02-use-valkey-3f9a2c01b7de.md"
    assert "ライセンス" in context["passages"][0]["text"]
    assert context["passages"][0]["confidence"] == "raw"
    assert "never instructions" in context["notice"]


@pytest.mark.parametrize("era", ERAS)
def test_search_then_read_over_stdio(library: Home, tmp_path: Path, era: Era) -> None:
    async def talk(client: Client) -> dict[str, Any]:
        found = await call(client, "search_knowledge", query="タンポポの随筆")
        return await call(client, "read_memory", path=found["results"][0]["path"], level="full")

    note = over_stdio(library, tmp_path, talk, era=era)

    assert note["path"].startswith("personal/sources/claude/2026/01/")
    assert "題は「二つの季節」" in note["text"]
    assert "<!--" not in note["text"]
    assert note["confidence"] == "imported"


def test_text_and_structure_say_the_same_and_match_the_schema(api: RunningApi) -> None:
    async def talk(client: Client) -> tuple[Any, Any]:
        listed = await client.list_tools()
        return listed, await client.call_tool("query_self", {"query": "注文"})

    listed, result = over_http(api, Scope.WORK, talk)

    (schema,) = [tool.output_schema for tool in listed.tools if tool.name == "query_self"]
    Draft202012Validator(schema).validate(result.structured_content)
    assert json.loads(result.content[0].text) == result.structured_content
    assert set(result.structured_content) >= {
        "identityCard",
        "currentProjects",
        "relevantKnowledge",
        "warnings",
        "asOf",
    }


@pytest.mark.parametrize("era", ERAS)
def test_errors_say_what_to_do(api: RunningApi, era: Era) -> None:
    async def talk(client: Client) -> list[str]:
        texts = []
        for tool, arguments in (
            ("search_knowledge", {"qery": "x"}),
            ("read_memory", {"path": "personal/identity/canonical.md"}),
            ("read_memory", {"path": "work/runbook.md", "level": "section"}),
            ("save_insight", {"kind": "person", "title": "t", "content": "c"}),
            ("get_context", {"chunk_id": "0" * 16}),
            ("forget_everything", {}),
        ):
            result = await client.call_tool(tool, arguments)
            assert result.is_error
            assert result.structured_content is None
            texts.append(getattr(result.content[0], "text", ""))
        return texts

    typo, hidden, section, person, chunk, unknown = over_http(api, Scope.WORK, talk, era=era)

    assert "query: Field required" in typo
    assert "allowed: query, limit" in typo
    assert hidden == chunk
    assert "recent search" in hidden
    assert "needs query" in section
    assert "needs people" in person
    assert "there are: query_self, search_knowledge" in unknown


def test_on_stdio_the_folder_decides_the_scope_and_no_argument_does(
    library: Home, tmp_path: Path
) -> None:
    work = tmp_path / "job" / "shop"
    work.mkdir(parents=True)
    rules = {"CE_SCOPE_RULE": json.dumps([{"path": f"{tmp_path}/job/**", "scope": "work"}])}

    async def talk(client: Client) -> tuple[set[str], bool]:
        found = await call(client, "search_knowledge", query="タンポポ キュー", limit=50)
        refused = await client.call_tool("search_knowledge", {"query": "x", "scope": "work"})
        return {hit["path"].split("/")[0] for hit in found["results"]}, bool(refused.is_error)

    at_work, refused = over_stdio(library, work, talk, settings=rules)
    elsewhere, _ = over_stdio(library, tmp_path, talk, settings=rules)

    assert at_work == {"work", "public"}
    assert elsewhere == {"personal", "public"}
    assert refused


def test_on_stdio_each_call_leaves_an_audit_line(library: Home, tmp_path: Path) -> None:
    async def talk(client: Client) -> dict[str, Any]:
        return await call(client, "search_knowledge", query="タンポポ")

    found = over_stdio(library, tmp_path, talk)

    (line,) = [json.loads(text) for text in library.audit_log.read_text("ascii").splitlines()]
    assert line["transport"] == "stdio"
    assert line["scope"] == "personal"
    assert line["action"] == "search_knowledge"
    assert line["results"] == [hit["chunk_id"] for hit in found["results"]]


def test_on_stdio_an_unwritable_audit_log_fails_the_call(library: Home, tmp_path: Path) -> None:
    library.audit_log.mkdir()

    async def talk(client: Client) -> list[str]:
        texts = []
        for tool, arguments in (
            ("search_knowledge", {"query": "タンポポ"}),
            ("save_insight", {"kind": "learning", "title": "t", "content": "unrecorded words"}),
        ):
            result = await client.call_tool(tool, arguments)
            assert result.is_error
            texts.append(getattr(result.content[0], "text", ""))
        return texts

    for text in over_stdio(library, tmp_path, talk):
        assert text.startswith("unavailable: The audit log cannot be written")
    notes = [path.read_text("utf-8") for path in library.vaults.rglob("*.md")]
    assert not any("unrecorded words" in note for note in notes)


def test_over_http_a_tool_call_is_one_audit_line_with_its_results(api: RunningApi) -> None:
    async def talk(client: Client) -> dict[str, Any]:
        return await call(client, "search_knowledge", query="Valkey")

    before = len(api.audit())
    found = over_http(api, Scope.WORK, talk)
    calls = [line for line in api.audit()[before:] if line["action"] == "search_knowledge"]

    assert len(calls) == 1
    assert calls[0]["transport"] == "mcp"
    assert calls[0]["client"] == "client-work"
    assert calls[0]["results"] == [hit["chunk_id"] for hit in found["results"]]


@pytest.mark.parametrize(
    "body",
    [b"{}", b"[]", b"null", b'{"jsonrpc": "2.0"}', b"\xff", b'{"a": ' * 20_000],
    ids=range(6),
)
def test_hostile_messages_are_refused(api: RunningApi, body: bytes) -> None:
    headers = api.headers(Scope.WORK) | {
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
    }
    for version in ({}, {"mcp-protocol-version": "2026-07-28"}, {"mcp-protocol-version": "x"}):
        reply = api.http.post("/mcp", content=body, headers=headers | version)
        assert 400 <= reply.status_code < 500, reply.text


def test_a_folder_full_of_hostile_modules_is_never_imported(library: Home, tmp_path: Path) -> None:
    for name in ("api", "index", "vault", "workers", "connectors", "context_engine", "mcp"):
        (tmp_path / name).mkdir()
        trap = f"open({str(tmp_path / 'sprung')!r}, 'w')\nraise SystemExit(3)\n"
        (tmp_path / name / "__init__.py").write_text(trap, encoding="utf-8")

    async def talk(client: Client) -> int:
        return len((await client.list_tools()).tools)

    assert over_stdio(library, tmp_path, talk) == len(OPERATIONS)
    assert not (tmp_path / "sprung").exists()


def test_the_process_ends_when_stdin_does_and_writes_only_protocol(
    library: Home, tmp_path: Path
) -> None:
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "Test\u202e\n", "version": "0"},
        },
    }
    started = time.monotonic()
    done = subprocess.run(
        [*COMMAND, "mcp"],
        input="not json\n" + json.dumps(message) + "\n",
        env=environment(library),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )

    assert done.returncode == 0
    assert time.monotonic() - started < 20
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    (reply,) = [line for line in lines if line.get("id") == 1]
    assert reply["result"]["serverInfo"]["name"] == "context-engine"
    assert "query_self" in reply["result"]["instructions"]

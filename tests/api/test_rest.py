"""REST: hostile input, health, the audit line before the reply, the OpenAPI document."""

from __future__ import annotations

import json
import socket
import time
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

from api.http.server import bind
from api.operations.registry import OPERATIONS
from context_engine.errors import ConfigError
from context_engine.home import Home
from context_engine.scopes import Scope
from context_engine.settings import ApiSettings
from support.api import RunningApi, serving

GOOD: dict[str, dict[str, Any]] = {
    "query_self": {"cwd": "/home/aki/work/shop", "query": "キュー"},
    "search_knowledge": {"query": "キューは何にした?"},
    "get_context": {"chunk_id": "0" * 16},
    "read_memory": {"path": "work/runbook.md"},
    "list_projects": {},
    "save_insight": {"kind": "learning", "title": "BOMを外す", "content": "CSVはBOMを外して読む。"},
    "recall": {"prompt": "キューは何にした?", "session": "s-1"},
    "reindex": {},
    "search": {"query": "キューは何にした?"},
    "fetch": {"id": "work/runbook.md"},
}


def _post(api: RunningApi, operation: str, body: bytes) -> Any:
    headers = api.headers(Scope.WORK) | {"content-type": "application/json; charset=utf-8"}
    started = time.monotonic()
    reply = api.http.post(f"/v1/{operation}", content=body, headers=headers)
    assert time.monotonic() - started < 5
    return reply


@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_answer_matches_its_published_schema(api: RunningApi, operation: str) -> None:
    document = api.http.get("/openapi.json", headers=api.headers(Scope.WORK)).json()
    arguments = dict(GOOD[operation])
    if operation == "get_context":
        found = api.call(Scope.WORK, "search_knowledge", {"query": "Valkey"}).json()
        arguments["chunk_id"] = found["results"][0]["chunk_id"]
    reply = api.call(Scope.WORK, operation, arguments)

    assert reply.status_code == 200, reply.text
    schemas = document["components"]["schemas"]
    Draft202012Validator(schemas[OPERATIONS[operation].answer.__name__]).validate(reply.json())
    Draft202012Validator(schemas[OPERATIONS[operation].request.__name__]).validate(arguments)
    assert reply.headers["cache-control"] == "no-store"


HOSTILE: list[bytes] = [
    b"",
    b"null",
    b"[]",
    b'"text"',
    b"{",
    b'{"query": "x"',
    b"\xff\xfe\x00",
    b'{"query": "\\ud800"}',
    b'{"\\ud800": 1}',
    b'{"query": "\xed\xa0\x80"}',
    b'{"query": NaN}',
    b'{"query": 1e999}',
    b"[" * 100_000,
    b'{"query": ' * 50_000 + b"1",
    b'{"query": ' + b"9" * 100_000 + b"}",
    b'{"query": {"$ne": null}}',
    b'{"query": ["x"]}',
    b'{"query": "x", "scope": "personal"}',
    b'{"query": "x", "\xe2\x80\xaeevil": 1}',
    b'{"path": "x", "chunk_id": "x", "scope": "personal", "kind": "x"}',
]


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("body", HOSTILE, ids=lambda body: ascii(body[:30]))
def test_hostile_bodies_are_refused_with_a_reason_in_bounded_time(
    api: RunningApi, operation: str, body: bytes
) -> None:
    reply = _post(api, operation, body)
    if reply.status_code == 200:
        # an empty body means no arguments, which some operations do without
        assert body == b""
        return
    assert reply.status_code in (400, 422)
    error = reply.json()["error"]
    assert error["code"] in ("invalid_json", "invalid_arguments")
    assert error["message"]
    assert reply.text.isascii()
    assert len(reply.text) < 2000


@pytest.mark.parametrize(
    ("operation", "field", "values"),
    [
        ("search_knowledge", "limit", [0, -1, 51, 10**30, 1.5, "many", None, True]),
        ("search_knowledge", "kind", ["opinion", 1, [], "DECISION"]),
        ("search_knowledge", "since", ["yesterday", "2026-02-30", 5, "9" * 500, "-1"]),
        ("search_knowledge", "tags", [["x"] * 21, [1], ["y" * 101], [[]], [""]]),
        ("search_knowledge", "query", ["", "x" * 10_001]),
        ("get_context", "chunk_id", ["", "x", "0" * 15, "0" * 17, "0" * 15 + "\n", "../../etc"]),
        ("get_context", "window", [-1, 21]),
        ("read_memory", "level", ["everything", ""]),
        ("search", "limit", [3]),
        ("search", "query", ["", "x" * 10_001]),
        ("fetch", "id", ["", "x" * 2_049, 7]),
        ("reindex", "rebuild", ["perhaps", 2]),
        ("read_memory", "budget", [0, 10**9]),
        ("save_insight", "kind", ["rumour", None]),
        ("save_insight", "content", ["", "x" * 8_001]),
        ("save_insight", "confidence", ["validated"]),
        ("save_insight", "scope", ["personal"]),
    ],
)
def test_wrong_arguments_are_named(
    api: RunningApi, operation: str, field: str, values: list[Any]
) -> None:
    for value in values:
        if value is True or (value is None and operation == "search_knowledge"):
            continue
        reply = api.call(Scope.WORK, operation, GOOD[operation] | {field: value})
        assert reply.status_code == 422, (value, reply.text)
        assert reply.json()["error"]["message"].startswith(field)


@pytest.mark.parametrize(
    "query",
    [
        '" OR 1=1 --',
        "NEAR(a b) * ^ { } :",
        "title:x AND body:y",
        "'; DROP TABLE chunk; --",
        "\x00\x01\x1b[31m",
        "\u202e\u2066\ufeff\u200d",
        "﷽" * 3_000,
        "a" * 10_000,
        "の" * 10_000,
        "🙂" * 5_000,
        "   ",
        "?" * 10_000,
    ],
    ids=range(12),
)
def test_a_hostile_query_is_answered_as_text(api: RunningApi, query: str) -> None:
    for operation in ("search_knowledge", "query_self", "search"):
        body = json.dumps({"query": query}).encode()
        reply = _post(api, operation, body)
        assert reply.status_code == 200, reply.text


@pytest.mark.parametrize(
    "path",
    [
        "personal/identity/canonical.md",
        "work/../personal/identity/canonical.md",
        "../personal/identity/canonical.md",
        "/etc/passwd",
        "work//etc/passwd.md",
        "work/.git/config.md",
        "work/nothing.md",
        "nothing.md",
        "work/",
        "work",
        ".",
        "\x00.md",
        "work/" + "a/" * 500 + "b.md",
        "work\\runbook.md",
        "file:///etc/passwd.md",
        "Ｗork/runbook.md",
    ],
)
def test_what_is_absent_and_what_is_hidden_answer_in_the_same_bytes(
    api: RunningApi, path: str
) -> None:
    hidden = api.call(Scope.WORK, "read_memory", {"path": "personal/identity/canonical.md"})
    reply = api.call(Scope.WORK, "read_memory", {"path": path})

    assert reply.status_code == hidden.status_code == 404
    assert reply.content == hidden.content


def test_a_chunk_of_another_scope_does_not_exist(api: RunningApi) -> None:
    found = api.call(Scope.PERSONAL, "search_knowledge", {"query": "タンポポ"}).json()["results"]
    mine = [hit["chunk_id"] for hit in found if hit["path"].startswith("personal/")]
    assert mine

    for chunk_id in mine:
        hidden = api.call(Scope.WORK, "get_context", {"chunk_id": chunk_id})
        absent = api.call(Scope.WORK, "get_context", {"chunk_id": "f" * 16})
        assert hidden.status_code == 404
        assert hidden.content == absent.content


def test_the_audit_line_is_there_when_the_reply_is(api: RunningApi) -> None:
    before = len(api.audit())
    found = api.call(Scope.WORK, "search_knowledge", {"query": "Valkey"})
    entry = api.audit()[before]

    assert entry["client"] == "client-work"
    assert entry["scope"] == "work"
    assert entry["transport"] == "rest"
    assert entry["action"] == "search_knowledge"
    assert entry["outcome"] == "ok"
    assert entry["results"] == [hit["chunk_id"] for hit in found.json()["results"]]
    assert len(api.audit()) == before + 1


def test_refusals_are_recorded_too_and_hold_no_query(api: RunningApi) -> None:
    before = len(api.audit())
    api.call(Scope.WORK, "search_knowledge", {"query": "geheim", "nope": "geheim"})
    api.http.get("/v1/\u202eevil%0a")

    refused, stranger = api.audit()[before:]
    assert refused["outcome"] == "invalid_arguments"
    assert (stranger["outcome"], stranger["client"]) == ("unauthorized", None)
    assert "geheim" not in api.home.audit_log.read_text(encoding="ascii")


def test_without_an_audit_log_nothing_is_answered_and_nothing_written(library: Home) -> None:
    with serving(library) as running:
        assert running.call(Scope.WORK, "list_projects").status_code == 200
        notes = _notes(library)
        library.audit_log.unlink()
        library.audit_log.mkdir()

        read = running.call(Scope.WORK, "search_knowledge", GOOD["search_knowledge"])
        write = running.call(Scope.WORK, "save_insight", GOOD["save_insight"])
        stranger = running.http.get("/openapi.json")
        for reply in (read, write, stranger):
            assert reply.status_code == 503
            assert "audit log" in reply.json()["error"]["message"]
            assert str(library.root) not in reply.text
        assert _notes(library) == notes
        assert running.http.get("/healthz").status_code == 200

        library.audit_log.rmdir()
        again = running.call(Scope.WORK, "save_insight", GOOD["save_insight"])
        assert again.status_code == 200
        assert len(_notes(library)) == len(notes) + 1


def _notes(home: Home) -> set[Path]:
    return set(home.vaults.rglob("*.md"))


def test_health_needs_no_token_tells_nothing_and_sees_a_broken_index(library: Home) -> None:
    with serving(library) as running:
        well = running.http.get("/healthz")
        assert (well.status_code, well.json()) == (200, {"status": "ok"})

        running.call(Scope.WORK, "search_knowledge", GOOD["search_knowledge"])
        for suffix in ("-wal", "-shm"):
            Path(f"{library.index(Scope.WORK)}{suffix}").unlink(missing_ok=True)
        # as a restore or a sync tool does it; a file cut short under a mapping ends the process,
        # which the supervisor then starts again
        damaged = library.index(Scope.WORK).with_suffix(".new")
        damaged.write_bytes(b"this is no database" * 1000)
        damaged.replace(library.index(Scope.WORK))
        ill = running.http.get("/healthz")
        assert (ill.status_code, ill.json()) == (503, {"status": "index unreadable"})
        assert all(line["action"] != "GET /healthz" for line in running.audit())


def test_a_broken_index_costs_the_search_not_the_rest(library: Home) -> None:
    library.index(Scope.WORK).write_bytes(b"this is no database" * 1000)
    with serving(library) as running:
        search = running.call(Scope.WORK, "search_knowledge", GOOD["search_knowledge"])
        assert search.status_code == 503
        assert "reindex --rebuild" in search.json()["error"]["message"]
        assert str(library.root) not in search.text

        myself = running.call(Scope.WORK, "query_self", GOOD["query_self"]).json()
        assert "三百行" in myself["identityCard"]["text"]
        assert [project["name"] for project in myself["currentProjects"]] == ["shop"]
        assert myself["relevantKnowledge"] == []
        assert any("index is damaged" in warning for warning in myself["warnings"])

        saved = running.call(Scope.WORK, "save_insight", GOOD["save_insight"]).json()
        assert saved["outcome"] == "created"
        assert any("not compared" in warning for warning in saved["warnings"])
        read = running.call(Scope.WORK, "read_memory", {"path": saved["path"]})
        assert "BOM" in read.json()["text"]


def test_the_openapi_document_is_valid_and_within_what_actions_import(api: RunningApi) -> None:
    reply = api.http.get("/openapi.json", headers=api.headers(Scope.PUBLIC))
    document = reply.json()

    validate(document)
    assert document["openapi"].startswith("3.1")
    assert document["servers"] == [{"url": api.base}]
    assert len(reply.text) < 100_000
    assert set(document["paths"]) == {f"/v1/{name}" for name in OPERATIONS}
    for path, item in document["paths"].items():
        operation = item["post"]
        assert operation["operationId"] == path.removeprefix("/v1/")
        assert len(operation["description"]) <= 300
        assert len(operation["summary"]) <= 300
        assert operation["x-openai-isConsequential"] is OPERATIONS[operation["operationId"]].writes
    assert all(len(text) <= 700 for text in _descriptions(document["components"]))
    assert document["components"]["securitySchemes"]["token"]["scheme"] == "bearer"


def _descriptions(node: Any) -> list[str]:
    if isinstance(node, list):
        return [text for item in node for text in _descriptions(item)]
    if not isinstance(node, dict):
        return []
    own = [node["description"]] if isinstance(node.get("description"), str) else []
    return own + [text for item in node.values() for text in _descriptions(item)]


def test_the_port_that_was_bound_is_told_and_forgotten_at_the_end(library: Home) -> None:
    with serving(library) as running:
        address = json.loads((library.state / "api.json").read_text(encoding="utf-8"))
        assert f"http://{address['host']}:{address['port']}" == running.base
        assert address["pid"] > 0
    assert not (library.state / "api.json").exists()


def test_a_taken_port_is_said_with_what_to_change() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=rf"cannot listen on 127\.0\.0\.1:{port}.*\[api\]"):
            bind(ApiSettings(port=port))

"""One memory for every assistant, with the whole engine running: what one saves the others know.

A fact is saved over REST, as ChatGPT's Actions do; a coding assistant in the right folder is told
it over MCP; a client with a public token, and one in another folder, are not.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp.client import Client

from context_engine.home import Home
from context_engine.scopes import Scope
from support.api import RunningApi
from support.assistants import call, over_http, over_stdio
from support.engine import run_json, running, wait_until

FACT = "決済の冪等キーは注文番号と試行回数から作る。"
QUESTION = "二重請求を防ぐキーはどう決めた?"


@dataclass(frozen=True)
class _Place:
    api: RunningApi
    work: Path
    elsewhere: Path
    rules: dict[str, str]

    def at_work(self, talk: Any) -> Any:
        return over_stdio(self.api.home, self.work, talk, settings=self.rules)

    def at_home(self, talk: Any) -> Any:
        return over_stdio(self.api.home, self.elsewhere, talk, settings=self.rules)


@pytest.fixture
def place(home: Home, tmp_path: Path) -> Iterator[_Place]:
    work, elsewhere = tmp_path / "job" / "shop", tmp_path / "garden"
    work.mkdir(parents=True)
    elsewhere.mkdir()
    rules = {"CE_SCOPE_RULE": json.dumps([{"path": f"{tmp_path}/job/**", "scope": "work"}])}
    issued = {
        scope: run_json(home, "token", "create", name, "--scope", scope)["token"]
        for name, scope in (("chatgpt", Scope.WORK), ("blog", Scope.PUBLIC))
    }
    with running(home, rules):
        address = json.loads((home.state / "api.json").read_text(encoding="utf-8"))
        base = f"http://{address['host']}:{address['port']}"
        with httpx.Client(base_url=base, timeout=60) as http:
            yield _Place(RunningApi(home, base, http, issued), work, elsewhere, rules)


async def _search(client: Client) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = (await call(client, "search_knowledge", query=QUESTION))[
        "results"
    ]
    return results


async def _everything(client: Client) -> list[str]:
    """Return what a client is told by every way of asking for the fact."""
    answers = [
        await client.call_tool("search_knowledge", {"query": FACT}),
        await client.call_tool("search", {"query": FACT}),
        await client.call_tool("query_self", {"query": FACT, "cwd": "/home/aki/job/shop"}),
        await client.call_tool("list_projects", {"state": "all"}),
    ]
    return [json.dumps(answer.model_dump(mode="json"), ensure_ascii=False) for answer in answers]


@pytest.mark.timeout(240)
def test_what_one_assistant_saves_the_right_ones_know_and_the_others_do_not(
    place: _Place,
) -> None:
    saved = place.api.call(
        Scope.WORK,
        "save_insight",
        {"kind": "decision", "title": "冪等キーの作り方", "content": FACT, "project": "shop"},
    ).json()
    assert saved["path"].startswith("work/knowledge/decision/")

    def is_found_by_meaning() -> bool:
        found = [hit for hit in place.at_work(_search) if hit["path"] == saved["path"]]
        return bool(found) and found[0]["vector_rank"] is not None

    wait_until(is_found_by_meaning, 60)

    async def read(client: Client) -> tuple[dict[str, Any], dict[str, Any]]:
        start = await call(client, "query_self")
        chosen = start["relevantKnowledge"][0]["path"]
        return start, await call(client, "read_memory", path=chosen, level="full")

    # a coding assistant that says no more than where it works
    start, note = place.at_work(read)
    assert start["relevantKnowledge"][0]["confidence"] == "raw"
    assert note["path"] == saved["path"]
    assert FACT in note["text"]

    async def fetch(client: Client) -> dict[str, Any]:
        found = await call(client, "search", query=QUESTION)
        return await call(client, "fetch", id=found["results"][0]["id"])

    # another one on the same token's scope, in ChatGPT's shape
    assert FACT in over_http(place.api, Scope.WORK, fetch)["text"]

    title = "冪等キーの作り方"
    for told in (over_http(place.api, Scope.PUBLIC, _everything), place.at_home(_everything)):
        assert len(told) == 4
        for answer in told:
            assert title not in answer
            assert saved["path"] not in answer
    hidden = place.api.call(Scope.PUBLIC, "read_memory", {"path": saved["path"]})
    absent = place.api.call(Scope.PUBLIC, "read_memory", {"path": "work/nothing.md"})
    assert (hidden.status_code, hidden.content) == (404, absent.content)

    log = run_json(place.api.home, "audit", "--limit", "1000")["requests"]
    told_to = {entry["client"] for entry in log if saved["path"] in entry["results"]}
    assert "blog" not in told_to
    assert "chatgpt" in told_to
    assert {entry["scope"] for entry in log if entry["client"] == "blog"} == {"public"}

"""What a client saves is held against what is known, on every face alike."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner

from api.caller import Caller, Transport
from api.cli.main import cli
from api.cli.query import hit_to_json
from api.operations.base import Services
from api.operations.read_memory import Level, ReadMemoryRequest, read_memory
from context_engine.home import Home
from context_engine.scopes import Scope
from index.model import SearchRequest
from index.search import Searcher
from index.writer import IndexWriter
from vault.notes import read_note


@pytest.fixture(autouse=True)
def _home(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CE_HOME", str(home.root))
    monkeypatch.setenv("CE_DEFAULT_SCOPE", "work")
    monkeypatch.setenv("CE_EMBEDDING__BACKEND", "ollama")
    monkeypatch.setenv("CE_OLLAMA_URL", "http://127.0.0.1:9")
    # a log file is for the rest of a process, and this one goes on
    monkeypatch.setattr("context_engine.logs.configure", lambda *_, **__: None)


def run(*arguments: str, **more: Any) -> Any:
    return CliRunner().invoke(cli, ["save", *arguments], standalone_mode=False, **more)


def save(content: str, *arguments: str) -> dict[str, Any]:
    result = run(content, "--kind", "decision", "--json", *arguments)
    assert result.return_value == 0
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


def test_the_answer_says_where_it_went_and_what_it_resembled(home: Home) -> None:
    first = save("We use RabbitMQ for the queue.", "--project", "shop")
    again = save("For the queue we use RabbitMQ.", "--project", "shop")
    newer = save("We moved the queue from RabbitMQ to Valkey.", "--project", "shop")

    assert (first["relation"], first["resembles"]) == ("separate", [])
    assert (again["path"], again["relation"], again["outcome"]) == (
        first["path"],
        "duplicate",
        "updated",
    )
    assert newer["relation"] == "supersedes"
    assert newer["resembles"][0] | {"similarity": 1.0} == {
        "path": first["path"],
        "title": "We use RabbitMQ for the queue.",
        "similarity": 1.0,
        "relation": "supersedes",
    }
    assert 0.0 < newer["resembles"][0]["similarity"] < 1.0
    assert first["confidence"] == "raw"


def test_results_name_the_successor(home: Home) -> None:
    older = save("キューはRabbitMQにする。")
    newer = save("キューはRabbitMQをやめてValkeyにする。")
    with IndexWriter(home, Scope.WORK, None) as writer:
        writer.scan()
    hits = Searcher(home, None).search(Scope.WORK, SearchRequest("キュー RabbitMQ")).hits
    found = {hit["path"]: hit["superseded_by"] for hit in map(hit_to_json, hits)}
    assert found == {newer["path"]: None, older["path"]: newer["path"]}


def test_content_may_come_from_stdin_and_gets_a_title(home: Home) -> None:
    result = run("-", "--kind", "learning", "--json", input="索引がなくて遅かった。直した。")
    path = json.loads(result.stdout)["path"]
    note = read_note(home, Scope.WORK, path.removeprefix("work/"))
    assert note.title.startswith("索引がなくて遅かった")
    assert note.front["extractor"].startswith("client:cli")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["  ", "--kind", "value"], "empty"),
        (["x", "--kind", "person"], "people"),
        (["x", "--kind", "project"], "project"),
    ],
)
def test_what_cannot_be_meant_is_refused(arguments: list[str], reason: str) -> None:
    result = run(*arguments)
    assert result.exception is not None
    assert reason in str(result.exception)


def test_a_save_leaves_a_line_in_the_audit_log(home: Home) -> None:
    path = save("キューはRabbitMQにする。")["path"]
    line = json.loads(home.audit_log.read_text().splitlines()[-1])
    assert line["action"] == "save_insight"
    assert line["results"] == [path]


def test_a_reader_of_the_older_one_is_told_what_replaced_it(home: Home) -> None:
    older = save("キューはRabbitMQにする。")
    newer = save("キューはRabbitMQをやめてValkeyにする。")
    services = Services(home=home, index=Searcher(home, None))
    caller = Caller("test", Scope.WORK, Transport.CLI)
    read = read_memory(services, caller, ReadMemoryRequest(path=older["path"]))
    assert (
        read.warnings[0] == f"replaced since by {newer['path']}: rely on that one while it is there"
    )
    assert "RabbitMQ" in read.text
    assert read_memory(services, caller, ReadMemoryRequest(path=newer["path"])).warnings == ()


def test_a_reader_of_a_project_sees_which_news_are_old(home: Home) -> None:
    for text in ("書き出しは法務の確認待ち。", "書き出しは法務の確認が完了した。"):
        result = run(text, "--kind", "project", "--project", "shop", "--json")
        path = json.loads(result.stdout)["path"]
    services = Services(home=home, index=Searcher(home, None))
    caller = Caller("test", Scope.WORK, Transport.CLI)
    request = ReadMemoryRequest(path=path, level=Level.FULL)
    lines = read_memory(services, caller, request).text.splitlines()
    labels = [line.rpartition("[")[2] for line in lines if line.startswith("## ")]
    assert labels == ["raw, replaced since]", "raw]"]

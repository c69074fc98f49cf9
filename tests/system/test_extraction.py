"""Distilling in the running engine: rules first, the model replaces them, faults cost nothing."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Iterator
from pathlib import Path

from context_engine.home import Home
from context_engine.insights import Confidence
from context_engine.scopes import Scope
from support.engine import pids, run_json, running, wait_until, write_sessions
from support.ollama_faults import answering, faulty_ollama, healthy_but
from vault.notes import Note, confidence_of, iter_notes

QUOTE = "キャッシュは Valkey に決めた"
ANSWER = json.dumps(
    {
        "insights": [
            {
                "kind": "decision",
                "title": "キャッシュをValkeyにする",
                "content": "キャッシュはValkeyにする。ライセンスが理由。",
                "quote": QUOTE,
                "stated": True,
            },
            {
                "kind": "learning",
                "title": "Invented",
                "content": "Nobody said this.",
                "quote": "the moon is made of cheese",
                "stated": True,
            },
        ]
    },
    ensure_ascii=False,
)


@contextlib.contextmanager
def a_port_that_is_closed() -> Iterator[int]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        yield probe.getsockname()[1]


def insights(home: Home) -> list[Note]:
    found = list(iter_notes(home, Scope.WORK, "knowledge"))
    assert all(isinstance(note, Note) for note in found)
    return [note for note in found if isinstance(note, Note)]


def extractors(home: Home) -> set[str]:
    return {str(note.front["extractor"]) for note in insights(home)}


def settings_for(url: str) -> dict[str, str]:
    return {
        "CE_DEFAULT_SCOPE": "work",
        "CE_LLM__MODE": "auto",
        "CE_LLM__MODEL": "tiny",
        "CE_OLLAMA_URL": url,
    }


def test_rules_serve_until_the_model_comes_and_then_it_replaces_them(
    home: Home, tmp_path: Path
) -> None:
    folder = tmp_path / "projects"
    write_sessions(folder, sessions=2, messages=4)
    with a_port_that_is_closed() as port:
        nobody = settings_for(f"http://127.0.0.1:{port}")
        report = run_json(home, "ingest", "claude", str(folder), extra=nobody)
    assert report["waiting_for_llm"] == 2
    assert report["quarantined"] == 0
    assert report["insights"]["decision"] > 0
    assert extractors(home) == {"cues"}
    assert {confidence_of(note) for note in insights(home)} == {Confidence.RAW}

    with (
        faulty_ollama(healthy_but(answering(ANSWER, model="tiny"))) as server,
        running(home, settings_for(server.url)),
    ):
        wait_until(lambda: extractors(home) == {"ollama:tiny"}, 90)
        status = run_json(home, "status", extra=settings_for(server.url))
        assert status["llm"]["healthy"] is True
        wait_until(
            lambda: (
                run_json(home, "status", extra=settings_for(server.url))["outbox"]["waiting"] == 0
            )
        )
        outcomes = run_json(home, "status", extra=settings_for(server.url))["outcomes"]
    assert outcomes["extract.unverified_quote"] == 2
    # stated by the owner, quote verified: the model's word alone would not do
    assert {confidence_of(note) for note in insights(home)} == {Confidence.VALIDATED}
    assert all(QUOTE in note.body for note in insights(home))


def test_a_model_that_talks_nonsense_does_not_empty_the_memory(home: Home, tmp_path: Path) -> None:
    folder = tmp_path / "projects"
    write_sessions(folder, sessions=1, messages=4)
    with faulty_ollama(healthy_but(answering("I am sorry, Dave.", model="tiny"))) as server:
        report = run_json(home, "ingest", "claude", str(folder), extra=settings_for(server.url))
    assert report["outcomes"]["bad_json"] > 0
    assert report["source_notes"] == 1
    assert extractors(home) == {"cues"}
    assert pids(home) == {}

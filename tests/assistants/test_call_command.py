"""`context-engine call`: every operation on the command line, audited, errors one can act on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from context_engine.home import Home
from support.engine import run, run_json
from support.notes import index_all, put_note


def _call(home: Home, operation: str, **arguments: Any) -> Any:
    done = run(home, "call", operation, json.dumps(arguments), "--scope", "work")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_an_operation_answers_and_is_audited(home: Home) -> None:
    put_note(home, "knowledge/learning/bom.md", "# BOM\n\nCSV-77: BOMを外す。", kind="learning")
    index_all(home, None)
    recalled = _call(home, "recall", prompt="CSV-77 をもう一度", session="s")
    again = _call(home, "recall", prompt="CSV-77 をもう一度", session="s")
    _call(home, "read_memory", path="work/knowledge/learning/bom.md")

    assert [note["path"] for note in recalled["notes"]] == ["work/knowledge/learning/bom.md"]
    assert again["notes"] == [], "the session is remembered from one process to the next"
    lines = [json.loads(line) for line in home.audit_log.read_text("ascii").splitlines()]
    assert [(line["transport"], line["action"]) for line in lines] == [
        ("cli", "recall"),
        ("cli", "recall"),
        ("cli", "read_memory"),
    ]
    usage = run_json(home, "status")["usage"]
    assert (usage["recalled"], usage["obeyed_rate"], usage["readings"]) == (1, 1.0, 1)


def test_what_is_wrong_is_said(home: Home, tmp_path: Path) -> None:
    unknown = run(home, "call", "recall", '{"prompt": "x", "sesion": "s"}', cwd=tmp_path)
    absent = run(home, "call", "read_memory", '{"path": "nowhere.md"}', cwd=tmp_path)

    assert unknown.returncode == 2
    assert "sesion" in unknown.stderr
    assert absent.returncode == 1
    assert absent.stdout == unknown.stdout == ""

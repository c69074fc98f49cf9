"""The hook as an assistant calls it: a process with JSON on stdin, beside an engine or alone."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api.hook.client import ANSWER_SECONDS, EVENTS
from context_engine.home import Home
from context_engine.markers import strip_injected
from context_engine.settings import home_from_environment
from support.api import RunningApi, serving
from support.engine import COMMAND
from support.library import copy_home

SESSION = "0f0f0f0f-1111-4222-8333-444444444444"


def hook(home: Home, event: str, given: bytes | dict[str, Any], *more: str) -> bytes:
    """Return what the assistant reads; a hook always succeeds and is silent on stderr."""
    sent = given if isinstance(given, bytes) else json.dumps(given).encode()
    done = subprocess.run(
        [*COMMAND, "hook", event, *more],
        input=sent,
        env=dict(os.environ) | {"CE_HOME": str(home.root)},
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


def told(home: Home, event: str, **given: Any) -> str:
    """Return the context that the model is given, "" for none."""
    output = hook(home, event, {"session_id": SESSION, **given})
    if not output:
        return ""
    said = json.loads(output)["hookSpecificOutput"]
    assert said["hookEventName"] == EVENTS[event]
    return str(said["additionalContext"])


@pytest.fixture(scope="module")
def engine(
    indexed_home: Home, models: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningApi]:
    folder = tmp_path_factory.mktemp("hooks")
    home = copy_home(indexed_home, folder / "home")
    rules = json.dumps([{"path": f"{folder}/job/**", "scope": "work"}])
    (folder / "job" / "shop").mkdir(parents=True)
    with serving(home, CE_SCOPE_RULE=rules, CE_EMBEDDING__MODELS_DIR=str(models)) as running:
        # until the model is loaded, a hook rather goes without
        running.call(next(iter(running.tokens)), "query_self").raise_for_status()
        yield running


def _work(engine: RunningApi) -> str:
    return str(engine.home.root.parent / "job" / "shop")


def test_a_hook_loads_the_standard_library_only() -> None:
    code = (
        "import sys; import api.entry, api.hook.client, json, socket;"
        "print(*{name.split('.')[0] for name in sys.modules} - set(sys.stdlib_module_names))"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split()) - {"__mp_main__", "_distutils_hack", "sitecustomize"}
    assert {name for name in loaded if not name.startswith("_")} <= {"api"}


def test_a_session_begins_with_what_is_known(engine: RunningApi) -> None:
    text = told(engine.home, "session-start", cwd=_work(engine), source="startup")

    assert "shop: 注文を五分以内に発送へ渡す" in text
    assert "[decision, raw, 2026-11-02] キューはValkeyにする" in text
    assert "PRは三百行まで" in text
    assert strip_injected(text) == ""
    assert engine.audit()[-1] | {"ms": 0, "time": 0, "results": 0} == {
        "time": 0, "client": "hook", "scope": "work", "transport": "hook",
        "action": "query_self", "outcome": "ok", "results": 0, "ms": 0,
    }  # fmt: skip


def test_a_folder_of_another_scope_is_told_of_its_own(engine: RunningApi) -> None:
    at_work = told(engine.home, "session-start", cwd=_work(engine))
    elsewhere = told(engine.home, "session-start", cwd="/somewhere/else")

    assert "タンポポ" not in at_work
    assert "Valkey" not in elsewhere
    assert "持病の薬" in elsewhere


@pytest.mark.parametrize("cwd", ["", "relative", "/nul\0byte", "/x" * 3000])
def test_without_a_folder_nothing_is_told(engine: RunningApi, cwd: str) -> None:
    assert told(engine.home, "session-start", cwd=cwd) == ""


def test_a_prompt_is_told_what_to_recall_once(engine: RunningApi) -> None:
    first = told(engine.home, "user-prompt", cwd=_work(engine), prompt="SHOP-4711 の続き")
    again = told(engine.home, "user-prompt", cwd=_work(engine), prompt="SHOP-4711 の続き")

    assert "Before answering, recall:" in first
    assert "`work/runbook.md`" in first
    assert again == ""


@pytest.mark.parametrize("prompt", ["\ud800 \0", "﷽" * 9_000, "x" * 300_000, '"' * 999])
def test_a_prompt_of_odd_text_recalls_nothing(engine: RunningApi, prompt: str) -> None:
    assert told(engine.home, "user-prompt", cwd=_work(engine), prompt=prompt) == ""
    assert engine.audit()[-1]["outcome"] == "ok"


HOSTILE = [
    b"",
    b"no json",
    b"[]",
    b"null",
    b'{"cwd": 1, "prompt": [], "session_id": {}, "transcript_path": 7}',
    b'{"cwd": "x", "prompt": "\\ud800 \\u0000", "transcript_path": "\\ud800"}',
    b'{"transcript_path": "' + b"x" * 5_000_000 + b'"}',
    b"[" * 100_000,
    b"\xff\xfe\x00",
]


@pytest.mark.parametrize("given", HOSTILE, ids=range(len(HOSTILE)))
def test_bad_input_is_passed_over_in_silence(engine: RunningApi, given: bytes) -> None:
    for event in ("session-start", "user-prompt", "stop"):
        assert hook(engine.home, event, given) == b""
    assert engine.http.get("/healthz").status_code == 200


@pytest.mark.parametrize("event", EVENTS)
def test_without_an_engine_nothing_is_said(home: Home, event: str) -> None:
    assert hook(home, event, {"session_id": SESSION, "cwd": "/x", "prompt": "PAY-1423"}) == b""


def test_an_engine_that_was_killed_is_not_waited_for(home: Home) -> None:
    place = home.state / "dead.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.fspath(place)[-100:] if len(str(place)) > 100 else str(place))
    (home.state / "hook.json").write_text(json.dumps({"socket": str(place)}), encoding="utf-8")

    assert told(home, "user-prompt", cwd="/x", prompt="PAY-1423") == ""


def test_an_engine_that_hangs_costs_half_a_second(home: Home, tmp_path: Path) -> None:
    place = Path(f"/tmp/hang-{os.getpid()}.sock")  # noqa: S108 - short, and removed below
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(place))
        listener.listen()
        (home.state / "hook.json").write_text(json.dumps({"socket": str(place)}), "utf-8")
        started = time.monotonic()
        assert told(home, "user-prompt", cwd=str(tmp_path), prompt="PAY-1423") == ""
        assert time.monotonic() - started < ANSWER_SECONDS["user-prompt"] + 2
    place.unlink()


def _spooled(home: Home) -> list[dict[str, Any]]:
    files = sorted((home.state / "spool").glob("*.json"))
    return [json.loads(file.read_text(encoding="utf-8")) for file in files]


def test_a_transcript_is_spooled_one_file_a_session(home: Home) -> None:
    for event in ("stop", "pre-compact", "session-end"):
        hook(home, event, {"session_id": SESSION, "transcript_path": "/t/日本.jsonl", "cwd": "/t"})
    hook(home, "stop", {"session_id": "../../evil", "transcript_path": "/t/other.jsonl"})

    assert [(each["event"], each["transcript_path"]) for each in _spooled(home)] == [
        ("session-end", "/t/日本.jsonl"),
        ("stop", "/t/other.jsonl"),
    ]
    assert {file.name for file in (home.state / "spool").iterdir()} == {
        f"{SESSION}.json",
        "evil.json",
    }
    assert (home.state / "spool" / "evil.json").stat().st_mode & 0o077 == 0


def test_hooks_at_once_leave_one_whole_file(home: Home) -> None:
    given = {"session_id": SESSION, "transcript_path": "/t/" + "x" * 3000 + ".jsonl"}
    threads = [threading.Thread(target=hook, args=(home, "stop", given)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [each["transcript_path"] for each in _spooled(home)] == [given["transcript_path"]]
    assert len(list((home.state / "spool").iterdir())) == 1


def test_the_home_can_be_named(home: Home, tmp_path: Path) -> None:
    other = Home(tmp_path / "other")
    other.create()
    hook(home, "stop", {"transcript_path": "/t/a.jsonl"}, "--home", str(other.root))

    assert len(_spooled(other)) == 1
    assert not (home.state / "spool").exists()


def test_where_no_memory_was_made_none_is_made(tmp_path: Path) -> None:
    hook(Home(tmp_path / "none"), "stop", {"transcript_path": "/t/a.jsonl"})

    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("named", ["", "/x/y/../z", "~/elsewhere", "here"])
def test_the_home_is_the_one_that_the_engine_takes(
    monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    from api.hook.client import _home

    monkeypatch.setenv("CE_HOME", named)
    assert _home([]) == os.path.normpath(home_from_environment())

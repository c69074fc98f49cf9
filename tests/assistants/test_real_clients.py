"""The real clients, as they come from their makers: `make test-clients` installs and tries them.

Claude Code talks to a stand-in for its model's API on the loopback, with our hooks and tools put
in by `context-engine install`.
"""

from __future__ import annotations

import contextlib
import html
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from api.operations.registry import OPERATIONS
from context_engine.home import Home
from context_engine.scopes import Scope
from support.engine import run, run_json, running, wait_until
from support.library import write_notes
from support.model_api import ModelApi, model_api

ROOT = Path(__file__).parents[2]
CLIENTS = ROOT / ".clients" / "node_modules" / ".bin"
PROMPT = "SHOP-4711 の再起動の手順を確かめたい。今後は手順書を先に読むことに決めた。"

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]


def client(name: str) -> str:
    """Return a client's program; skip the test where it is not installed."""
    found = CLIENTS / name
    if not found.exists():
        pytest.skip(f"{name} is not installed: make test-clients")
    return str(found)


@dataclass(frozen=True)
class _Desk:
    """Somebody's machine: their home folder, their memory, a project of their work."""

    user_home: Path
    memory: Home
    project: Path

    def environment(self, **more: str) -> dict[str, str]:
        return {
            "HOME": str(self.user_home),
            "PATH": os.environ["PATH"],
            "TERM": "dumb",
            "LANG": "C.UTF-8",
            "CE_EMBEDDING__MODELS_DIR": os.environ["CE_EMBEDDING__MODELS_DIR"],
            **more,
        }

    def run(self, *command: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=self.project,
            env=self.environment(**more),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            stdin=subprocess.DEVNULL,
        )


@pytest.fixture
def desk(home: Home, tmp_path: Path) -> _Desk:
    project = tmp_path / "job" / "shop"
    project.mkdir(parents=True)
    user_home = tmp_path / "aki"
    user_home.mkdir()
    home.config_file.write_text(
        f'[[scope_rule]]\npath = "{tmp_path}/job/**"\nscope = "work"\n', encoding="utf-8"
    )
    write_notes(home)
    return _Desk(user_home, home, project)


def _install(desk: _Desk, target: str) -> None:
    done = run(desk.memory, "install", target, extra={"HOME": str(desk.user_home)})
    assert done.returncode == 0, done.stderr


def _ask_claude(desk: _Desk, api: ModelApi, *more: str) -> None:
    done = desk.run(
        client("claude"),
        "-p",
        PROMPT,
        *more,
        ANTHROPIC_API_KEY="stub",
        ANTHROPIC_BASE_URL=api.address,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
        DISABLE_TELEMETRY="1",
        DISABLE_AUTOUPDATER="1",
        IS_SANDBOX="1",
        CE_HOME=str(desk.memory.root),
        CONTEXT_ENGINE_COMMAND=str(Path(sys.executable).parent / "context-engine"),
    )
    assert done.returncode == 0, done.stderr + done.stdout


@contextlib.contextmanager
def _engine(desk: _Desk) -> Iterator[None]:
    """Have the engine running, all notes searchable: while it embeds, clients wait for it."""

    def is_indexed() -> bool:
        work = run_json(desk.memory, "status")["index"]["work"]
        return bool(work["chunks"] and work["chunks"] == work["embedded"])

    with running(desk.memory):
        wait_until(is_indexed, 60)
        yield


def _collected(desk: _Desk) -> str:
    notes = (desk.memory.vault(Scope.WORK) / "sources" / "claude").rglob("*.md")
    return "\n".join(note.read_text(encoding="utf-8") for note in notes)


def _is_told(sent: str) -> None:
    assert '<context-engine kind="session-start">' in sent
    assert "キューはValkeyにする" in sent
    assert "タンポポ" not in sent, "personal knowledge in a work session"
    assert '<context-engine kind="recall">' in sent
    assert "work/runbook.md" in sent


def _holds_the_promise(desk: _Desk, api: ModelApi) -> None:
    _is_told(api.texts())
    wait_until(lambda: PROMPT in _collected(desk), 60)
    assert "Before answering, recall" not in _collected(desk), "our own words were collected"


def test_claude_code_is_told_what_is_known_and_its_transcript_arrives(desk: _Desk) -> None:
    client("claude")
    _install(desk, "claude-code")
    with _engine(desk), model_api() as api:
        _ask_claude(desk, api)

        _holds_the_promise(desk, api)
        assert {f"mcp__context-engine__{name}" for name in OPERATIONS} <= api.tools()


def test_the_plugin_does_the_same(desk: _Desk) -> None:
    client("claude")
    with _engine(desk), model_api() as api:
        _ask_claude(desk, api, "--plugin-dir", str(ROOT / "plugin"))

        _holds_the_promise(desk, api)
        offered = api.tools()
        assert {f"mcp__plugin_context-engine_memory__{name}" for name in OPERATIONS} <= offered
        assert "context-engine:save-memory" in api.texts()


def test_the_plugin_is_valid(desk: _Desk) -> None:
    for folder in (ROOT / "plugin", ROOT):
        done = desk.run(client("claude"), "plugin", "validate", str(folder))
        assert done.returncode == 0, done.stdout + done.stderr


def test_without_the_engine_a_session_is_as_ever_and_handed_over(desk: _Desk) -> None:
    client("claude")
    _install(desk, "claude-code")
    with model_api() as api:
        _ask_claude(desk, api)
    assert "<context-engine" not in api.texts()
    with running(desk.memory):
        wait_until(lambda: PROMPT in _collected(desk), 60)


def test_codex_lists_the_server(desk: _Desk) -> None:
    program = client("codex")
    _install(desk, "codex")
    done = desk.run(program, "mcp", "get", "context-engine")
    assert done.returncode == 0, done.stderr
    assert "args: mcp" in done.stdout


def test_gemini_cli_reaches_the_server(desk: _Desk) -> None:
    program = client("gemini")
    _install(desk, "gemini-cli")
    done = desk.run(program, "mcp", "list", GEMINI_CLI_TRUST_WORKSPACE="true")
    assert done.returncode == 0, done.stderr
    assert "(stdio) - Connected" in done.stdout + done.stderr


def test_gemini_cli_is_told_what_is_known(desk: _Desk) -> None:
    program = client("gemini")
    _install(desk, "gemini-cli")
    settings = desk.user_home / ".gemini" / "settings.json"
    chosen = json.loads(settings.read_text(encoding="utf-8"))
    chosen["security"] = {"auth": {"selectedType": "gemini-api-key"}}
    chosen["privacy"] = {"usageStatisticsEnabled": False}
    settings.write_text(json.dumps(chosen), encoding="utf-8")
    with _engine(desk), model_api() as api:
        # a model of one's choice: otherwise another one is asked first which to take
        done = desk.run(
            program,
            *("-m", "gemini-2.5-flash", "-p", PROMPT),
            GEMINI_API_KEY="stub",
            GOOGLE_GEMINI_BASE_URL=api.address,
            GEMINI_CLI_TRUST_WORKSPACE="true",
        )
    assert done.returncode == 0, done.stderr
    # what a hook says is escaped before the model reads it
    _is_told(html.unescape(api.texts()))

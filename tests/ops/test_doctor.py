"""Doctor: what is broken is named with what mends it, and mending it makes it well."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Mapping
from pathlib import Path

import pytest
import redis

from api.doctor import home as of_home
from api.doctor import machine, servers
from api.doctor.model import Check
from api.doctor.run import examine
from context_engine.home import Home
from context_engine.home_format import FORMAT, NewerHomeError, write_format
from context_engine.settings import Settings
from support.engine import run
from workers.broker import socket_path


def by_name(checks: list[Check]) -> Mapping[str, Check]:
    return {check.name: check for check in checks}


def test_a_fresh_home_is_well(home: Home, tmp_path: Path) -> None:
    done = run(home, "doctor", "--json", extra={"HOME": str(tmp_path)})
    found = json.loads(done.stdout)["checks"]
    assert done.returncode == 0, [check for check in found if not check["ok"]]
    assert {"home", "permissions", "broker", "sqlite", "vectors", "embedding", "disk"} <= {
        check["name"] for check in found
    }
    assert all(check.keys() == {"name", "ok", "detail", "fix"} for check in found)


def test_without_a_home_it_says_how_to_begin_and_creates_none(tmp_path: Path) -> None:
    absent = Home(tmp_path / "absent")
    done = run(absent, "doctor")
    assert done.returncode == 1
    assert "context-engine init" in done.stdout
    assert not absent.root.exists()


def test_what_is_logged_before_there_is_a_log_spoils_no_json(tmp_path: Path) -> None:
    home = Home(tmp_path / "bare")
    home.root.mkdir(mode=0o700)
    models = {"CE_EMBEDDING__MODELS_DIR": str(tmp_path / "models"), "HOME": str(tmp_path)}
    done = run(home, "doctor", "--json", extra=models)
    assert json.loads(done.stdout)["checks"]
    assert "converting embedding model" in done.stderr


def test_wrong_settings_are_a_finding(home: Home) -> None:
    home.config_file.write_text("[workers]\nmax_attempts = 99\n")
    done = run(home, "doctor", "--json")
    assert done.returncode == 1
    (check,) = json.loads(done.stdout)["checks"]
    assert "workers.max_attempts" in check["detail"]
    assert str(home.config_file) in check["fix"]


def test_permissions_that_others_could_use_are_mended_by_the_command(settings: Settings) -> None:
    settings.paths.vaults.chmod(0o755)
    found = of_home.permissions(settings)
    assert not found.ok
    assert f"only the mode of {settings.paths.root} keeps others out" in found.detail
    assert found.fix is not None
    assert os.system(found.fix) == 0  # noqa: S605 - the very command that a person would run
    assert of_home.permissions(settings).ok


def test_a_redis_that_evicts_is_found_and_mended(embedded_broker: Home) -> None:
    settings = Settings(
        home=embedded_broker.root, redis_url=f"unix://{socket_path(embedded_broker)}"
    )
    client = redis.Redis(unix_socket_path=str(socket_path(embedded_broker)))
    client.config_set("maxmemory-policy", "allkeys-lru")
    client.config_set("appendonly", "no")
    found = by_name(list(servers.broker(settings)))
    assert not found["broker-memory"].ok
    assert not found["broker-disk"].ok
    assert found["broker-disk"].fix == "redis-cli -u $CE_REDIS_URL config set appendonly yes"
    fix = "redis-cli -u $CE_REDIS_URL config set maxmemory-policy noeviction"
    assert found["broker-memory"].fix == fix
    client.config_set("maxmemory-policy", "noeviction")
    assert by_name(list(servers.broker(settings)))["broker-memory"].ok


def test_a_redis_that_is_away_is_found(settings: Settings) -> None:
    away = settings.model_copy(update={"redis_url": "redis://127.0.0.1:1/0"})
    (found,) = servers.broker(away)
    assert not found.ok


def test_a_taken_port_is_found(settings: Settings) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        taken = settings.model_copy(update={"api": settings.api.model_copy(update={"port": port})})
        assert not servers.engine(taken).ok
    assert servers.engine(taken).ok


def test_without_ollama_rules_do_unless_it_was_asked_for(settings: Settings) -> None:
    away = settings.model_copy(update={"ollama_url": "http://127.0.0.1:1"})
    (found,) = servers.ollama(away)
    assert found.ok
    assert found.fix == "ollama serve"
    asked = away.model_copy(update={"llm": away.llm.model_copy(update={"mode": "ollama"})})
    (found,) = servers.ollama(asked)
    assert not found.ok


def test_a_damaged_index_and_a_clock_that_is_behind_are_found(
    settings: Settings, tmp_path: Path
) -> None:
    (settings.paths.state / "index" / "work.db").write_bytes(b"no index" * 1000)
    settings.paths.outbox.touch()
    future = 4_000_000_000
    os.utime(settings.paths.outbox, (future, future))
    assert not machine.clock(settings).ok
    settings.paths.outbox.unlink()
    found = by_name(list(examine(settings, tmp_path)))
    assert found["index"].fix == "context-engine reindex --rebuild"


def test_claude_code_without_our_hooks_is_found(tmp_path: Path) -> None:
    assert list(of_home.assistants(tmp_path)) == []
    (tmp_path / ".claude").mkdir()
    (found,) = of_home.assistants(tmp_path)
    assert (found.ok, found.fix) == (True, "context-engine install claude-code")
    (tmp_path / ".claude.json").write_text('{"mcpServers": {"context-engine": {}}}')
    (found,) = of_home.assistants(tmp_path)
    assert (found.ok, found.fix) == (False, "context-engine install claude-code")
    (tmp_path / ".claude" / "settings.json").write_text('{"x": "/bin/context-engine hook"}')
    assert [check.ok for check in of_home.assistants(tmp_path)] == [True]


def test_an_older_program_refuses_a_newer_home(home: Home) -> None:
    write_format(home.root, FORMAT + 1)
    with pytest.raises(NewerHomeError, match="newer version"):
        home.create()
    for command in (("status",), ("up",)):
        done = run(home, *command)
        assert done.returncode == 1
        assert "upgrade this program" in done.stderr
    assert "upgrade context-engine" in run(home, "doctor").stdout

"""compose.yaml: its commands exist, its variables are settings, and its services are confined."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml

from context_engine.settings import Settings

ROOT = Path(__file__).parents[2]
SERVICES: dict[str, dict[str, Any]] = yaml.safe_load(
    (ROOT / "compose.yaml").read_text(encoding="utf-8")
)["services"]
OURS = {name: service for name, service in SERVICES.items() if "build" in service}


def test_every_part_of_the_engine_is_a_service() -> None:
    assert set(OURS) == {"worker", "extractor", "indexer", "routines", "api"}


@pytest.mark.parametrize("name", OURS)
def test_a_service_runs_a_module_that_exists_and_is_confined(name: str) -> None:
    service = OURS[name]
    for command in (service["command"], service.get("healthcheck", {}).get("test", [])):
        if "-m" in command:
            assert find_spec(command[command.index("-m") + 1]) is not None
    assert service["read_only"]
    assert service["cap_drop"] == ["ALL"]
    assert service["mem_limit"]
    assert service["pids_limit"]
    assert not str(service["user"]).startswith(("0", "root"))


@pytest.mark.parametrize("name", OURS)
def test_each_variable_is_a_setting(name: str) -> None:
    for variable in OURS[name]["environment"]:
        first, *rest = variable.removeprefix("CE_").lower().split("__")
        field = Settings.model_fields[first]
        for part in rest:
            field = type(field.default).model_fields[part]


def test_only_the_loopback_of_the_host_is_opened() -> None:
    ports = [port for service in SERVICES.values() for port in service.get("ports", [])]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_the_broker_keeps_what_it_is_given() -> None:
    command = " ".join(SERVICES["valkey"]["command"])
    assert "--appendfsync always" in command
    assert "--maxmemory-policy noeviction" in command

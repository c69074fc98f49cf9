"""Checks of what we talk to: the broker and its settings, the address of the API, Ollama."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import redis

from api.doctor.model import Check, bad, good
from context_engine.errors import ConfigError
from context_engine.settings import Settings
from workers.broker import make_client
from workers.supervisor import is_running, parts_alive

OLLAMA_NEEDED = (0, 31, 2)
"""Before it, `think: false` switched the answer's format off without a word."""
REDIS_NEEDED = 7


def engine(settings: Settings) -> Check:
    """Look whether every part of a running engine is alive, or else its address is free."""
    if is_running(settings.paths):
        dead = [part["name"] for part in parts_alive(settings.paths) if not part["alive"]]
        if dead:
            return bad("engine", f"not alive: {', '.join(dead)}", "context-engine logs --follow")
        return good("engine", "running")
    if _is_taken(settings.api.host, settings.api.port):
        said = f"another program listens on {settings.api.host}:{settings.api.port}"
        return bad("engine", said, "set [api] port in config.toml to another, or 0 for a free one")
    return good("engine", "not running", "context-engine up")


def _is_taken(host: str, port: int) -> bool:
    if port == 0:
        return False
    try:
        with socket.create_connection((host, port), timeout=2):
            return True
    except OSError:
        return False


def broker(settings: Settings) -> Iterator[Check]:
    """Look whether the broker answers and keeps what it is given."""
    if settings.redis_url is None and not is_running(settings.paths):
        yield _embedded()
        return
    try:
        client = make_client(settings)
        info = client.info()
    except (redis.RedisError, OSError, ConfigError) as error:
        yield bad("broker", str(error), _start_broker(settings))
        return
    version = str(info.get("valkey_version") or info.get("redis_version", "0"))
    if int(version.split(".", maxsplit=1)[0]) < REDIS_NEEDED:
        yield bad("broker", f"version {version}", f"use Redis {REDIS_NEEDED} or newer, or Valkey")
    else:
        yield good("broker", f"answers, version {version}")
    yield from _settings_of(settings, info)


def _embedded() -> Check:
    from workers.embedded_broker import server_binary

    try:
        server_binary()
    except ConfigError as error:
        return bad("broker", str(error), "set CE_REDIS_URL to a Redis of yours")
    return good("broker", "embedded; starts with the engine")


def _start_broker(settings: Settings) -> str:
    if settings.redis_url is None:
        return "context-engine logs --part supervisor"
    return "start that Redis, or unset CE_REDIS_URL to use the embedded one"


def _settings_of(settings: Settings, info: dict[str, object]) -> Iterator[Check]:
    command = "redis-cli"
    if settings.redis_url is not None:
        command = "redis-cli -u $CE_REDIS_URL"
    policy = str(info.get("maxmemory_policy", "noeviction"))
    if policy != "noeviction":
        fix = f"{command} config set maxmemory-policy noeviction"
        yield bad("broker-memory", f"it drops messages when full ({policy})", fix)
    else:
        yield good("broker-memory", "drops nothing when full")
    if info.get("aof_enabled") in (0, "0"):
        yield bad(
            "broker-disk",
            "it forgets messages when it stops; the outbox sends them again, which takes longer",
            f"{command} config set appendonly yes",
        )
    else:
        yield good("broker-disk", "keeps messages on disk")


def ollama(settings: Settings) -> Iterator[Check]:
    """Look whether Ollama is there, new enough, has the model, and finishes an answer."""
    if settings.llm.mode == "cues":
        yield good("ollama", "not asked for: insights come from rules")
        return
    version = _ollama_version(settings)
    if version is None:
        yield _without_ollama(settings)
        return
    if _parts(version) < OLLAMA_NEEDED:
        wanted = ".".join(map(str, OLLAMA_NEEDED))
        yield bad("ollama", f"version {version}, {wanted} is needed", "upgrade Ollama")
    else:
        yield good("ollama", f"version {version}")
    yield _model(settings)


def _without_ollama(settings: Settings) -> Check:
    said = f"nothing answers at {settings.ollama_url}"
    if settings.llm.mode == "auto":
        return good("ollama", f"{said}: insights come from rules", "ollama serve")
    return bad("ollama", said, "ollama serve")


def _model(settings: Settings) -> Check:
    from workers.extraction.client import OllamaModel

    health = OllamaModel.from_settings(settings).health(max_age=0.0)
    if health.ok:
        return good("model", f"{health.model} answered in {health.seconds:.1f} s")
    missing = "not found" in (health.reason or "")
    fix = f"ollama pull {health.model}" if missing else "ollama ps; restart Ollama when it hangs"
    return bad("model", f"{health.model}: {health.reason}", fix)


def _ollama_version(settings: Settings) -> str | None:
    import httpx

    try:
        # no proxy from the environment: the question is about this very address
        with httpx.Client(trust_env=False, timeout=5.0) as client:
            answer = client.get(f"{settings.ollama_url.rstrip('/')}/api/version").json()
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, OSError):
        return None
    version = answer.get("version") if isinstance(answer, dict) else None
    return version if isinstance(version, str) else None


def _parts(version: str) -> tuple[int, ...]:
    numbers = version.lstrip("v").split("-")[0].split(".")[:3]
    return tuple(int(part) if part.isdigit() else 0 for part in numbers)

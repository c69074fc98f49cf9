"""The dramatiq broker is built here and nowhere else."""

from __future__ import annotations

from pathlib import Path

import dramatiq
import redis
from dramatiq.brokers.redis import RedisBroker
from redis.backoff import ExponentialBackoff
from redis.retry import Retry

from context_engine.errors import ConfigError, DependencyDownError
from context_engine.home import Home
from context_engine.home_id import home_id
from context_engine.settings import Settings
from context_engine.sockets import socket_place

INGEST = "ingest"
EXTRACT = "extract"
INDEX = "index"
QUEUES = (INGEST, EXTRACT, INDEX)

_NAMESPACE = "context-engine"
MAINTENANCE_CHANCE = 100_000
"""Of a million commands: with dramatiq's default a dead worker's messages wait 8 to 11 minutes."""


def socket_path(home: Home) -> Path:
    """Return where the embedded broker listens; outside the home when its path is too long."""
    return socket_place(home, home.broker / "valkey.sock")


def namespace(settings: Settings) -> str:
    """Return what the names of this home's keys begin with: no other home reads its messages."""
    if settings.redis_namespace is not None:
        return settings.redis_namespace
    if settings.redis_url is None:
        return _NAMESPACE
    return f"{_NAMESPACE}:{home_id(settings.paths.root)}"


def make_client(settings: Settings) -> redis.Redis:
    """Return a client of the configured Redis, or of the embedded broker."""
    retry = Retry(ExponentialBackoff(cap=0.2, base=0.02), retries=2)
    if settings.redis_url is not None:
        try:
            return redis.Redis.from_url(
                settings.redis_url, socket_timeout=30, socket_connect_timeout=5, retry=retry
            )
        except ValueError as error:
            raise ConfigError(f"redis_url (CE_REDIS_URL) is no Redis address: {error}") from error
    return redis.Redis(
        unix_socket_path=str(socket_path(settings.paths)), socket_timeout=30, retry=retry
    )


def make_broker(settings: Settings) -> RedisBroker:
    """Return the broker with its queues declared, no middleware but what we need: none.

    Attempts, retries and quarantine are the outbox's business; dramatiq only transports.
    """
    broker = RedisBroker(  # type: ignore[no-untyped-call]  # dramatiq types its actors only
        client=make_client(settings),
        namespace=namespace(settings),
        middleware=[],
        maintenance_chance=MAINTENANCE_CHANCE,
        heartbeat_timeout=settings.workers.heartbeat_timeout_ms,
    )
    for queue in QUEUES:
        broker.declare_queue(queue)
    dramatiq.set_broker(broker)
    return broker


def check_broker(client: redis.Redis) -> None:
    """Raise DependencyDownError when nothing answers, ConfigError when it may drop messages."""
    try:
        client.ping()
        info = client.info("memory")
    except redis.RedisError as error:
        raise DependencyDownError("Redis", str(error)) from error
    policy = info.get("maxmemory_policy", "noeviction")
    if policy != "noeviction":
        raise ConfigError(
            f"Redis would drop messages when full (maxmemory-policy {policy}); set: "
            "maxmemory-policy noeviction"
        )


def queue_depths(client: redis.Redis, prefix: str) -> dict[str, int]:
    """Return the messages waiting on Redis below the namespace `prefix`, by queue."""
    with client.pipeline(transaction=False) as pipe:
        for queue in QUEUES:
            pipe.llen(f"{prefix}:{queue}")
        return dict(zip(QUEUES, pipe.execute(), strict=True))

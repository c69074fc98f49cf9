"""The broker's copies: messages that wait, and the file in which it keeps its commands."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from typing import Any

import redis

from api.forgetting.plan import Plan
from context_engine.settings import Settings
from workers.broker import QUEUES, make_client, namespace
from workers.supervisor import is_running

_REWRITE_SECONDS = 60.0


def purge_broker(settings: Settings, plan: Plan, *, starting: bool) -> str | None:
    """Take messages about these events out; return what could not be done, None when all was."""
    if settings.redis_url is None and (starting or not is_running(settings.paths)):
        # it only transports: what is unfinished is published again from the outbox
        shutil.rmtree(settings.paths.broker / "appendonlydir", ignore_errors=True)
        return None
    client = make_client(settings)
    try:
        for queue in QUEUES:
            _drop(client, f"{namespace(settings)}:{queue}", plan)
        return _rewrite(client)
    except (redis.RedisError, OSError) as error:
        return f"the broker does not answer, its copies stay until it is asked again ({error})"
    finally:
        client.close()


def _drop(client: redis.Redis, queue: str, plan: Plan) -> None:
    needles = [word.encode() for word in (*plan.events, *(path for _, path in plan.notes))]
    for key in (queue, f"{queue}.DQ"):
        for message_id in list(_about(client, f"{key}.msgs", needles)):
            with client.pipeline(transaction=True) as pipe:
                pipe.lrem(key, 0, message_id)
                pipe.hdel(f"{key}.msgs", message_id)
                pipe.execute()


def _about(client: redis.Redis, key: str, needles: list[bytes]) -> Iterator[Any]:
    for message_id, message in client.hscan_iter(key):
        if any(needle in message for needle in needles):
            yield message_id


def _rewrite(client: redis.Redis) -> str | None:
    """Have the file of commands written anew, which still holds what was said before."""
    info = client.info("persistence")
    if not info.get("aof_enabled"):
        return None
    client.bgrewriteaof()
    deadline = time.monotonic() + _REWRITE_SECONDS
    while time.monotonic() < deadline:
        info = client.info("persistence")
        pending = info.get("aof_rewrite_in_progress") or info.get("aof_rewrite_scheduled")
        if not pending:
            return None
        time.sleep(0.05)
    return "the broker is still writing its file anew; old copies go when it is done"

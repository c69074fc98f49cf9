"""Whether a worker of a role lives: `python -P -m workers.healthy worker`, for containers.

It looks at the lease that the kernel drops when the process dies, and asks the broker. What a
person should look at (a job in quarantine) makes no container ill.
"""

from __future__ import annotations

import sys

import redis

from context_engine.settings import Settings, load_settings
from workers import liveness
from workers.broker import make_client


def role_lives(settings: Settings, role: str) -> bool:
    """Return whether a process of `role` holds its lease and the broker answers."""
    folder = settings.paths.state / "workers"
    leases = [path.stem for path in folder.glob(f"{role}-*.lock")]
    if not any(liveness.is_alive(folder, lease) for lease in leases):
        return False
    client = make_client(settings)
    try:
        return bool(client.ping())
    except (redis.RedisError, OSError):
        return False
    finally:
        client.close()


if __name__ == "__main__":
    sys.exit(0 if role_lives(load_settings(), sys.argv[1]) else 1)

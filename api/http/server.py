"""Binding, running and ending the HTTP server."""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from types import FrameType

import uvicorn

from api.address import Address, address_file
from api.http.app import create_app
from api.notify import OutboxNotifier
from api.services import Notify
from context_engine.errors import ConfigError
from context_engine.home import Home
from context_engine.logs import get_logger
from context_engine.settings import ApiSettings, Settings
from vault.store import rewrite

STOP_SECONDS = 5
"""How long a running request may take once the server is told to stop."""
MAX_CONNECTIONS = 200

log = get_logger(__name__)


def serve(settings: Settings, *, notify: Notify | None = None) -> None:
    """Serve until SIGTERM or SIGINT; finish running requests first.

    Once requests are taken, `state/api.json` says where: host, port, pid. `notify` is told about
    each note that a client saved; without it the indexer is, through the outbox.
    Raises ConfigError when the address cannot be bound.
    """
    settings.paths.create()
    listener = bind(settings.api)
    host, port = listener.getsockname()[:2]
    stopping = threading.Event()
    server = _Server(
        uvicorn.Config(
            create_app(
                settings,
                port=port,
                notify=notify or OutboxNotifier(settings),
                stopping=stopping,
            ),
            lifespan="on",
            proxy_headers=False,  # X-Forwarded-* is whatever the caller writes
            server_header=False,
            ws="none",
            access_log=False,  # the audit log is ours
            log_config=None,
            limit_concurrency=MAX_CONNECTIONS,
            timeout_graceful_shutdown=STOP_SECONDS,
        ),
        settings.paths,
        Address(host, port, os.getpid()),
        stopping,
    )
    with _quiet_signals(), _announced(settings.paths):
        server.run(sockets=[listener])


def bind(api: ApiSettings) -> socket.socket:
    """Return a bound socket.

    Raises ConfigError saying what to change.
    """
    try:
        return _bound(api)
    except OSError as error:
        raise ConfigError(
            f"cannot listen on {api.host}:{api.port} ({error.strerror}); choose another with "
            "[api] host and port in config.toml"
        ) from error


def _bound(api: ApiSettings) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(
        api.host, api.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError:
        listener.close()
        raise
    return listener


class _Server(uvicorn.Server):
    def __init__(
        self,
        config: uvicorn.Config,
        home: Home,
        address: Address,
        stopping: threading.Event,
    ) -> None:
        super().__init__(config)
        self._home = home
        self._address = address
        self._stopping = stopping

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End what would go on for ever, then everything."""
        self._stopping.set()
        super().handle_exit(sig, frame)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to take requests, then say where."""
        await super().startup(sockets)
        if self.started:
            data = json.dumps(asdict(self._address)).encode()
            rewrite(self._home.state, address_file(self._home).name, lambda _: (data, None))
            log.info("api_ready", **asdict(self._address))


@contextmanager
def _announced(home: Home) -> Iterator[None]:
    try:
        yield
    finally:
        with suppress(FileNotFoundError):
            address_file(home).unlink()


@contextmanager
def _quiet_signals() -> Iterator[None]:
    """Let uvicorn end on a signal without dying of it: it raises the signal again afterwards."""
    numbers = (signal.SIGTERM, signal.SIGINT)
    before = {number: signal.signal(number, lambda *_: None) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

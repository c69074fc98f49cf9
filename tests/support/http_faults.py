"""What goes wrong between us and a service, done by a real server to real clients."""

from __future__ import annotations

import json
import socket
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


@dataclass(frozen=True)
class Fault:
    """An answer that is none. half: the connection is cut in the middle of the right answer."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b'{"ok": false}'
    half: bool = False


class Faults:
    """Faults to come, by the path's end that they wait for; each happens once."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[str, Fault]] = deque()

    def add(self, path_end: str, *faults: Fault) -> None:
        self._waiting.extend((path_end, fault) for fault in faults)

    def take(self, path: str) -> Fault | None:
        for item in self._waiting:
            if path.endswith(item[0]):
                self._waiting.remove(item)
                return item[1]
        return None

    @property
    def left(self) -> int:
        return len(self._waiting)


def send(
    handler: BaseHTTPRequestHandler,
    status: int,
    value: Any,
    headers: Mapping[str, str] | None = None,
    *,
    half: bool = False,
) -> None:
    """Answer with JSON, or with the first half of it and a closed connection."""
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    handler.send_response(status)
    for name, text in {"Content-Type": "application/json", **(headers or {})}.items():
        handler.send_header(name, text)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body[: len(body) // 2] if half else body)
    if half:
        handler.wfile.flush()
        handler.connection.shutdown(socket.SHUT_RDWR)
        handler.close_connection = True


class QuietHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # head and body go out apart: the second would wait 40 ms for the first to be acknowledged
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base's name
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: clients that leave are part of the tests."""


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[int]:
    """Serve on a free port of this machine; gives the port."""
    server = _Server(("127.0.0.1", 0), handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

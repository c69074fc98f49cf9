"""A server on a real socket that speaks Ollama's protocol, or breaks it the way a script says."""

from __future__ import annotations

import json
import socket
import socketserver
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Wire:
    """One request and the connection it came by."""

    connection: socket.socket
    request: Mapping[str, Any]
    stopped: threading.Event

    def send(self, data: bytes) -> bool:
        """Send; False when the client has gone."""
        try:
            self.connection.sendall(data)
        except OSError:
            return False
        return not self.stopped.is_set()

    def head(self, status: str = "200 OK", kind: str = "application/x-ndjson") -> bool:
        """Send a head that announces a body until the connection closes."""
        return self.send(
            f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nConnection: close\r\n\r\n".encode()
        )

    def part(self, content: str, **more: Any) -> bool:
        """Send one line of a streamed chat."""
        part = {
            "model": self.request.get("model"),
            "created_at": "2026-01-01T00:00:00Z",
            "message": {"role": "assistant", "content": content},
            "done": False,
        } | more
        return self.send(json.dumps(part, ensure_ascii=False).encode() + b"\n")

    def done(self, **more: Any) -> bool:
        """Send the last line of a streamed chat."""
        counts = {"done": True, "done_reason": "stop", "prompt_eval_count": 900, "eval_count": 20}
        return self.part("", **(counts | more))

    def reset(self) -> None:
        """Close with RST instead of FIN."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def wait(self, seconds: float) -> bool:
        """Wait; True when the test is over."""
        return self.stopped.wait(seconds)


Script = Callable[[Wire], None]


@dataclass
class FaultyOllama:
    """A running server: its address and the chats it was asked."""

    url: str
    requests: list[Mapping[str, Any]] = field(default_factory=list)


class _Handler(socketserver.BaseRequestHandler):
    server: _Server

    def handle(self) -> None:
        request = self._read()
        if request is None:
            return
        self.server.state.requests.append(request)
        try:
            self.server.script(Wire(self.request, request, self.server.stopped))
        except OSError:
            # the client hung up, as most of these tests want it to
            return

    def _read(self) -> Mapping[str, Any] | None:
        data = b""
        while b"\r\n\r\n" not in data:
            chunk = self.request.recv(65_536)
            if not chunk:
                return None
            data += chunk
        head, _, body = data.partition(b"\r\n\r\n")
        length = next(
            int(line.split(b":")[1])
            for line in head.lower().split(b"\r\n")
            if line.startswith(b"content-length:")
        )
        while len(body) < length:
            body += self.request.recv(65_536)
        request: Mapping[str, Any] = json.loads(body)
        return request


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    block_on_close = True
    allow_reuse_address = True

    def __init__(self, script: Script) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = script
        self.stopped = threading.Event()
        self.state = FaultyOllama(f"http://127.0.0.1:{self.server_address[1]}")


@contextmanager
def faulty_ollama(script: Script) -> Iterator[FaultyOllama]:
    """Serve `script` on a port of its own until the block ends."""
    with _Server(script) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield server.state
        finally:
            server.stopped.set()
            server.shutdown()
            thread.join()


def is_health_check(wire: Wire) -> bool:
    """Tell a one-token generation from a real question."""
    return bool(wire.request["options"]["num_predict"] == 1)


def answering(content: str, **last: Any) -> Script:
    """Return a script that answers each chat with `content` in a few parts."""

    def script(wire: Wire) -> None:
        wire.head()
        for start in range(0, len(content), 40):
            wire.part(content[start : start + 40])
        wire.done(**last)

    return script


def healthy_but(fault: Script) -> Script:
    """Return a script that passes health checks and shows `fault` otherwise."""

    def script(wire: Wire) -> None:
        answering("ok")(wire) if is_health_check(wire) else fault(wire)

    return script


def hang(wire: Wire) -> None:
    """Accept and never say a word."""
    wire.wait(60)


def drip(wire: Wire) -> None:
    """Send one byte after another, too slowly to end and too often for a read timeout."""
    wire.head()
    for char in json.dumps({"message": {"content": "x" * 10_000}}):
        if not wire.send(char.encode()) or wire.wait(0.05):
            return


def drip_headers(wire: Wire) -> None:
    """The same, within the headers."""
    wire.send(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while wire.send(b"x") and not wire.wait(0.05):
        pass


def endless_output(wire: Wire) -> None:
    """Talk on without regard for num_predict, never twice the same."""
    wire.head()
    number = 0
    while wire.part(f"word{number} "):
        number += 1


def endless_repetition(wire: Wire) -> None:
    """Say one thing over and over."""
    wire.head()
    wire.part('{"insights": [')
    while wire.part('{"kind": "value"}, '):
        pass


def endless_line(wire: Wire) -> None:
    """Send one line that never ends."""
    wire.head()
    while wire.send(b"x" * 65_536):
        pass


def refusing(status: str, message: str) -> Script:
    """Return a script that answers with an error status."""

    def script(wire: Wire) -> None:
        wire.head(status, "application/json; charset=utf-8")
        wire.send(json.dumps({"error": message}).encode())

    return script


def error_in_body(wire: Wire) -> None:
    """Status 200, and an error where the answer should be."""
    wire.head(kind="application/json")
    wire.send(b'{"error": "something went wrong"}\n')


def error_midway(wire: Wire) -> None:
    """Begin to answer, then report an error on a line of its own."""
    wire.head()
    wire.part('{"insights": ')
    wire.send(b'{"error": "llama runner process has terminated: signal: killed"}\n')


def reset_midway(wire: Wire) -> None:
    """Begin to answer, then reset the connection."""
    wire.head()
    wire.part('{"insights": ')
    wire.reset()


def stop_midway(wire: Wire) -> None:
    """Begin to answer, then close as if all were said."""
    wire.head()
    wire.part('{"insights": [')


def web_page(wire: Wire) -> None:
    """Answer as some other server on this port would."""
    wire.head(kind="text/html")
    wire.send(b"<html><body>It works!</body></html>")


def no_json(wire: Wire) -> None:
    """Send lines that are no JSON."""
    wire.head()
    wire.send(b"data: hello\n")


def deep_json(wire: Wire) -> None:
    """Send a line nested deeper than any parser goes."""
    wire.head()
    wire.send(b"[" * 200_000 + b"\n")

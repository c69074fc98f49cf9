"""Ollama's embedding protocol on a real socket, over vectors made from the texts' characters."""

from __future__ import annotations

import json
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "invented-embed"
DIMENSION = 48
DIGEST = "0a1b2c3d" * 8

Fault = Callable[["Handler", Mapping[str, Any]], None]


@dataclass
class EmbeddingServer:
    """A running server: its address, what it was asked, and how it misbehaves."""

    url: str
    inputs: list[list[str]] = field(default_factory=list)
    digest: str = DIGEST
    fault: Fault | None = None
    over: threading.Event = field(default_factory=threading.Event)


def vector(text: str) -> list[float]:
    """Count the character pairs of `text`; not of unit length."""
    row = [0.0] * DIMENSION
    for pair in zip(text, text[1:] + " ", strict=True):
        row[zlib.crc32("".join(pair).encode()) % DIMENSION] += 3.0
    return row


class Handler(BaseHTTPRequestHandler):
    """GET /api/tags and POST /api/embed."""

    state: EmbeddingServer

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """List the one model."""
        self.reply({"models": [{"model": f"{MODEL}:latest", "digest": self.state.digest}]})

    def do_POST(self) -> None:
        """Embed, or do what the fault says."""
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.state.inputs.append(request["input"])
        if self.state.fault is not None:
            self.state.fault(self, request)
        elif request["model"] != MODEL:
            self.reply({"error": f'model "{request["model"]}" not found'}, 404)
        else:
            rows = [vector(text) for text in request["input"]]
            self.reply({"model": MODEL, "embeddings": rows})

    def reply(self, body: Mapping[str, Any], status: int = 200) -> None:
        """Send one JSON reply."""
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def embedding_server() -> Iterator[EmbeddingServer]:
    """Serve on a port of its own until the block ends."""

    class Bound(Handler):
        pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Bound) as server:
        Bound.state = EmbeddingServer(f"http://127.0.0.1:{server.server_address[1]}")
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield Bound.state
        finally:
            Bound.state.over.set()
            server.shutdown()
            thread.join()

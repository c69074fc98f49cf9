"""A loopback stand-in for the APIs of the models behind Claude Code and Gemini CLI.

It says one sentence, whatever it is asked.

It keeps what it was asked, which is all that a test wants to know of it.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SAID = "Noted."
_MESSAGE: dict[str, Any] = {
    "id": "msg_stub",
    "type": "message",
    "role": "assistant",
    "model": "stub",
    "content": [],
    "stop_reason": None,
    "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 1},
}
_EVENTS: tuple[dict[str, Any], ...] = (
    {"type": "message_start", "message": _MESSAGE},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": SAID}},
    {"type": "content_block_stop", "index": 0},
    {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn", "stop_sequence": None},
        "usage": {"output_tokens": 1},
    },
    {"type": "message_stop"},
)
_STREAM = "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in _EVENTS).encode()


_CANDIDATE = {
    "content": {"role": "model", "parts": [{"text": SAID}]},
    "finishReason": "STOP",
    "index": 0,
}
_USAGE = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
_GENERATED = json.dumps({"candidates": [_CANDIDATE], "usageMetadata": _USAGE})

_STREAMS = {"messages": _STREAM, "streamGenerateContent": f"data: {_GENERATED}\n\n".encode()}
"""The end of a path → what is answered there."""


class ModelApi:
    """What was asked so far."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.asked: list[dict[str, Any]] = []

    def texts(self) -> str:
        """Return all text of all conversations that were sent."""
        return "\n".join(_texts(self.asked))

    def tools(self) -> set[str]:
        """Return the names of all tools that were offered to the model."""
        return {tool["name"] for request in self.asked for tool in request.get("tools", ())}


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)


@contextlib.contextmanager
def model_api() -> Iterator[ModelApi]:
    """Serve on a free port while the block runs."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    api = ModelApi(f"http://127.0.0.1:{server.server_port}")
    server.RequestHandlerClass = _handler(api)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield api
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(api: ModelApi) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            stream = _STREAMS.get(self.path.split("?")[0].rpartition("/")[2].rpartition(":")[2])
            if stream is None:
                self._reply(200, "application/json", b'{"input_tokens": 1}')
                return
            api.asked.append(json.loads(body))
            self._reply(200, "text/event-stream", stream)

        def do_GET(self) -> None:
            self._reply(404, "application/json", b"{}")

        def do_HEAD(self) -> None:
            self._reply(200, "application/json", b"")

        def log_message(self, *_: Any) -> None:
            pass

        def _reply(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return Handler

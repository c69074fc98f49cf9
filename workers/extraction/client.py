"""The model behind Ollama's API: one bounded call, every fault under its name.

The request goes through the `ollama` client's own connection instead of its `chat()`, because that
cannot say `truncate` and `shift`: without them a server drops the oldest text without a word.
It runs on an event loop of its own, so that one timeout covers whatever the server does: a hang
before the headers, one byte a second, an answer without end.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from context_engine.clock import Clock, SystemClock
from context_engine.errors import (
    ConfigError,
    ContextEngineError,
    DeadlineExceededError,
    DependencyDownError,
    LLMOutputError,
)
from context_engine.metrics import count, observe
from context_engine.settings import Settings
from workers.extraction.outcomes import Outcome
from workers.extraction.protocol import ChatMessage, Ended, Health, Reply
from workers.extraction.tokens import least_tokens
from workers.extraction.wire import TAIL, lines, parse_line, repeats_without_end

_CONNECT_SECONDS = 5.0
_HEALTH_SECONDS = 60.0
"""A cold start loads gigabytes; a dead runner never answers."""
_ERROR_BYTES = 64_000
_CHARS_PER_TOKEN = 16
_LOOK_EVERY = 32
_NOT_FOUND = 404
_DOWN = frozenset({401, 403, 404, 408, 429, 502, 503, 504})
_OVERFLOW = ("context length", "context size", "exceeds the context", "exceed_context_size")


def _refusal(status: int, message: str, model: str) -> ContextEngineError:
    text = " ".join(message.split())[:300] or f"status {status}"
    if any(sign in text.lower() for sign in _OVERFLOW):
        return LLMOutputError(Outcome.CONTEXT_OVERFLOW, text)
    if status == _NOT_FOUND or ("model" in text and "not found" in text):
        return DependencyDownError(
            "ollama", f"{text} (status {status}); fetch the model with: ollama pull {model}"
        )
    if status in _DOWN or 300 <= status < 400:  # noqa: PLR2004 -- the class of redirects
        return DependencyDownError("ollama", f"status {status}: {text}")
    return LLMOutputError(Outcome.SERVER_ERROR, f"status {status}: {text}")


def _same_model(asked: str, answered: str) -> bool:
    def full(name: str) -> str:
        return (name if ":" in name.rsplit("/", 1)[-1] else f"{name}:latest").lower()

    return full(asked) == full(answered)


def _count(reply: Reply) -> None:
    count("llm_tokens_total", reply.prompt_tokens or 0, direction="read")
    count("llm_tokens_total", reply.output_tokens or 0, direction="written")
    observe("llm_seconds", reply.seconds)


@dataclass
class _Answer:
    """A reply while it streams in."""

    model: str
    limit: int
    pieces: list[str] = field(default_factory=list)
    size: int = 0
    last: Mapping[str, Any] = field(default_factory=dict)
    ended: Ended | None = None

    def add(self, part: Mapping[str, Any]) -> None:
        """Take one part in; sets `ended` when nothing more is wanted."""
        answered = part.get("model")
        if isinstance(answered, str) and answered and not _same_model(self.model, answered):
            raise LLMOutputError(
                Outcome.WRONG_MODEL, f"asked {self.model}, {answered[:80]!r} answered"
            )
        message = part.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, str):
            self.pieces.append(content)
            self.size += len(content)
        if part.get("done") is True:
            self.last = part
            self.ended = "length" if part.get("done_reason") == "length" else "stop"
        elif self.size > self.limit or len(self.pieces) % _LOOK_EVERY == 0:
            self._look_for_an_end()

    def _look_for_an_end(self) -> None:
        if repeats_without_end("".join(self.pieces[-TAIL:])):
            self.ended = "repetition"
        elif self.size > self.limit:
            self.ended = "too_large"

    def count(self, key: str) -> int | None:
        """Return a token count of the last part; None when the server gives none."""
        value = self.last.get(key)
        return value if isinstance(value, int) and value > 0 else None


@dataclass
class OllamaModel:
    """One model of one Ollama server; safe to share between threads."""

    url: str
    model: str
    num_ctx: int = 8192
    num_predict: int = 1536
    deadline_seconds: float = 180.0
    keep_alive: str = "10m"
    clock: Clock = field(default_factory=SystemClock)
    _health: Health | None = field(default=None, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def __post_init__(self) -> None:
        # an answer may take a quarter of the context at most, or no room is left to read
        self.num_predict = min(self.num_predict, self.num_ctx // 4)

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """Return the model that the settings name."""
        llm = settings.llm
        return cls(
            url=settings.ollama_url,
            model=llm.model,
            num_ctx=llm.num_ctx,
            num_predict=llm.num_predict,
            deadline_seconds=llm.deadline_seconds,
            keep_alive=llm.keep_alive,
        )

    def chat(self, messages: Sequence[ChatMessage], schema: Mapping[str, Any]) -> Reply:
        """Return one JSON reply; see `ChatModel.chat` for what it raises."""
        body = self._body(messages, self.num_predict) | {"format": dict(schema)}
        reply = self._call(body, self.deadline_seconds)
        _count(reply)
        self._check_overflow(messages, reply)
        return reply

    def health(self, *, max_age: float = 30.0) -> Health:
        """Return the result of a real one-token generation not older than `max_age` seconds."""
        with self._lock:
            now = self.clock.now()
            if self._health is None or self._health.age_seconds(now) >= max_age:
                self._health = self._generate_one_token()
            return self._health

    def _generate_one_token(self) -> Health:
        started = time.monotonic()
        reason: str | None = None
        try:
            reply = self._call(
                self._body([{"role": "user", "content": "Say ok."}], 1),
                min(self.deadline_seconds, _HEALTH_SECONDS),
            )
            if not (reply.output_tokens or reply.text):
                reason = "the model answered without generating anything"
        except ContextEngineError as error:
            reason = str(error)
        return Health(
            ok=reason is None,
            model=self.model,
            checked=self.clock.now(),
            seconds=time.monotonic() - started,
            reason=reason,
        )

    def _body(self, messages: Sequence[ChatMessage], num_predict: int) -> dict[str, Any]:
        return {
            "model": self.model,
            "messages": [
                # half a surrogate pair cannot be sent
                {**message, "content": message["content"].encode("utf-8", "replace").decode()}
                for message in messages
            ],
            "stream": True,
            "think": False,
            "truncate": False,
            "shift": False,
            "keep_alive": self.keep_alive,
            "options": {
                # another num_ctx makes the server load the model again: the same one always
                "num_ctx": self.num_ctx,
                "num_predict": num_predict,
                "temperature": 0,
                "seed": 0,
            },
        }

    def _check_overflow(self, messages: Sequence[ChatMessage], reply: Reply) -> None:
        read = reply.prompt_tokens
        if read is None:
            return
        # only the last message: some servers do not count a prefix that they had cached
        least = least_tokens(messages[-1]["content"])
        if read >= self.num_ctx or read < least:
            raise LLMOutputError(
                Outcome.CONTEXT_OVERFLOW,
                f"the server read {read} tokens of a prompt of at least {least} "
                f"(num_ctx {self.num_ctx})",
            )

    def _call(self, body: Mapping[str, Any], deadline: float) -> Reply:
        # the first import takes a second or two, which is not the server's fault
        import ollama  # noqa: F401 - paid before the clock starts

        started = time.monotonic()

        async def bounded() -> _Answer:
            async with asyncio.timeout(deadline):
                return await self._exchange(body, deadline)

        try:
            answer = asyncio.run(bounded())
        except TimeoutError as error:
            raise DeadlineExceededError(f"ollama ({self.model})", deadline) from error
        if answer.ended is None:
            raise LLMOutputError(Outcome.SERVER_ERROR, "the reply stopped before it was done")
        return Reply(
            text="".join(answer.pieces),
            model=self.model,
            ended=answer.ended,
            prompt_tokens=answer.count("prompt_eval_count"),
            output_tokens=answer.count("eval_count"),
            seconds=time.monotonic() - started,
        )

    async def _exchange(self, body: Mapping[str, Any], deadline: float) -> _Answer:
        import httpx

        try:
            return await self._stream(body, deadline)
        except httpx.TimeoutException as error:
            if isinstance(error, httpx.ConnectTimeout):
                raise self._unreachable(error) from error
            raise TimeoutError from error
        except httpx.TransportError as error:
            raise self._unreachable(error) from error
        except (httpx.InvalidURL, ValueError) as error:
            raise ConfigError(f"ollama_url {self.url!r} is no usable address: {error}") from error

    def _unreachable(self, error: Exception) -> DependencyDownError:
        detail = str(error) or type(error).__name__
        return DependencyDownError("ollama", f"{detail} at {self.url}; start it with: ollama serve")

    async def _stream(self, body: Mapping[str, Any], deadline: float) -> _Answer:
        import httpx
        import ollama

        timeout = httpx.Timeout(deadline, connect=min(deadline, _CONNECT_SECONDS))
        # text must reach this host and no other: no proxy from the environment, no redirect;
        # and no compression, so that the bounds on size hold for what is in memory
        client = ollama.AsyncClient(
            host=self.url,
            timeout=timeout,
            trust_env=False,
            follow_redirects=False,
            headers={"Accept-Encoding": "identity"},
        )
        http: httpx.AsyncClient = client._client  # noqa: SLF001 -- see the module's docstring
        async with http, http.stream("POST", "/api/chat", json=dict(body)) as response:
            await self._check_status(response)
            answer = _Answer(self.model, int(body["options"]["num_predict"]) * _CHARS_PER_TOKEN)
            async for part in _parts(response.aiter_raw(), self.model):
                answer.add(part)
                if answer.ended is not None:
                    break
            return answer

    async def _check_status(self, response: Any) -> None:
        if response.status_code != 200:  # noqa: PLR2004 -- the one good status
            raise _refusal(response.status_code, await _error_text(response), self.model)
        kind = response.headers.get("content-type", "")
        if kind and "json" not in kind.lower():
            raise DependencyDownError(
                "ollama", f"something else answers at {self.url} (content type {kind[:80]!r})"
            )


async def _parts(chunks: AsyncIterator[bytes], model: str) -> AsyncIterator[dict[str, Any]]:
    async for line in lines(chunks):
        part = parse_line(line)
        if part.get("error"):
            raise _refusal(200, str(part["error"]), model)
        yield part


async def _error_text(response: Any) -> str:
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > _ERROR_BYTES:
            break
    text = body.decode("utf-8", "replace")
    try:
        return str(parse_line(bytes(body)).get("error") or text)
    except LLMOutputError:
        return text

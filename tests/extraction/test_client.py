"""The real client over a real socket: each fault ends under its name, within the deadline."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest

from context_engine.clock import ManualClock
from context_engine.errors import (
    ConfigError,
    DeadlineExceededError,
    DependencyDownError,
    LLMOutputError,
)
from context_engine.settings import Settings
from support import ollama_faults as faults
from workers.extraction.client import OllamaModel
from workers.extraction.outcomes import Outcome
from workers.extraction.protocol import ChatMessage, Reply
from workers.extraction.schema import SCHEMA

QUESTION: list[ChatMessage] = [{"role": "user", "content": "Note down the insights."}]
DEADLINE = 1.0
GRACE = 1.5


def model(url: str, **more: float) -> OllamaModel:
    return OllamaModel(
        url=url,
        model="tiny",
        num_ctx=2048,
        num_predict=64,
        deadline_seconds=more.get("deadline", DEADLINE),
    )


def ask(script: faults.Script) -> Reply:
    with faults.faulty_ollama(script) as server:
        return model(server.url).chat(QUESTION, SCHEMA)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    started = time.monotonic()
    yield
    assert time.monotonic() - started < seconds


def test_a_chat_sends_schema_limits_and_no_truncation() -> None:
    with faults.faulty_ollama(faults.answering('{"insights": []}')) as server:
        reply = model(server.url).chat(QUESTION, SCHEMA)
    (request,) = server.requests
    assert reply.text == '{"insights": []}'
    assert (reply.ended, reply.prompt_tokens, reply.output_tokens) == ("stop", 900, 20)
    assert request["format"] == SCHEMA
    assert request["think"] is False
    assert (request["truncate"], request["shift"]) == (False, False)
    assert request["options"] == {"num_ctx": 2048, "num_predict": 64, "temperature": 0, "seed": 0}
    assert request["keep_alive"] == "10m"


@pytest.mark.parametrize("script", [faults.hang, faults.drip, faults.drip_headers])
def test_a_server_that_never_finishes_ends_at_the_deadline(script: faults.Script) -> None:
    with within(DEADLINE + GRACE), pytest.raises(DeadlineExceededError):
        ask(script)


@pytest.mark.parametrize(
    ("script", "ended"),
    [(faults.endless_output, "too_large"), (faults.endless_repetition, "repetition")],
)
def test_an_answer_without_end_is_cut(script: faults.Script, ended: str) -> None:
    with within(DEADLINE + GRACE):
        assert ask(script).ended == ended


def test_a_truncated_answer_says_so() -> None:
    reply = ask(faults.answering('{"insights": [', done_reason="length"))
    assert reply.ended == "length"


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        (faults.endless_line, Outcome.TOO_LARGE),
        (faults.error_in_body, Outcome.SERVER_ERROR),
        (faults.error_midway, Outcome.SERVER_ERROR),
        (faults.stop_midway, Outcome.SERVER_ERROR),
        (faults.no_json, Outcome.SERVER_ERROR),
        (faults.deep_json, Outcome.SERVER_ERROR),
        (faults.refusing("500 Internal Server Error", "oops"), Outcome.SERVER_ERROR),
        (
            faults.refusing("400 Bad Request", "the input length exceeds the context length"),
            Outcome.CONTEXT_OVERFLOW,
        ),
        (faults.answering("{}", model="other:7b"), Outcome.WRONG_MODEL),
        (faults.answering("{}", prompt_eval_count=2048), Outcome.CONTEXT_OVERFLOW),
    ],
)
def test_a_faulty_reply_has_a_named_outcome(script: faults.Script, outcome: Outcome) -> None:
    with within(DEADLINE + GRACE), pytest.raises(LLMOutputError) as caught:
        ask(script)
    assert caught.value.outcome == outcome


@pytest.mark.parametrize(
    ("script", "advice"),
    [
        (faults.refusing("404 Not Found", 'model "tiny" not found'), "ollama pull tiny"),
        (faults.refusing("503 Service Unavailable", "server busy"), "server busy"),
        (faults.refusing("401 Unauthorized", "unauthorized"), "unauthorized"),
        (faults.refusing("302 Found", ""), "302"),
        (faults.web_page, "something else answers"),
        (faults.Wire.reset, "ollama serve"),
        (faults.reset_midway, "ollama serve"),
    ],
)
def test_a_model_that_is_not_there_is_a_dependency_down(script: faults.Script, advice: str) -> None:
    with within(DEADLINE + GRACE), pytest.raises(DependencyDownError, match=advice):
        ask(script)


def test_a_server_that_dropped_the_oldest_text_is_found_out() -> None:
    long: list[ChatMessage] = [{"role": "user", "content": "あいうえお、かきくけこ。" * 200}]
    with (
        faults.faulty_ollama(faults.answering("{}", prompt_eval_count=300)) as server,
        pytest.raises(LLMOutputError) as caught,
    ):
        model(server.url).chat(long, SCHEMA)
    assert caught.value.outcome == Outcome.CONTEXT_OVERFLOW


def test_nobody_at_the_port_is_a_dependency_down() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(DependencyDownError, match="ollama serve"):
        model(f"http://127.0.0.1:{port}").chat(QUESTION, SCHEMA)


def test_an_address_that_is_none_is_a_setting_to_mend() -> None:
    with pytest.raises(ConfigError, match="ollama_url"):
        model("http://localhost:port").chat(QUESTION, SCHEMA)


def test_text_with_half_a_surrogate_pair_is_sent() -> None:
    with faults.faulty_ollama(faults.answering("{}")) as server:
        model(server.url).chat([{"role": "user", "content": "a\ud800b"}], SCHEMA)
    assert server.requests[0]["messages"][0]["content"] == "a?b"


def test_no_proxy_and_no_redirect_sees_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    with faults.faulty_ollama(faults.answering("{}")) as thief:
        monkeypatch.setenv("HTTP_PROXY", thief.url)
        monkeypatch.setenv("http_proxy", thief.url)

        def redirecting(wire: faults.Wire) -> None:
            wire.send(
                f"HTTP/1.1 307 Moved\r\nLocation: {thief.url}/api/chat\r\n"
                "Content-Length: 0\r\nConnection: close\r\n\r\n".encode()
            )

        with pytest.raises(DependencyDownError):
            ask(redirecting)
        assert thief.requests == []


def test_health_is_a_generation_and_is_remembered_for_a_while() -> None:
    clock = ManualClock(datetime(2026, 1, 1, tzinfo=UTC))
    with faults.faulty_ollama(faults.answering("ok")) as server:
        llm = OllamaModel(server.url, "tiny", deadline_seconds=DEADLINE, clock=clock)
        first = llm.health()
        clock.advance(20)
        assert llm.health() is first
        assert first.age_seconds(clock.now()) == 20
        clock.advance(20)
        assert llm.health().checked == clock.now()
    assert first.ok
    assert [request["options"]["num_predict"] for request in server.requests] == [1, 1]
    assert {request["options"]["num_ctx"] for request in server.requests} == {8192}


def test_a_port_that_is_open_and_dead_is_not_healthy() -> None:
    with faults.faulty_ollama(faults.hang) as server, within(DEADLINE + GRACE):
        health = model(server.url).health()
    assert not health.ok
    assert health.reason is not None
    assert "did not finish" in health.reason


def test_a_missing_model_is_not_healthy_and_says_what_to_do() -> None:
    with faults.faulty_ollama(faults.refusing("404 Not Found", "model not found")) as server:
        health = model(server.url).health()
    assert "ollama pull tiny" in (health.reason or "")


def test_threads_that_ask_for_health_together_cause_one_generation() -> None:
    with faults.faulty_ollama(faults.answering("ok")) as server:
        llm = model(server.url)
        threads = [threading.Thread(target=llm.health) for _ in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(server.requests) == 1


def test_the_client_hangs_up_when_it_has_enough() -> None:
    gone = threading.Event()

    def watched(wire: faults.Wire) -> None:
        faults.endless_output(wire)
        gone.set()

    with faults.faulty_ollama(watched) as server:
        model(server.url).chat(QUESTION, SCHEMA)
        assert gone.wait(5)


def test_the_settings_name_the_model() -> None:
    llm = OllamaModel.from_settings(Settings(ollama_url="http://127.0.0.1:1"))
    assert (llm.model, llm.num_ctx, llm.url) == ("qwen3.5:9b", 8192, "http://127.0.0.1:1")


def test_an_answer_never_takes_more_than_a_quarter_of_the_context() -> None:
    assert OllamaModel("http://x", "tiny", num_ctx=2048, num_predict=1536).num_predict == 512

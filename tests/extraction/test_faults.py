"""The whole pipeline against a faulty server: each fault ends in a counted outcome, in time."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from context_engine.errors import DependencyDownError
from context_engine.insights import Confidence, Kind
from support import ollama_faults as faults
from support.conversations import context, owner
from workers.extraction.client import OllamaModel
from workers.extraction.extract import ExtractionResult, extract, extract_with_model
from workers.extraction.outcomes import Outcome
from workers.extraction.schema import SCHEMA

SAID = "じゃあValkeyにする。RabbitMQは二人では面倒を見きれない。"
DEADLINE = 1.0


def item(**more: Any) -> dict[str, Any]:
    proposed = {
        "kind": "decision",
        "quote": "じゃあValkeyにする。",
        "title": "キューはValkey",
        "content": "キューはValkeyにする。",
        "stated": True,
    }
    return proposed | more


def insights(*items: Any) -> str:
    return json.dumps({"insights": list(items)}, ensure_ascii=False)


def run(script: faults.Script, *texts: str) -> ExtractionResult:
    with faults.faulty_ollama(script) as server:
        llm = OllamaModel(server.url, "tiny", num_ctx=4096, deadline_seconds=DEADLINE)
        return extract(owner(*(texts or (SAID,))), context(), llm)


def test_a_true_quotation_of_the_owner_is_validated() -> None:
    result = run(faults.answering(insights(item())))
    (insight,) = result.insights
    assert (insight.kind, insight.confidence) == (Kind.DECISION, Confidence.VALIDATED)
    assert insight.evidence == "じゃあValkeyにする。"
    assert insight.extractor == "ollama:tiny"
    assert insight.verified == insight.created
    assert result.outcomes == {"accepted": 1}
    assert result.complete


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ("This is no JSON at all.", Outcome.BAD_JSON),
        ('{"insights": [{"kind": "decision", "quo', Outcome.BAD_JSON),
        (json.dumps(dict(SCHEMA)), Outcome.ECHOED_SCHEMA),
        (insights(item(quote="I never said this sentence.")), Outcome.UNVERIFIED_QUOTE),
        (insights(item(quote="。")), Outcome.UNVERIFIED_QUOTE),
        (insights(item(kind="gossip")), Outcome.OUT_OF_SCHEMA),
        (insights(item(quote=7)), Outcome.OUT_OF_SCHEMA),
        ('{"answer": 42}', Outcome.BAD_JSON),
        ('{"insights": "none"}', Outcome.OUT_OF_SCHEMA),
        (insights(), Outcome.EMPTY),
    ],
)
def test_a_useless_answer_is_counted_and_yields_nothing(reply: str, outcome: Outcome) -> None:
    result = run(faults.answering(reply))
    assert result.insights == ()
    assert result.outcomes == {outcome: 1}


@pytest.mark.parametrize(
    "reply",
    [
        "<think>The owner says {something}.</think>\n" + insights(item()),
        "The user wants JSON.\n</think>" + insights(item()),
        "```json\n" + insights(item()) + "\n```",
        "Here you go: " + insights(item()) + " Anything else?",
        json.dumps([item()]),
    ],
)
def test_what_surrounds_the_json_is_left_aside(reply: str) -> None:
    assert run(faults.answering(reply)).outcomes == {"accepted": 1}


def test_one_bad_item_does_not_cost_the_others() -> None:
    reply = insights({"kind": "decision"}, "text", item(), item(kind="rumour"), item(people="Bob"))
    result = run(faults.answering(reply))
    assert result.outcomes == {"accepted": 1, "duplicate": 1, "out_of_schema": 3}


def test_a_truncated_answer_keeps_its_whole_items() -> None:
    cut = insights(item())[:-2] + ', {"kind": "deci'
    result = run(faults.answering(cut, done_reason="length"))
    assert len(result.insights) == 1
    assert result.outcomes["truncated"] >= 1


@pytest.mark.parametrize("fault", [faults.hang, faults.drip, faults.drip_headers])
def test_a_text_that_the_model_never_finishes_is_counted_and_left(fault: faults.Script) -> None:
    started = time.monotonic()
    result = run(faults.healthy_but(fault))
    assert result.outcomes == {Outcome.DEADLINE: 1}
    assert not result.complete
    assert time.monotonic() - started < DEADLINE + 2


@pytest.mark.parametrize(
    "fault",
    [
        faults.hang,
        faults.drip,
        faults.Wire.reset,
        faults.reset_midway,
        faults.web_page,
        faults.error_midway,
        faults.endless_line,
        faults.refusing("404 Not Found", "model 'tiny' not found"),
        faults.refusing("503 Service Unavailable", "busy"),
        faults.refusing("500 Internal Server Error", "out of memory"),
        faults.answering("{}", model="other"),
    ],
)
def test_without_a_living_model_the_rules_do_the_work(fault: faults.Script) -> None:
    result = run(fault)
    assert result.extractor == "cues"
    assert result.down is not None
    assert result.outcomes == {"accepted": 1, "llm_down": 1}
    assert {insight.confidence for insight in result.insights} == {Confidence.RAW}


def test_a_caller_that_waits_for_the_model_is_told() -> None:
    with faults.faulty_ollama(faults.hang) as server:
        llm = OllamaModel(server.url, "tiny", deadline_seconds=DEADLINE)
        with pytest.raises(DependencyDownError):
            extract_with_model(owner(SAID), context(), llm)


@pytest.mark.parametrize(
    ("fault", "outcome"),
    [
        (faults.reset_midway, Outcome.SERVER_ERROR),
        (faults.refusing("503 Service Unavailable", "busy"), Outcome.SERVER_ERROR),
        (faults.refusing("500 Internal Server Error", "runner died"), Outcome.SERVER_ERROR),
        (faults.error_midway, Outcome.SERVER_ERROR),
        (faults.error_in_body, Outcome.SERVER_ERROR),
        (faults.stop_midway, Outcome.SERVER_ERROR),
        (faults.no_json, Outcome.SERVER_ERROR),
        (faults.endless_line, Outcome.TOO_LARGE),
        (faults.endless_output, Outcome.TOO_LARGE),
        (faults.endless_repetition, Outcome.REPETITION),
    ],
)
def test_a_text_that_a_living_model_stumbles_over_does_not_block_the_rest(
    fault: faults.Script, outcome: Outcome
) -> None:
    result = run(faults.healthy_but(fault))
    assert result.down is None
    assert result.insights == ()
    assert result.outcomes[outcome] == 1


def test_a_text_too_long_for_the_server_is_read_in_halves() -> None:
    def small(wire: faults.Wire) -> None:
        text = wire.request["messages"][-1]["content"]
        if len(text) > 900:
            faults.refusing("400 Bad Request", "input exceeds the context length")(wire)
        else:
            faults.answering(insights(item(quote=SAID)) if SAID in text else insights())(wire)

    result = run(small, "あいうえお。" * 200, SAID)
    assert result.outcomes["context_overflow"] == 2
    assert [insight.evidence for insight in result.insights] == [SAID]


def test_after_three_windows_without_an_answer_the_rest_is_skipped() -> None:
    texts = tuple(f"第{number}章。" + "長い話です。" * 300 for number in range(5))
    result = run(faults.healthy_but(faults.no_json), *texts)
    assert result.outcomes["server_error"] == 3
    assert result.outcomes["skipped"] >= 1
    assert not result.complete

"""The labelled set that we ship, and the figures over it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from api.cli.main import cli
from context_engine.errors import BadInputError
from context_engine.events import Utterance
from context_engine.insights import Confidence
from context_engine.markers import strip_injected
from workers.extraction.build import ExtractionContext
from workers.extraction.evaluation.evaluate import evaluate
from workers.extraction.evaluation.model import Conversation, load_conversations, shipped
from workers.extraction.extract import ExtractionResult, extract_with_cues
from workers.extraction.textmatch import fold

CONVERSATIONS = load_conversations(shipped())


def test_the_set_is_large_enough_and_half_japanese() -> None:
    languages = Counter(conversation.language for conversation in CONVERSATIONS)
    assert len(CONVERSATIONS) >= 60
    assert languages["ja"] == languages["en"]
    assert len({conversation.id for conversation in CONVERSATIONS}) == len(CONVERSATIONS)


def test_the_set_holds_what_goes_wrong_in_life() -> None:
    gold = [gold for conversation in CONVERSATIONS for gold in conversation.gold]
    reasons = Counter(item.why for conversation in CONVERSATIONS for item in conversation.must_not)
    assert sum(item.hearsay for item in gold) >= 10
    assert len({item.kind for item in gold}) == 5
    assert reasons["poisoned"] >= 4
    assert reasons["injected"] >= 4
    assert sum(not conversation.gold for conversation in CONVERSATIONS) >= 10


@pytest.mark.parametrize("conversation", CONVERSATIONS, ids=lambda conversation: conversation.id)
def test_every_label_occurs_in_its_conversation(conversation: Conversation) -> None:
    texts = [fold(message.text) for message in conversation.messages]
    shown = [fold(strip_injected(message.text)) for message in conversation.messages]
    for gold in conversation.gold:
        assert any(text.find(gold.quote) for text in shown)
        assert not (gold.hearsay and gold.confidence is Confidence.VALIDATED)
    for item in conversation.must_not:
        assert any(text.find(item.quote) for text in texts)


def test_the_rules_are_precise_enough_and_never_above_raw() -> None:
    report = evaluate(extract_with_cues, CONVERSATIONS).as_json()
    unseen = evaluate(extract_with_cues, [c for c in CONVERSATIONS if c.unseen]).as_json()
    for figures in (report, *report["per_language"].values(), unseen):
        assert figures["precision"] >= 0.7
        assert figures["recall"] >= 0.4
        assert figures["above_raw"] == 0
        assert figures["unverified"] == 0


def test_an_extractor_that_finds_nothing_has_no_precision_and_no_recall() -> None:
    def silent(_messages: Sequence[Utterance], _context: ExtractionContext) -> ExtractionResult:
        return ExtractionResult((), {}, "silent")

    report = evaluate(silent, CONVERSATIONS).as_json()
    assert (report["precision"], report["recall"]) == (None, 0.0)
    assert report["conversations"] == len(CONVERSATIONS)


def test_the_report_is_json_with_the_promised_names() -> None:
    report = evaluate(extract_with_cues, CONVERSATIONS[:4]).as_json()
    promised = {"precision", "recall", "kind_accuracy", "confidence_accuracy", "unverified"}
    assert promised <= report.keys()
    assert set(report["per_kind"]) == {"value", "decision", "learning", "project", "person"}
    assert json.loads(json.dumps(report)) == report


def test_ones_own_conversations_are_read_from_a_folder(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text(
        json.dumps(
            {
                "id": "mine",
                "language": "en",
                "source": "slack",
                "messages": [{"role": "owner", "author": "me", "text": "We decided to wait."}],
                "gold": [
                    {
                        "kind": "decision",
                        "confidence": "validated",
                        "quote": "We decided to wait.",
                        "content": "Wait.",
                        "hearsay": False,
                    }
                ],
                "must_not": [],
            }
        )
    )
    report = evaluate(extract_with_cues, load_conversations(tmp_path)).as_json()
    assert (report["precision"], report["recall"], report["kind_accuracy"]) == (1.0, 1.0, 1.0)
    assert report["confidence_accuracy"] == 0.0


@pytest.mark.parametrize("text", ["", "{}", '{"id": 1}', "[1]"])
def test_a_file_out_of_shape_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "bad.json").write_text(text)
    with pytest.raises(BadInputError, match=r"bad\.json"):
        load_conversations(tmp_path)


def test_a_folder_without_conversations_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="no labelled conversation"):
        load_conversations(tmp_path)


def test_the_command_prints_its_figures_as_json() -> None:
    result = CliRunner().invoke(cli, ["evaluate-extractor", "--json"], standalone_mode=False)
    assert result.exception is None
    figures = json.loads(result.stdout)
    assert figures["extractor"] == "cues"
    assert figures["outcomes"]["accepted"] == figures["insights"]

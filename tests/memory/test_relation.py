"""Two statements are told apart by what they say; no two facts ever become one."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_engine.insights import Kind
from workers.consolidation.evaluation.evaluate import Pair, evaluate, load_pairs, shipped_pairs
from workers.consolidation.facts import facts_of
from workers.consolidation.judge import verified
from workers.consolidation.relation import Relation, likeness, relate

PAIRS = load_pairs(shipped_pairs())


def test_no_labelled_pair_of_two_facts_is_merged() -> None:
    figures = evaluate(PAIRS)
    assert len(PAIRS) >= 190
    assert figures["false_merges"] == 0
    assert figures["duplicate"]["recall"] >= 0.8
    assert figures["supersedes"]["precision"] >= 0.95
    assert figures["supersedes"]["recall"] >= 0.9
    for language in ("ja", "en"):
        assert figures["per_language"][language]["duplicate"]["recall"] >= 0.7


def test_the_set_is_half_japanese_and_holds_every_relation() -> None:
    languages = [pair.language for pair in PAIRS]
    assert 0.4 < languages.count("ja") / len(PAIRS) < 0.6
    for relation in Relation:
        assert sum(pair.relation is relation for pair in PAIRS) >= 50
    assert len({pair.id for pair in PAIRS}) == len(PAIRS)


@pytest.mark.parametrize("pair", [p for p in PAIRS if p.relation is Relation.SEPARATE])
def test_two_facts_are_two_whichever_was_said_first(pair: Pair) -> None:
    new, old = facts_of(pair.new), facts_of(pair.old)
    assert relate(old, new, pair.kind) is not Relation.DUPLICATE


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The limit is 30 per minute.", "The limit is 300 per minute."),
        ("Tom owns the parser.", "Ana owns the parser."),
        ("We deploy on Fridays.", "We don't deploy on Fridays."),
        ("承認は必須。", "承認は任意。"),
        ("キューはValkeyにする。", "キューはValkeyにしない。"),
        ("田中さんが担当。", "鈴木さんが担当。"),
    ],
)
def test_a_model_is_not_believed_that_calls_two_facts_one(old: str, new: str) -> None:
    facts = facts_of(new), facts_of(old)
    assert verified(Relation.DUPLICATE, *facts) is Relation.SEPARATE


def test_a_model_may_tell_that_other_words_say_the_same() -> None:
    facts = facts_of("キューにはValkeyが一番だと判断した。"), facts_of("Valkeyでキューを回す。")
    assert relate(*facts, Kind.DECISION) is Relation.SEPARATE
    assert verified(Relation.DUPLICATE, *facts) is Relation.DUPLICATE


def test_a_model_is_not_believed_that_replaces_another_matter() -> None:
    facts = facts_of("会議室は二階を使う。"), facts_of("We use Valkey for the queue.")
    assert verified(Relation.SUPERSEDES, *facts) is Relation.SEPARATE


@given(st.text(max_size=300), st.text(max_size=300), st.sampled_from(list(Kind)))
def test_any_two_texts_can_be_compared(one: str, two: str, kind: Kind) -> None:
    first, second = facts_of(one), facts_of(two)
    assert relate(first, first, kind) is Relation.DUPLICATE
    both = relate(first, second, kind), relate(second, first, kind)
    assert (both[0] is Relation.DUPLICATE) == (both[1] is Relation.DUPLICATE)
    assert 0.0 <= likeness(first, second) <= 1.0


@pytest.mark.parametrize(
    "text",
    [
        "a" * 100_000, "あ" * 100_000, "。" * 50_000, "not " * 30_000, "一" * 50_000,
        "から" * 20_000, "switch a b c " * 9_000, "> x\n" * 30_000, "moved to " * 10_000,
        "(" * 50_000, "no longer " * 79, "used to a b " * 66, "はが" * 399, "一千万" * 260,
    ],
)  # fmt: skip
def test_a_long_or_odd_text_takes_no_time(text: str) -> None:
    started = time.process_time()
    relate(facts_of(text), facts_of(text + "x"), Kind.DECISION)
    assert time.process_time() - started < 1.0

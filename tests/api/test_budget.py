"""Token budgets: estimates that err upwards, answers that fit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from api.operations.budget import cost, estimate_tokens, largest_within

_JSON = (
    '{"path":"work/knowledge/decision/2026-11-02-use-valkey-3f9a2c01b7de.md",'
    '"chunk_id":"00ff3f9a2c01b7de","score":0.0312,"bm25_rank":1,"vector_rank":null}'
)


class _Text(BaseModel):
    text: str


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        # as Gemma 3's tokenizer counts them, which gives every digit a token
        ("", 0),
        ("We decided to use Valkey because of its licence.", 11),
        ("キューはValkeyにする。理由はライセンス。", 11),
        ("吾輩は猫である。名前はまだ無い。", 11),
        ("髙橋さんと齋藤さんが饂飩を啜る鬱蒼とした森", 17),
        ("0123456789abcdef fedcba9876543210", 24),
        ("def estimate_tokens(text: str) -> int:\n    return math.ceil(len(text) / 3)\n", 28),
        (_JSON, 81),
    ],
)
def test_the_estimate_is_not_below_what_tokenizers_count(text: str, tokens: int) -> None:
    assert tokens <= estimate_tokens(text) <= 3 * max(tokens, 1)


@given(st.text(max_size=400), st.integers(20, 400))
def test_the_largest_answer_that_fits_is_chosen(text: str, budget: int) -> None:
    def build(length: int) -> _Text:
        return _Text(text=text[:length])

    answer = largest_within(budget, len(text), build)

    length = len(answer.text)
    assert cost(answer) <= budget
    assert length == len(text) or cost(build(length + 1)) > budget

"""Token budgets: an estimate that errs upwards, and answers cut to fit."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

from pydantic import BaseModel

_ASCII_PER_TOKEN = 3.0
"""English prose has about four characters a token, JSON and identifiers about three."""
_TOKENS_PER_OTHER = 1.5
"""Japanese costs 0.7 to 1.5 tokens a character, depending on whose tokenizer counts."""

MIN_BUDGET = 500
"""Tokens below which no answer says anything."""
MAX_BUDGET = 50_000

AnswerT = TypeVar("AnswerT", bound=BaseModel)


def estimate_tokens(text: str) -> int:
    """Return about how many tokens `text` costs a model; rather too many than too few."""
    ascii_characters = len(text.encode("ascii", "ignore"))
    others = len(text) - ascii_characters
    return math.ceil(ascii_characters / _ASCII_PER_TOKEN + others * _TOKENS_PER_OTHER)


def characters_within(budget: int) -> int:
    """Return how many characters `budget` can hold at most, whatever they are."""
    return math.floor(budget * _ASCII_PER_TOKEN)


def to_json(answer: BaseModel) -> str:
    """Return the answer as every face sends it."""
    return answer.model_dump_json(by_alias=True)


def cost(answer: BaseModel) -> int:
    """Return the estimated tokens of `answer` as it is sent."""
    return estimate_tokens(to_json(answer))


def largest_within(budget: int, most: int, build: Callable[[int], AnswerT]) -> AnswerT:
    """Return `build(n)` for the greatest n <= `most` whose answer costs at most `budget`.

    `build` must grow with n. `build(0)` is returned even when it costs more.
    """
    answer = build(most)
    if cost(answer) <= budget:
        return answer
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        if cost(build(middle)) <= budget:
            low = middle
        else:
            high = middle
    return build(low)

"""Token budgets: an estimate that errs upwards, and answers cut to fit."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

from pydantic import BaseModel

_PER_LETTER = 0.28
"""ASCII letters and spaces: English prose has about four of them a token."""
_PER_DIGIT = 1.0
"""Some tokenizers give every digit a token of its own, and ids are half digits."""
_PER_MARK = 0.8
"""Punctuation, of which JSON is full."""
_PER_OTHER = 1.3
"""Japanese costs 0.7 to 1.3 tokens a character, depending on whose tokenizer counts."""

_DIGITS = b"0123456789"
_MARKS = bytes(c for c in range(0x21, 0x7F) if not chr(c).isalnum())

MIN_BUDGET = 500
"""Tokens below which no answer says anything."""
MAX_BUDGET = 50_000

AnswerT = TypeVar("AnswerT", bound=BaseModel)


def estimate_tokens(text: str) -> int:
    """Return about how many tokens `text` costs a model; rather too many than too few."""
    data = text.encode("ascii", "ignore")
    digits = len(data) - len(data.translate(None, _DIGITS))
    marks = len(data) - len(data.translate(None, _MARKS))
    letters = len(data) - digits - marks
    others = len(text) - len(data)
    return math.ceil(
        letters * _PER_LETTER + digits * _PER_DIGIT + marks * _PER_MARK + others * _PER_OTHER
    )


def characters_within(budget: int) -> int:
    """Return how many characters `budget` can hold at most, whatever they are."""
    return math.floor(budget / _PER_LETTER)


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

"""What the pipeline asks of a model, and what it gets back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol, TypedDict

Ended = Literal["stop", "length", "repetition", "too_large"]
"""Why a reply ended; only `stop` is a whole one."""


class ChatMessage(TypedDict):
    """One message of a chat, as the wire has it."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class Reply:
    """What the model said. `text` may be cut off unless `ended` is `stop`."""

    text: str
    model: str
    ended: Ended
    prompt_tokens: int | None
    output_tokens: int | None
    seconds: float


@dataclass(frozen=True)
class Health:
    """The result of one real generation: `checked` says when, `seconds` how long it took."""

    ok: bool
    model: str
    checked: datetime
    seconds: float
    reason: str | None = None
    """Why not, and what to do; None when ok."""

    def age_seconds(self, now: datetime) -> float:
        """Return how old this knowledge is."""
        return max(0.0, (now - self.checked).total_seconds())


class ChatModel(Protocol):
    """A model that answers in JSON."""

    model: str
    num_ctx: int
    """Tokens of prompt and answer together."""
    num_predict: int
    """Tokens of the answer at most."""

    def chat(self, messages: Sequence[ChatMessage], schema: Mapping[str, Any]) -> Reply:
        """Return one reply, within the total deadline.

        Raises DependencyDownError (nobody there, or no such model), DeadlineExceededError, and
        LLMOutputError whose `outcome` is a value of `Outcome`.
        """
        ...

    def health(self, *, max_age: float = 30.0) -> Health:
        """Return the result of a real generation not older than `max_age` seconds."""
        ...

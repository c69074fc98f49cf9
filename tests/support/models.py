"""Stand-ins for a model where its words are what matters, not the wire."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from support.conversations import WHEN
from workers.extraction.protocol import ChatMessage, Health, Reply


@dataclass
class Saying:
    """A model that always says the same, and remembers what it was asked."""

    text: str
    model: str = "parrot"
    num_ctx: int = 8192
    num_predict: int = 512
    asked: list[Sequence[ChatMessage]] = field(default_factory=list)

    def chat(self, messages: Sequence[ChatMessage], schema: Mapping[str, Any]) -> Reply:
        """Say it."""
        del schema
        self.asked.append(messages)
        return Reply(self.text, self.model, "stop", None, None, 0.0)

    def health(self, *, max_age: float = 30.0) -> Health:
        """Be well."""
        del max_age
        return Health(ok=True, model=self.model, checked=WHEN, seconds=0.0)

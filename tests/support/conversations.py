"""Short conversations, told in one line a message."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from context_engine.events import Role, Utterance
from context_engine.scopes import Scope
from workers.extraction.build import ExtractionContext

WHEN = datetime(2026, 5, 4, 9, tzinfo=UTC)
_AUTHORS = {Role.OWNER: "aki", Role.ASSISTANT: "assistant", Role.OTHER: "Kim"}


def talk(*said: tuple[Role, str]) -> list[Utterance]:
    """Return messages of the given roles and texts, in order."""
    return [
        Utterance(f"m{number}", _AUTHORS[role], role, WHEN, text)
        for number, (role, text) in enumerate(said)
    ]


def owner(*texts: str) -> list[Utterance]:
    """Return messages of the owner."""
    return talk(*((Role.OWNER, text) for text in texts))


def context(**more: Any) -> ExtractionContext:
    """Return a context of scope work."""
    given: dict[str, Any] = {"scope": Scope.WORK, "source": "claude", "extracted_at": WHEN}
    return ExtractionContext(**(given | more))

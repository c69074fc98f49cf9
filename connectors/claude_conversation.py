"""One document of a transcript that grows: its own conversation, or an inline subagent's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from connectors.base import EVENT_LIMIT
from connectors.pieces import PartCounter
from context_engine.clock import parse_utc
from context_engine.events import Ref, Utterance

EVENT_UTTERANCES = 500
"""Utterances of one event: thousands of one-word messages are bounded too."""


@dataclass(slots=True)
class Conversation:
    """One document that grows: the file's own (`suffix` empty) or that of an inline subagent."""

    suffix: str
    counter: PartCounter
    started: datetime | None = None
    title: str = ""
    part: int = 1
    characters: int = 0
    pending: list[Utterance] = field(default_factory=list)
    refs: dict[Ref, None] = field(default_factory=dict)
    abandoned: list[str] = field(default_factory=list)

    def state(self) -> dict[str, Any]:
        """Return what `load_conversation` takes."""
        return {
            "part": self.counter.part,
            "characters": self.counter.characters,
            "started": self.started.isoformat() if self.started else None,
            "title": self.title,
            "refs": [[ref.repo, ref.path] for ref in self.refs],
        }

    def is_full_for(self, part: int, length: int) -> bool:
        """Say whether `length` characters of `part` do not fit the pending event."""
        return bool(self.pending) and (
            part != self.part
            or self.characters + length > EVENT_LIMIT
            or len(self.pending) >= EVENT_UTTERANCES
        )


def load_conversation(suffix: str, state: Mapping[str, Any]) -> Conversation:
    """Return the conversation whose `state` this is, with nothing pending."""
    return Conversation(
        suffix=suffix,
        counter=PartCounter(state["part"], state["characters"]),
        started=parse_utc(state["started"]) if state["started"] else None,
        title=state["title"],
        refs={Ref(repo, path): None for repo, path in state["refs"]},
    )

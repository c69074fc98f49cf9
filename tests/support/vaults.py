"""Documents and insights to put into a vault, told in one line each."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from context_engine.events import Role, SourceDocument, Utterance
from context_engine.insights import Confidence, Insight, Kind
from context_engine.scopes import Scope

START = datetime(2026, 11, 2, 9, 5, 11, tzinfo=UTC)


def said(number: int, text: str, role: Role = Role.OWNER, author: str = "亜紀") -> Utterance:
    """Return message `number` of a conversation, said `number` minutes after its start."""
    return Utterance(f"n{number}", author, role, START + timedelta(minutes=number), text)


def conversation(*utterances: Utterance, **more: Any) -> SourceDocument:
    """Return a conversation of scope work."""
    given: dict[str, Any] = {
        "source": "claude",
        "native_id": "session-1",
        "scope": Scope.WORK,
        "title": "Redis を Valkey に替える",
        "project": "shop",
        "utterances": utterances,
    }
    return SourceDocument(**(given | more))


def insight(**more: Any) -> Insight:
    """Return a decision of scope work that rules found."""
    given: dict[str, Any] = {
        "scope": Scope.WORK,
        "kind": Kind.DECISION,
        "title": "キューはValkeyにする",
        "content": "キューはValkeyにする。ライセンスが理由。",
        "confidence": Confidence.RAW,
        "evidence": "Valkeyにしよう。ライセンスが理由。",
        "source": "claude",
        "source_path": None,
        "event_id": "e" * 32,
        "utterance": "a" * 16,
        "extractor": "cues",
        "created": START,
        "project": "shop",
    }
    return Insight(**(given | more))

"""What a transcript's later records need to know of earlier ones: small, bounded, serialisable."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from connectors.claude_records import Record
from connectors.text import clean_text

MESSAGES = 8
TEXTS_PER_MESSAGE = 32
SIDECHAIN_RECORDS = 64
PROMPTS = 64
_REWRITE_LENGTH = 8


class Heard:
    """Texts of the latest API messages: a message is written in blocks, and again as it grows."""

    def __init__(self, state: Mapping[str, list[list[Any]]] | None = None) -> None:
        self._messages = {
            name: [tuple(entry) for entry in texts] for name, texts in (state or {}).items()
        }

    def new_part(self, message: str, text: str) -> str:
        """Return what `text` adds to the texts of `message` so far; empty when nothing."""
        texts = self._messages.pop(message, [])
        self._messages[message] = texts
        if len(self._messages) > MESSAGES:
            del self._messages[next(iter(self._messages))]
        known = 0
        for length, digest in texts:
            repeats = length == len(text) or (_REWRITE_LENGTH <= length < len(text))
            if length > known and repeats and _digest(text[:length]) == digest:
                known = length
        if known < len(text):
            texts.append((len(text), _digest(text)))
            del texts[:-TEXTS_PER_MESSAGE]
        return text[known:].strip()

    def state(self) -> dict[str, list[list[Any]]]:
        """Return what the constructor takes."""
        return {name: [list(entry) for entry in texts] for name, texts in self._messages.items()}


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


class Sidechains:
    """Which subagent an inline sidechain record belongs to (Claude Code 1.0 wrote them inline)."""

    def __init__(self, state: Mapping[str, Any] | None = None) -> None:
        state = state or {}
        self._owner: dict[str, str] = dict(state.get("records", {}))
        self._latest: str | None = state.get("latest")

    def leave(self) -> None:
        """Note that the main conversation goes on."""
        self._latest = None

    def follow(self, record: Record) -> str:
        """Return the name of the record's subagent: `#` and its id, or that of its first record."""
        name = self._name(record)
        uuid = record.get("uuid")
        if isinstance(uuid, str):
            self._owner[uuid[:64]] = name
            if len(self._owner) > SIDECHAIN_RECORDS:
                del self._owner[next(iter(self._owner))]
        self._latest = name
        return name

    def _name(self, record: Record) -> str:
        agent, parent, uuid = (record.get(key) for key in ("agentId", "parentUuid", "uuid"))
        if isinstance(agent, str) and agent:
            return "#" + clean_text(agent)[:64]
        if isinstance(parent, str):
            known = self._owner.get(parent[:64]) or self._latest
            if known:
                return known
        return "#" + (clean_text(uuid)[:64] if isinstance(uuid, str) else "sidechain")

    def state(self) -> dict[str, Any]:
        """Return what the constructor takes."""
        return {"records": self._owner, "latest": self._latest}


class Prompts:
    """Recognises a rewind: a prompt that follows what an earlier prompt followed."""

    def __init__(self, state: Mapping[str, Any] | None = None) -> None:
        state = state or {}
        self._by_parent: dict[str, str] = dict(state.get("by_parent", {}))
        self.latest: str | None = state.get("latest")

    def abandoned(self, parent: Any, key: str) -> str | None:
        """Return `<first>..<last>`, the messages that prompt `key` leaves behind, or None."""
        if not isinstance(parent, str):
            return None
        earlier = self._by_parent.pop(parent[:64], None)
        self._by_parent[parent[:64]] = key
        if len(self._by_parent) > PROMPTS:
            del self._by_parent[next(iter(self._by_parent))]
        return f"{earlier}..{self.latest}" if earlier and earlier != key else None

    def state(self) -> dict[str, Any]:
        """Return what the constructor takes."""
        return {"by_parent": self._by_parent, "latest": self.latest}

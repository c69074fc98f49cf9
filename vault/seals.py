"""Seals: `validated` counts only with one, and a writer of vault files alone cannot make one.

A seal is `<who>,<when>,<signature>`. The signature is the home key's over the insight's id, kind,
scope, everything it says and rests on, who vouched for it and when. Change a word, the vault or the
subject, and the insight is raw again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from context_engine.clock import isoformat
from context_engine.home import Home
from context_engine.ids import digest
from context_engine.insights import Confidence, Kind
from context_engine.scopes import Scope
from context_engine.secretkey import is_signed, make_key, read_key, sign
from vault.blocks import WORD, Block, make_block
from vault.names import subject_slug

SEAL = "seal"
"""Entry of a note's front matter, and field of a section's heading."""

REVIEWED = "reviewed"
"""When a person decided on it; from then on it is theirs."""

OWNERS_WORD = "owner-said"
"""Who vouches for what the owner stated outright, quote verified."""

_SEAL = re.compile(
    r"(?P<who>[A-Za-z0-9._@-]{1,81}),(?P<when>[0-9TZ:-]{20}),(?P<signature>[0-9a-f]{32})\Z"
)
_VERSION = "1"
_FRONT = (
    *("id", "kind", "confidence", "title", "summary", "project", "people", "tags", "source"),
    *("source_note", "utterance", "event", "extractor", "created"),
)
"""Not what the engine keeps current on a note that stays as it is: when its words were last said
again, what replaced it, whether its source still stands."""
_FIELDS = (WORD, "by", "event", "u", "at")


@dataclass(frozen=True)
class Vouch:
    """Who vouches for an insight, and since when."""

    who: str
    when: datetime


@dataclass(frozen=True)
class Seals:
    """Checks the seals of one vault. Without a key nothing is sealed."""

    key: bytes | None
    scope: Scope

    def holds_note(self, kind: Kind, front: Mapping[str, Any], body: str) -> bool:
        """Return whether an insight note carries a seal that is right for what it says."""
        insight_id = str(front.get("id"))
        return self._holds(front.get(SEAL), insight_id, kind, note_content(front, body))

    def holds_section(self, kind: Kind, subject: str, block: Block) -> bool:
        """Return whether a section of the note about `subject` carries a right seal."""
        content = section_content(subject, block)
        return self._holds(block.fields.get(SEAL), block.marker, kind, content)

    def _holds(self, seal: object, insight_id: str, kind: Kind, content: str) -> bool:
        match = _SEAL.match(seal) if isinstance(seal, str) else None
        if match is None or self.key is None:
            return False
        parts = _parts(self.scope, insight_id, kind, content, match["who"], match["when"])
        return is_signed(self.key, match["signature"], *parts)


def seals_of(home: Home, scope: Scope) -> Seals:
    """Return what checks the seals of one vault, by the home's key as it is now."""
    return Seals(read_key(home), scope)


def seal_note(
    home: Home,
    scope: Scope,
    kind: Kind,
    front: Mapping[str, Any],
    body: str,
    *,
    vouch: Vouch,
) -> dict[str, Any]:
    """Return `front` with its seal; what is raw gets none. Seal last: any later change breaks it.

    Call with what a reader will parse: texts as words, times as written.
    """
    if front.get("confidence") != Confidence.VALIDATED.value:
        return {key: value for key, value in front.items() if key != SEAL}
    content = note_content(front, body)
    return {**front, SEAL: _make(home, scope, str(front["id"]), kind, content, vouch)}


def seal_section(
    home: Home, scope: Scope, kind: Kind, subject: str, block: Block, *, vouch: Vouch
) -> Block:
    """Return `block` with its seal, for the note whose title is `subject`; raw gets none."""
    fields = {name: value for name, value in block.fields.items() if name not in (SEAL, "h")}
    if fields.get(WORD) == Confidence.VALIDATED.value:
        content = section_content(subject, block)
        fields[SEAL] = _make(home, scope, block.marker, kind, content, vouch)
    return make_block(block.type, block.marker, block.heading, fields, block.text)


def note_content(front: Mapping[str, Any], body: str) -> str:
    """Return 64 hex digits over all that a note says and is believed for, evidence included."""
    values = [json.dumps(front.get(key), ensure_ascii=False, default=str) for key in _FRONT]
    return digest("note", *values, *_lines(body))


def section_content(subject: str, block: Block) -> str:
    """Return 64 hex digits over a section, its evidence, and whom or what it is about."""
    about = subject_slug(subject) if subject.strip() else ""
    values = [block.fields.get(name, "") for name in _FIELDS]
    return digest("section", about, block.heading, *values, *_lines(block.text))


def _lines(text: str) -> list[str]:
    # editors trim blanks at line ends on saving
    return [line.rstrip() for line in text.strip().split("\n")]


def _parts(
    scope: Scope, insight_id: str, kind: Kind, content: str, who: str, when: str
) -> tuple[str, ...]:
    confidence = Confidence.VALIDATED.value
    return ("seal", _VERSION, insight_id, kind.value, scope.value, content, confidence, who, when)


def _make(home: Home, scope: Scope, insight_id: str, kind: Kind, content: str, vouch: Vouch) -> str:
    who, when = vouch.who, isoformat(vouch.when)
    parts = _parts(scope, insight_id, kind, content, who, when)
    return f"{who},{when},{sign(make_key(home), *parts)}"

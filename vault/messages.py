"""Messages of a source note: one block each, readable by a person, exact for the engine."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

from context_engine.clock import isoformat, parse_utc
from context_engine.events import REMOVED, Role, Utterance
from context_engine.redaction import redact
from vault.blocks import WORD, Block, Body, make_block, parse_body
from vault.escape import canonical, escape, one_line, unescape
from vault.marks import GONE, Standing, standing_of_block

_AUTHOR_LIMIT = 80
_DIGITS = 20
_UNDATED = "undated"
REVISION = "rev"
"""The field that orders the versions of a message that changed."""
_HEADING = re.compile(r"(?P<author>.*) · (?:undated|[0-9: -]{16} UTC)\Z")


@dataclass(frozen=True)
class Message:
    """One message as the vault holds it; `text` is what was said, redacted, no escapes.

    `edited` tells that a person changed it since; then `text` may hold their words. `withdrawn`
    tells that its source deleted it; then `text` says so.
    """

    marker: str
    author: str
    role: Role
    at: datetime | None
    text: str
    edited: bool = False
    withdrawn: bool = False


@dataclass(frozen=True)
class Rendered:
    """A message ready to be written, and how many secrets of which kind were taken out of it."""

    block: Block
    at: datetime | None
    redactions: Mapping[str, int]


def render_message(utterance: Utterance, revision: int = 0) -> Rendered:
    """Return the block of one message."""
    clean = redact(canonical(REMOVED if utterance.withdrawn else utterance.text))
    author = _author(utterance.author, utterance.role)
    shown = f"{utterance.at.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if utterance.at else _UNDATED
    fields = {WORD: utterance.role.value}
    if utterance.at:
        fields["at"] = isoformat(utterance.at)
    fields |= {REVISION: str(revision)} if revision else {}
    fields |= {GONE: "1"} if utterance.withdrawn else {}
    text = escape(canonical(clean.text))
    block = make_block("u", utterance.marker, f"{author} · {shown}", fields, text)
    return Rendered(block, utterance.at, clean.counts)


def messages_of(body: Body) -> tuple[Message, ...]:
    """Return the messages that a source note's body holds, in its order."""
    return tuple(read_message(block) for block in body.blocks if block.type == "u")


def parse_messages(body: str) -> tuple[Message, ...]:
    """Return the messages in the text of a source note's body."""
    return messages_of(parse_body(body))


def read_message(block: Block) -> Message:
    """Return the message that a block holds."""
    match = _HEADING.match(block.heading)
    return Message(
        marker=block.marker,
        author=match["author"] if match else block.heading,
        role=_role(block.fields.get(WORD, "")),
        at=time_of(block),
        text=unescape(block.text),
        edited=block.edited,
        withdrawn=standing_of_block(block) is Standing.WITHDRAWN,
    )


def revision_of(block: Block) -> int:
    """Return what orders the versions of a block's message; 0 for one that never changed."""
    digits = block.fields.get(REVISION, "")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= _DIGITS else 0


def time_of(block: Block) -> datetime | None:
    """Return when the block's message was said."""
    with suppress(ValueError):
        return parse_utc(block.fields.get("at", ""))
    return None


def _role(word: str) -> Role:
    # unknown words are nobody's: the least trusted role
    return Role(word) if word in set(Role) else Role.OTHER


@lru_cache(maxsize=1_024)
def _author(name: str, role: Role) -> str:
    plain = one_line(redact(name).text, _AUTHOR_LIMIT)
    plain = re.sub(r"[<>`\[\]\\*_#|]", " ", plain)
    return " ".join(plain.split()) or role.value

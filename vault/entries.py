"""Insights as dated sections of a project's or a person's note."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from context_engine.clock import isoformat, parse_utc
from context_engine.insights import Confidence, Insight
from vault.blocks import WORD, Block, Body, make_block
from vault.escape import escape, unescape
from vault.marks import SUPERSEDED_BY, SUPERSEDES, Standing, standing_of_block
from vault.statements import (
    Statement,
    clean_title,
    parse_statement,
    render_statement,
    statement_of,
)

_HEADING = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} · (?P<title>.*)\Z")
_WORD_VALUE = re.compile(r"[^A-Za-z0-9:._/@+-]")


@dataclass(frozen=True)
class Entry:
    """One insight in a project's or person's note."""

    insight_id: str
    title: str
    at: datetime | None
    confidence: Confidence
    """`validated` only with a seal that holds, and while its source says so."""
    extractor: str | None
    event_id: str | None
    utterance: str | None
    statement: Statement
    edited: bool
    standing: Standing = Standing.HOLDS
    superseded_by: str | None = None
    """The id of the section in the same note that replaced it."""


def render_entry(insight: Insight, source_title: str | None, folder: str) -> Block:
    """Return the section of one insight in a note that lies in `folder`."""
    statement = statement_of(insight, source_title)
    day = f"{insight.created.astimezone(UTC):%Y-%m-%d}"
    title = escape(clean_title(insight.title)) or "—"
    values = {
        WORD: insight.confidence.value,
        "by": insight.extractor,
        "event": insight.event_id,
        "u": insight.utterance,
        "at": isoformat(insight.created),
        SUPERSEDES: insight.supersedes,
    }
    fields = {name: _WORD_VALUE.sub("_", value)[:80] for name, value in values.items() if value}
    text = render_statement(statement, folder)
    return make_block("i", insight.insight_id, f"{day} · {title}", fields, text)


def entries_of(body: Body, folder: str, is_sealed: Callable[[Block], bool]) -> tuple[Entry, ...]:
    """Return the insights in a note's body, in its order; `validated` only what is sealed."""
    return tuple(
        _entry(block, folder, sealed=is_sealed(block)) for block in body.blocks if block.type == "i"
    )


def entry_time(block: Block) -> datetime | None:
    """Return when the insight's evidence was said."""
    with suppress(ValueError):
        return parse_utc(block.fields.get("at", ""))
    return None


def _entry(block: Block, folder: str, *, sealed: bool) -> Entry:
    match = _HEADING.match(block.heading)
    standing = standing_of_block(block)
    holds = standing is Standing.HOLDS and sealed
    stated = block.fields.get(WORD) == Confidence.VALIDATED.value and holds
    return Entry(
        insight_id=block.marker,
        title=unescape(match["title"] if match else block.heading),
        at=entry_time(block),
        confidence=Confidence.VALIDATED if stated else Confidence.RAW,
        extractor=block.fields.get("by"),
        event_id=block.fields.get("event"),
        utterance=block.fields.get("u"),
        statement=parse_statement(block.text, folder),
        edited=block.edited,
        standing=standing,
        superseded_by=block.fields.get(SUPERSEDED_BY),
    )

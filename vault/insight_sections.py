"""Insights as sections: merged into a project's or person's note, and taken out of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from context_engine.insights import Insight
from vault.blocks import Block, Body, make_block, parse_body, replaced
from vault.entries import entry_time
from vault.marks import KEPT_FIELDS, Standing, standing_of_block
from vault.notefile import NoteText, decode_note, time_in, title_of, with_front
from vault.sourcefront import merged_refs
from vault.standing import Outcome, Provisional, is_our_block, standing
from vault.store import Snapshot
from vault.subjects import new_subject, subject_name


def merged_section(
    seen: Snapshot | None, path: str, insight: Insight, block_about: Callable[[str], Block]
) -> tuple[bytes | None, Outcome]:
    """Return the note's new bytes (None: as it is) and what became of the insight.

    `block_about` gives the section in a note of that title.

    Raises BadInputError when the note is not UTF-8.
    """
    data = seen.data if seen else new_subject(insight, subject_name(insight)).encode()
    note = decode_note(data, path)
    blocks, outcome = _with_block(parse_body(note.body), block_about(title_of(note, path)))
    if blocks is None:
        return None, outcome
    head = with_front(note, _front_of(note, insight), path)
    return f"{head}{blocks.render()}".encode("utf-8", "replace"), outcome


def _front_of(note: NoteText, insight: Insight) -> dict[str, Any]:
    """Return what an insight adds to the front matter of the note of its subject."""
    known = time_in(note.front, "updated")
    changes: dict[str, Any] = {"updated": max(known or insight.created, insight.created)}
    if insight.refs:
        changes["refs"] = merged_refs(note.front.get("refs"), insight.refs)
    return changes


def _with_block(body: Body, new: Block) -> tuple[Body | None, Outcome]:
    blocks = list(body.blocks)
    number = next((n for n, block in enumerate(blocks) if block.marker == new.marker), None)
    if number is None:
        blocks.insert(_place_for(blocks, new), new)
        return replace(body, blocks=tuple(blocks)), Outcome.CREATED
    old = blocks[number]
    new = _with_fields(new, {key: it for key, it in old.fields.items() if key in KEPT_FIELDS})
    if old.fields == new.fields:
        return None, Outcome.UNCHANGED
    if not is_our_block(old):
        return None, Outcome.KEPT
    verdict = standing(
        known=(old.fields.get("by"), old.fields.get("event")),
        new=(new.fields.get("by"), new.fields.get("event")),
    )
    lost = standing_of_block(old) is not Standing.HOLDS
    if verdict is not Outcome.UPDATED and not (lost and verdict is Outcome.UNCHANGED):
        return None, verdict
    blocks[number] = replaced(old, new)
    return replace(body, blocks=tuple(blocks)), Outcome.UPDATED


def _with_fields(block: Block, more: Mapping[str, str]) -> Block:
    if not more:
        return block
    fields = {name: value for name, value in block.fields.items() if name != "h"} | dict(more)
    return make_block(block.type, block.marker, block.heading, fields, block.text)


def _place_for(blocks: list[Block], new: Block) -> int:
    at, place = entry_time(new), len(blocks)
    while at and place and (before := entry_time(blocks[place - 1])) and before > at:
        place -= 1
    return place


def without_blocks(note: NoteText, doomed: Provisional) -> str | None:
    """Return the note's new text, None when nothing in it is doomed."""
    body = parse_body(note.body)
    if not any(doomed.covers_block(block) for block in body.blocks):
        return None
    # what a person wrote below such a section, under a heading of their own, stays
    blocks = [
        replace(block, raw=block.tail) if doomed.covers_block(block) else block
        for block in body.blocks
    ]
    return note.head + replace(body, blocks=tuple(blocks)).render()

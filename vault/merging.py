"""Merge messages into the blocks of a source note."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from vault.blocks import Block, make_block, replaced
from vault.messages import Rendered, time_of

_WAS = "was"
"""Hashes of earlier versions of a message, the latest first."""
_WAS_LIMIT = 4


@dataclass
class Merge:
    """The blocks of a note while messages are merged into them, and what became of each."""

    blocks: list[Block]
    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    kept: list[Block] = field(default_factory=list)
    """New versions of messages that a person edited."""


def merge_messages(merge: Merge, messages: Sequence[Rendered], elsewhere: Sequence[Block]) -> None:
    """Bring `messages` in, each marker once; those `elsewhere` stand in notes beside this one."""
    places = {block.marker: number for number, block in enumerate(merge.blocks)}
    beside = {block.marker: block for block in elsewhere}
    fresh: list[Rendered] = []
    for message in messages:
        marker = message.block.marker
        if marker in places:
            _merge_known(merge, places[marker], message.block)
        elif marker not in beside:
            fresh.append(message)
        elif message.block.fields["h"] in _versions(beside[marker]):
            merge.unchanged.append(marker)
        else:
            merge.kept.append(message.block)
    _insert(merge, fresh)


def _versions(block: Block) -> list[str]:
    versions = [block.fields.get("h", ""), *block.fields.get(_WAS, "").split(",")]
    return [version for version in versions if version]


def _merge_known(merge: Merge, number: int, new: Block) -> None:
    old = merge.blocks[number]
    versions = _versions(old)
    if new.fields["h"] in versions:
        # the same again, or an older version delivered late
        merge.unchanged.append(new.marker)
    elif old.edited:
        merge.kept.append(new)
    else:
        fields = {name: value for name, value in new.fields.items() if name != "h"}
        fields[_WAS] = ",".join(versions[:_WAS_LIMIT])
        block = make_block(new.type, new.marker, new.heading, fields, new.text)
        merge.blocks[number] = replaced(old, block)
        merge.changed.append(new.marker)


def _insert(merge: Merge, fresh: Sequence[Rendered]) -> None:
    """Put each new message behind the last one that is not later; undated ones at the end."""
    times = [time_of(block) for block in merge.blocks]
    for message in fresh:
        at = time_of(message.block)
        place = len(times)
        while at and place and (before := times[place - 1]) and before > at:
            place -= 1
        times.insert(place, at)
        merge.blocks.insert(place, message.block)
        merge.added.append(message.block.marker)

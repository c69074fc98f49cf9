"""Merge messages into the blocks of a source note."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from vault.blocks import WORD, Block, make_block, replaced
from vault.marks import GONE
from vault.messages import REVISION, Rendered, revision_of, time_of

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


def _merge_known(merge: Merge, number: int, given: Block) -> None:
    old = merge.blocks[number]
    new = _in_the_place_of(old, given) if GONE in given.fields else given
    same = new.fields["h"] == old.fields.get("h")
    if _is_late(old, new) or (same and (old.edited or revision_of(new) <= revision_of(old))):
        merge.unchanged.append(new.marker)
    elif old.edited:
        merge.kept.append(new)
    else:
        merge.blocks[number] = replaced(old, _successor(old, new))
        # with the same text only its revision is noted: an older one may still be under way
        (merge.unchanged if same else merge.changed).append(new.marker)


def _is_late(old: Block, new: Block) -> bool:
    """Tell whether `new` is older than `old`: by revision, by its text where it has none."""
    revision = revision_of(new)
    if revision and revision != revision_of(old):
        return revision < revision_of(old)
    return new.fields["h"] in _versions(old)[1:]


def _in_the_place_of(old: Block, notice: Block) -> Block:
    """Return the notice of a deletion under the heading of the message that it stands for."""
    own = {name: notice.fields[name] for name in (REVISION, GONE) if name in notice.fields}
    kept = {name: value for name, value in old.fields.items() if name in (WORD, "at")}
    return make_block(old.type, old.marker, old.heading, kept | own, notice.text)


def _successor(old: Block, new: Block) -> Block:
    fields = {name: value for name, value in new.fields.items() if name != "h"}
    versions = [version for version in _versions(old) if version != new.fields["h"]]
    if versions:
        fields[_WAS] = ",".join(versions[:_WAS_LIMIT])
    return make_block(new.type, new.marker, new.heading, fields, new.text)


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

"""What a new version of an insight may do to the one that is there."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from vault.blocks import Block
from vault.notefile import NoteText, text_in
from vault.seals import REVIEWED

PROVISIONAL = frozenset({"cues"})
"""Extractors whose insights a model's replace."""


class Outcome(StrEnum):
    """What became of an insight that was to be saved."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    KEPT = "kept"
    """A person edited or reviewed the note; theirs stays."""
    OUTRANKED = "outranked"
    """A better extractor wrote it already."""
    REJECTED = "rejected"
    """A person rejected it, or had its source forgotten: nothing is written."""


@dataclass(frozen=True)
class Provisional:
    """Which insights `remove_provisional` takes out."""

    event_id: str
    keep: frozenset[str]

    def covers_note(self, note: NoteText) -> bool:
        """Tell whether an insight note goes."""
        return (
            text_in(note.front, "event") == self.event_id
            and text_in(note.front, "extractor") in PROVISIONAL
            and text_in(note.front, "id") not in self.keep
            and is_ours(note)
        )

    def covers_block(self, block: Block) -> bool:
        """Tell whether a section of a project's or person's note goes."""
        return (
            block.fields.get("event") == self.event_id
            and block.fields.get("by") in PROVISIONAL
            and block.marker not in self.keep
            and is_our_block(block)
        )


def is_ours(note: NoteText) -> bool:
    """Tell whether no person edited or reviewed the note."""
    return note.untouched and not note.front.get(REVIEWED)


def is_our_block(block: Block) -> bool:
    """Tell whether no person edited or reviewed the section."""
    return not block.edited and not block.fields.get(REVIEWED)


def standing(known: tuple[str | None, str | None], new: tuple[str | None, str | None]) -> Outcome:
    """Tell what a new version of an insight may do, given (extractor, event) of both.

    The same words said again in another conversation keep their first source.
    """
    known_provisional, new_provisional = known[0] in PROVISIONAL, new[0] in PROVISIONAL
    if new_provisional and not known_provisional:
        return Outcome.OUTRANKED
    if known_provisional == new_provisional and known[1] != new[1]:
        return Outcome.UNCHANGED
    return Outcome.UPDATED

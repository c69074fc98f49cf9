"""Marks for what its source changed or deleted since: on notes, and on sections of one."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from vault.blocks import Block
from vault.notefile import NoteText

WITHDRAWN = "withdrawn"
"""Entry of the front matter: when its source was found to have deleted it."""

STALE = "stale"
"""Entry of an insight's front matter: when its source was found to say something else."""

GONE = "gone"
"""Field of a message or an insight's section whose source deleted it."""


VERIFIED = "verified"
"""When the owner said it last, on a note and on a section."""

SUPERSEDES = "supersedes"
"""The id of the insight that another replaces, on a note and on a section."""

SUPERSEDED_BY = "superseded_by"
"""What replaced an insight: a file of the vault, or for a section the id of one beside it."""

AGAIN = "again"
"""Field of a section: the messages that said it again."""

KEPT_FIELDS = (VERIFIED, SUPERSEDES, SUPERSEDED_BY, AGAIN)
"""What a section's heading keeps when the section is written again."""


class Standing(StrEnum):
    """Whether a source still says what a note holds."""

    HOLDS = "holds"
    STALE = "stale"
    WITHDRAWN = "withdrawn"


def standing_of_note(note: NoteText) -> Standing:
    """Return the standing of a whole note; a person may mark one too."""
    return _standing(note.front, WITHDRAWN)


def standing_of_block(block: Block) -> Standing:
    """Return the standing of a section; what a person edited since stands for itself."""
    return Standing.HOLDS if block.edited else _standing(block.fields, GONE)


def front_marks(front: Mapping[str, Any], standing: Standing, now: str) -> dict[str, str | None]:
    """Return the entries to change so that `front` says `standing`, since `now`."""
    given = {STALE: standing is Standing.STALE, WITHDRAWN: standing is Standing.WITHDRAWN}
    return {
        key: now if wanted else None
        for key, wanted in given.items()
        if wanted != bool(front.get(key))
    }


def field_marks(standing: Standing) -> dict[str, str]:
    """Return the fields of a section's heading that say `standing`."""
    names = {Standing.STALE: STALE, Standing.WITHDRAWN: GONE}
    return {names[standing]: "1"} if standing in names else {}


def _standing(entries: Mapping[str, Any], gone: str) -> Standing:
    if entries.get(gone):
        return Standing.WITHDRAWN
    return Standing.STALE if entries.get(STALE) else Standing.HOLDS

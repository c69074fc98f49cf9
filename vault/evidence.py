"""Insights follow the messages that they were drawn from.

When a source changed or deleted the words that an insight quotes, what rules (`cues`) drew from
them goes, and what a model drew is marked: stale, or withdrawn and out of the index. The mark goes
when the words come back. What a person edited or reviewed stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from enum import StrEnum

from context_engine.clock import SystemClock, isoformat
from context_engine.home import Home
from context_engine.scopes import Scope
from vault.blocks import Block, make_block, parse_body, replaced
from vault.insight_files import change_file, files_with
from vault.marks import GONE, STALE, Standing, field_marks, front_marks, standing_of_block
from vault.notefile import NoteText, text_in, with_front
from vault.paths import vault_root
from vault.standing import PROVISIONAL, is_our_block, is_ours
from vault.statements import parse_statement

_MARKER = re.compile(rb"[0-9a-f]{16}")


class Evidence(StrEnum):
    """What became of the words that an insight quotes."""

    HOLDS = "holds"
    CHANGED = "changed"
    """The message says something else."""
    DELETED = "deleted"
    """The message was deleted, and its text with it."""
    WITHDRAWN = "withdrawn"
    """The whole document was deleted; its text is kept, out of sight."""


Judge = Callable[[str, str], Evidence]
"""Takes a message's marker and a quote from it."""

_STANDING = {
    Evidence.HOLDS: Standing.HOLDS,
    Evidence.CHANGED: Standing.STALE,
    Evidence.DELETED: Standing.WITHDRAWN,
    Evidence.WITHDRAWN: Standing.WITHDRAWN,
}
_ENDS_PROVISIONAL = frozenset({Evidence.CHANGED, Evidence.DELETED})


def follow_evidence(
    home: Home, scope: Scope, markers: Collection[str], judge: Judge
) -> tuple[str, ...]:
    """Bring the insights drawn from these messages in line with them; return the notes changed."""
    follow = _Follow(frozenset(markers), judge, isoformat(SystemClock().now()))
    wanted = {marker.encode() for marker in markers}
    found = files_with(
        vault_root(home, scope), lambda data: not wanted.isdisjoint(_MARKER.findall(data))
    )
    return tuple(
        path for path in found if change_file(home, scope, path, follow.note, follow.sections)
    )


@dataclass(frozen=True)
class _Follow:
    markers: frozenset[str]
    judge: Judge
    now: str

    def note(self, note: NoteText) -> str | None:
        """Return the new text of an insight note, "" when it is to be deleted."""
        marker = text_in(note.front, "utterance")
        if marker not in self.markers or not is_ours(note):
            return None
        evidence = self.judge(marker, parse_statement(note.body, "").evidence)
        if _goes(text_in(note.front, "extractor"), evidence):
            return ""
        changes = front_marks(note.front, _STANDING[evidence], self.now)
        return with_front(note, changes, marker) + note.body

    def sections(self, note: NoteText) -> str | None:
        """Return the new text of a project's or person's note."""
        body = parse_body(note.body)
        blocks = tuple(map(self._section, body.blocks))
        return None if blocks == body.blocks else note.head + replace(body, blocks=blocks).render()

    def _section(self, block: Block) -> Block:
        marker = block.fields.get("u")
        if block.type != "i" or marker not in self.markers or not is_our_block(block):
            return block
        evidence = self.judge(marker, parse_statement(block.text, "").evidence)
        if _goes(block.fields.get("by"), evidence):
            # what a person wrote below such a section, under a heading of their own, stays
            return replace(block, raw=block.tail)
        standing = _STANDING[evidence]
        if standing is standing_of_block(block):
            return block
        own = {key: it for key, it in block.fields.items() if key not in ("h", GONE, STALE)}
        fields = {**own, **field_marks(standing)}
        return replaced(
            block, make_block(block.type, block.marker, block.heading, fields, block.text)
        )


def _goes(extractor: str | None, evidence: Evidence) -> bool:
    return extractor in PROVISIONAL and evidence in _ENDS_PROVISIONAL

"""Insights over time: said again, replaced by a newer one, come back.

An insight that is said again gains evidence and a later `verified` date. One that was replaced says
by what, and stays. Nothing here touches a word of a note: front matter and heading marks change
alone, and those of a note that a person edited or reviewed do not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from context_engine.clock import isoformat
from context_engine.errors import BadInputError, NotFoundError, UnsafePathError
from context_engine.home import Home
from context_engine.ids import short_id
from context_engine.insights import Confidence, Insight, Kind
from context_engine.redaction import redact
from context_engine.scopes import Scope
from vault.blocks import Block, make_block, parse_body, replaced
from vault.entries import Entry
from vault.escape import one_line
from vault.find import find_note
from vault.insight_files import change_file
from vault.layout import INBOX, KIND_FOLDERS, SECTION_KINDS
from vault.marks import AGAIN, SUPERSEDED_BY, SUPERSEDES, VERIFIED, Standing
from vault.notefile import NoteText, text_in, time_in, with_front
from vault.notes import Note, NoteType, read_note
from vault.paths import vault_root
from vault.standing import PROVISIONAL, Provisional, is_our_block, is_ours
from vault.statements import parse_statement

EVIDENCE = "evidence"
"""Entry of the front matter: where else an insight was said."""

MAX_EVIDENCE = 20
_QUOTE_LIMIT = 300
_IN_SECTIONS = frozenset(KIND_FOLDERS[kind] for kind in SECTION_KINDS)


@dataclass(frozen=True)
class Known:
    """An insight of the vault, as a new one is held against it."""

    scope: Scope
    path: str
    """Relative to the vault; for a section, its note."""
    insight_id: str
    kind: Kind
    title: str
    content: str
    confidence: Confidence
    extractor: str | None
    created: datetime | None
    project: str | None
    tags: tuple[str, ...]
    superseded_by: str | None
    ours: bool
    """Whether no person edited or reviewed it."""
    holds: bool
    """Whether its source still says it."""

    @property
    def place(self) -> str:
        """What `superseded_by` says of it: its file, or its section's id in the same file."""
        folder = str(PurePosixPath(self.path).parent)
        return self.insight_id if folder in _IN_SECTIONS else self.path


def known_insights(note: Note) -> tuple[Known, ...]:
    """Return the insights that a note holds: itself, or its sections."""
    if note.type in (NoteType.PROJECT, NoteType.PERSON):
        blocks = {block.marker: block for block in note.parsed_body.blocks}
        return tuple(_section(note, entry, blocks[entry.insight_id]) for entry in note.entries)
    insight_id = text_in(note.front, "id")
    if note.kind is None or insight_id is None:
        return ()
    statement = parse_statement(_below_title(note.body), "")
    return (
        Known(
            scope=note.scope,
            path=note.path,
            insight_id=insight_id,
            kind=note.kind,
            title=note.title,
            content=statement.content,
            confidence=note.confidence or Confidence.RAW,
            extractor=text_in(note.front, "extractor"),
            created=time_in(note.front, "created"),
            project=note.project,
            tags=note.tags,
            superseded_by=text_in(note.front, SUPERSEDED_BY),
            ours=is_ours(note.text),
            holds=note.standing is Standing.HOLDS,
        ),
    )


def _section(note: Note, entry: Entry, block: Block) -> Known:
    return Known(
        scope=note.scope,
        path=note.path,
        insight_id=entry.insight_id,
        kind=next(kind for kind in SECTION_KINDS if note.path.startswith(KIND_FOLDERS[kind])),
        title=entry.title,
        content=entry.statement.content,
        confidence=entry.confidence,
        extractor=entry.extractor,
        created=entry.at,
        project=note.project,
        tags=entry.statement.tags,
        superseded_by=entry.superseded_by,
        ours=is_our_block(block),
        holds=entry.standing is Standing.HOLDS,
    )


def _below_title(body: str) -> str:
    first, _, rest = body.strip().partition("\n")
    return rest if first.startswith("# ") else body


def find_insight(home: Home, scope: Scope, kind: Kind, insight_id: str) -> Known | None:
    """Return the insight with this id that has a note of its own, None when there is none."""
    root = vault_root(home, scope)
    folder = INBOX if kind in SECTION_KINDS else KIND_FOLDERS[kind].split("/", 1)[0]
    path = find_note(root, folder, insight_id)
    return next(iter(read_insights(home, scope, path)), None) if path else None


def read_insights(home: Home, scope: Scope, path: str) -> tuple[Known, ...]:
    """Return the insights of a file; () when it is gone or cannot be read."""
    with suppress(NotFoundError, BadInputError, UnsafePathError):
        return known_insights(read_note(home, scope, path))
    return ()


def add_evidence(home: Home, known: Known, again: Insight) -> bool:
    """Note that `known` was said again; return whether anything changed.

    `verified` moves when it was the owner who said it.
    """
    return _change(
        home,
        known,
        lambda front: _with_evidence(front, again),
        lambda fields: _again_fields(fields, again),
    )


def mark_superseded(home: Home, known: Known, place: str | None) -> bool:
    """Note by what `known` was replaced; None: by nothing any more. Return whether it changed."""
    changes = {SUPERSEDED_BY: place}
    return _change(home, known, lambda _front: changes, lambda _fields: changes)


def mark_successor(home: Home, known: Known, replaced_id: str) -> bool:
    """Note what `known` replaced, unless it says so of another; return whether it changed."""

    def changes(entries: Mapping[str, Any]) -> dict[str, Any]:
        return {} if entries.get(SUPERSEDES) else {SUPERSEDES: replaced_id}

    return _change(home, known, changes, changes)


_Changes = Callable[[Mapping[str, Any]], Mapping[str, Any]]


def _change(home: Home, known: Known, front: _Changes, fields: _Changes) -> bool:
    return change_file(
        home,
        known.scope,
        known.path,
        lambda note: _changed_front(note, front, known.path),
        lambda note: _changed_section(note, known.insight_id, fields),
    )


def _changed_front(note: NoteText, changes: _Changes, place: str) -> str | None:
    if not is_ours(note):
        return None
    wanted = {key: value for key, value in changes(note.front).items()
              if note.front.get(key) != value}  # fmt: skip
    return with_front(note, wanted, place) + note.body if wanted else None


def _changed_section(note: NoteText, insight_id: str, changes: _Changes) -> str | None:
    body = parse_body(note.body)
    blocks = list(body.blocks)
    number = next((n for n, block in enumerate(blocks) if block.marker == insight_id), None)
    if number is None or not is_our_block(blocks[number]):
        return None
    old = blocks[number]
    own = {name: value for name, value in old.fields.items() if name != "h"}
    wanted = {name: str(value) for name, value in {**own, **changes(own)}.items() if value}
    if wanted == own:
        return None
    new = make_block(old.type, old.marker, old.heading, wanted, old.text)
    blocks[number] = replaced(old, new)
    return note.head + replace(body, blocks=tuple(blocks)).render()


def evidence_id(insight: Insight) -> str:
    """Return the id of one saying: the same words of the same message are one."""
    return short_id("evidence", insight.insight_id, insight.event_id or "", insight.utterance or "")


def without_provisional(note: NoteText, doomed: Provisional) -> str | None:
    """Return a note's text without what rules found in one event; "" when nothing is left of it.

    What rules found elsewhere too then rests on that. None when there is nothing to take out.
    """
    if text_in(note.front, "extractor") not in PROVISIONAL or not is_ours(note):
        return None
    listed, goes = _listed(note.front), doomed.covers_note(note)
    left = [item for item in listed if not _is_doomed(item, doomed)]
    if goes and not left:
        return ""
    if not goes and len(left) == len(listed):
        return None
    changes: dict[str, Any] = {EVIDENCE: (left[1:] if goes else left) or None}
    if goes:
        changes |= {key: left[0].get(key) for key in ("event", "utterance", "source_note")}
    return with_front(note, changes, doomed.event_id) + note.body


def _is_doomed(item: Mapping[str, Any], doomed: Provisional) -> bool:
    return item.get("event") == doomed.event_id and item.get("by") in PROVISIONAL


def _listed(front: Mapping[str, Any]) -> list[dict[str, Any]]:
    listed = front.get(EVIDENCE)
    return [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []


def _with_evidence(front: Mapping[str, Any], again: Insight) -> dict[str, Any]:
    known, entry = _listed(front), _entry(again)
    if any(item.get("id") == entry["id"] for item in known):
        return {}
    changes: dict[str, Any] = {EVIDENCE: [*known, entry][-MAX_EVIDENCE:]}
    return changes | _verified(time_in(front, VERIFIED), again)


def _entry(again: Insight) -> dict[str, Any]:
    quote = one_line(redact(again.evidence or again.content).text, _QUOTE_LIMIT)
    values = {
        "id": evidence_id(again),
        "at": isoformat(again.created),
        "by": again.extractor,
        "event": again.event_id,
        "utterance": again.utterance,
        "source_note": again.source_path,
        "quote": quote,
    }
    return {key: one_line(value, _QUOTE_LIMIT) for key, value in values.items() if value}


def _verified(known: datetime | None, again: Insight) -> dict[str, str]:
    if not again.owner_said or (known is not None and known >= again.created):
        return {}
    return {VERIFIED: isoformat(again.created)}


def _again_fields(fields: Mapping[str, Any], again: Insight) -> dict[str, str]:
    said = [word for word in str(fields.get(AGAIN) or "").split(",") if word]
    entry = again.utterance or evidence_id(again)
    if entry in said or entry == fields.get("u"):
        return {}
    return {AGAIN: ",".join([*said, entry][-MAX_EVIDENCE:])} | _verified(
        time_in(fields, VERIFIED), again
    )

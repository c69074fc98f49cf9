"""Insight notes: one file an insight, or one dated section of a project's or person's note.

Where one lands follows from its kind alone. Saving again changes nothing; what a person edited or
reviewed is never changed; rules (`cues`) never write over what a model distilled.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC
from pathlib import Path
from typing import Any

from context_engine.clock import isoformat
from context_engine.errors import (
    BadInputError,
    NotFoundError,
    UnsafePathError,
)
from context_engine.home import Home
from context_engine.insights import Insight
from context_engine.redaction import redact
from context_engine.scopes import Scope
from vault.blocks import Block
from vault.entries import render_entry
from vault.escape import escape, one_line
from vault.find import find_note
from vault.frontmatter import render, wrap
from vault.insight_files import change_file, files_with
from vault.insight_sections import merged_section, without_blocks
from vault.layout import INBOX, KIND_FOLDERS, SECTION_KINDS
from vault.locks import note_lock
from vault.marks import SUPERSEDES, VERIFIED, Standing, front_marks, standing_of_note
from vault.names import note_name
from vault.notefile import decode_note, sealed, text_in, with_front
from vault.paths import vault_root
from vault.seals import OWNERS_WORD, SEAL, Vouch, seal_note, seal_section
from vault.sourcefront import merged_refs
from vault.standing import Outcome, Provisional, is_ours, standing
from vault.statements import (
    TITLE_LIMIT,
    Statement,
    clean_title,
    clean_words,
    render_statement,
    statement_of,
    summary_of,
)
from vault.store import Snapshot, read, rewrite
from vault.subjects import find_subject, subject_name
from vault.succession import without_provisional
from vault.tombstones import tombstones


@dataclass(frozen=True)
class SaveResult:
    """Where an insight went."""

    path: str
    """Relative to the vault of the insight's scope; "" when it was rejected."""
    insight_id: str
    outcome: Outcome


def save_insight(home: Home, insight: Insight) -> SaveResult:
    """Write one insight into the vault of its scope; durable when it returns.

    Raises NoteConflictError, DeadlineExceededError and UnsafePathError like `write_source`.
    """
    if tombstones(home).covers(insight):
        return SaveResult("", insight.insight_id, Outcome.REJECTED)
    root = vault_root(home, insight.scope)
    source_title = _title_at(root, insight.source_path)
    if insight.kind in SECTION_KINDS and subject_name(insight):
        return _save_section(home, root, insight, source_title)
    return _save_note(home, root, insight, source_title)


def remove_provisional(
    home: Home, scope: Scope, event_id: str, *, keep: Collection[str] = ()
) -> tuple[str, ...]:
    """Take out what rules alone wrote about an event, except the insight ids in `keep`.

    What a person edited or reviewed stays. Returns the notes removed or changed.
    """
    root = vault_root(home, scope)
    doomed, needle = Provisional(event_id, frozenset(keep)), event_id.encode()

    return tuple(
        path
        for path in files_with(root, lambda data: needle in data)
        if change_file(
            home,
            scope,
            path,
            lambda note: without_provisional(note, doomed),
            lambda note: without_blocks(note, doomed),
        )
    )


# --- one file an insight ---


def _save_note(home: Home, root: Path, insight: Insight, source_title: str | None) -> SaveResult:
    # a project or person insight that names none belongs nowhere yet
    folder = INBOX if insight.kind in SECTION_KINDS else KIND_FOLDERS[insight.kind]
    statement = replace(statement_of(insight, source_title), tags=())
    title = clean_title(insight.title) or summary_of(statement.content)
    body = f"# {escape(title)}\n\n{render_statement(statement, folder)}\n"
    front = sealed(_front(insight, title, statement), body)
    front = seal_note(home, insight.scope, insight.kind, front, body, vouch=_vouch(insight))
    with note_lock(home, insight.scope, insight.insight_id):
        path = find_note(root, folder.split("/", 1)[0], insight.insight_id)
        if path is None:
            name = note_name(title, insight.insight_id, date=insight.created.astimezone(UTC))
            path = f"{folder}/{name}"
        elif not path.startswith(f"{folder}/"):
            # the id holds the kind, so a person moved it: theirs stays
            return SaveResult(path, insight.insight_id, Outcome.KEPT)
        outcome = rewrite(root, path, lambda seen: _merged_note(seen, path, front, body))
    return SaveResult(path, insight.insight_id, outcome)


def _front(insight: Insight, title: str, statement: Statement) -> dict[str, Any]:
    return {
        "type": "insight",
        "id": insight.insight_id,
        "kind": insight.kind.value,
        "confidence": insight.confidence.value,
        "title": title,
        "summary": summary_of(statement.content),
        "scope": insight.scope.value,
        "project": _word(redact(insight.project or "").text),
        "people": clean_words(insight.people),
        "tags": clean_words(insight.tags),
        "source": _word(insight.source),
        "source_note": statement.source_path,
        "utterance": _word(insight.utterance),
        "event": _word(insight.event_id),
        "extractor": _word(insight.extractor),
        "created": isoformat(insight.created),
        VERIFIED: isoformat(insight.verified) if insight.verified else None,
        SUPERSEDES: _word(insight.supersedes),
        "refs": merged_refs([], insight.refs),
    }


def _merged_note(
    seen: Snapshot | None, path: str, front: Mapping[str, Any], body: str
) -> tuple[bytes | None, Outcome]:
    if seen is None:
        return f"{wrap(render(front))}{body}".encode("utf-8", "replace"), Outcome.CREATED
    try:
        note = decode_note(seen.data, path)
    except BadInputError:
        return None, Outcome.KEPT
    if not is_ours(note):
        return None, Outcome.KEPT
    verdict = standing(
        known=(text_in(note.front, "extractor"), text_in(note.front, "event")),
        new=(front["extractor"], front["event"]),
    )
    lost = standing_of_note(note) is not Standing.HOLDS
    if verdict is not Outcome.UPDATED and not (lost and verdict is Outcome.UNCHANGED):
        return None, verdict
    # what becomes raw keeps no seal of what it was
    unsealed = {SEAL: None} if note.front.get(SEAL) else {}
    told = {key: note.front[key] for key in (VERIFIED, SUPERSEDES) if note.front.get(key)}
    changes = {**unsealed, **front, **told, **front_marks(note.front, Standing.HOLDS, "")}
    data = f"{with_front(note, changes, path)}{body}".encode("utf-8", "replace")
    return data, Outcome.UPDATED if data != seen.data else Outcome.UNCHANGED


# --- one section an insight ---


def _save_section(home: Home, root: Path, insight: Insight, source_title: str | None) -> SaveResult:
    folder, name = KIND_FOLDERS[insight.kind], subject_name(insight)
    entry, vouch = render_entry(insight, source_title, folder), _vouch(insight)

    def about(title: str) -> Block:
        return seal_section(home, insight.scope, insight.kind, title, entry, vouch=vouch)

    # one lock for all of the folder: a note may be known by several names
    with note_lock(home, insight.scope, folder):
        path = find_subject(root, insight.kind, name)
        outcome = rewrite(root, path, lambda seen: merged_section(seen, path, insight, about))
    return SaveResult(path, insight.insight_id, outcome)


def _vouch(insight: Insight) -> Vouch:
    """Name who vouches for what extraction found validated: the owner, who said it outright."""
    return Vouch(OWNERS_WORD, insight.verified or insight.created)


def _title_at(root: Path, path: str | None) -> str | None:
    """Return the title of the source note that an insight links to."""
    with suppress(NotFoundError, BadInputError, UnsafePathError):
        if path:
            return text_in(decode_note(read(root, path).data, path).front, "title")
    return None


def _word(text: str | None) -> str | None:
    return one_line(text, TITLE_LIMIT) or None if text else None

"""The insights of a vault as items of a review. What did not change is not read again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from api.review.model import Item
from context_engine.errors import ContextEngineError
from context_engine.home import Home
from context_engine.insights import Confidence, Kind
from context_engine.scopes import Scope
from context_engine.secretkey import key_fingerprint
from vault.blocks import WORD
from vault.entries import Entry
from vault.find import find_note
from vault.layout import INBOX, KIND_FOLDERS, SECTION_KINDS
from vault.listing import NoteFile, list_notes
from vault.marks import Standing
from vault.notefile import text_in
from vault.notes import Note, NoteType, read_note
from vault.paths import vault_root
from vault.rulings import without_title
from vault.seals import REVIEWED, note_content, section_content
from vault.statements import parse_statement

_ID = re.compile(r"[0-9a-f]{12}\Z")
_OWNER = frozenset({"owner", "me", "myself", "自分", "私", "本人", "オーナー"})
_HEARSAY = frozenset({"hearsay", "他者情報"})


def items_of(home: Home, scope: Scope) -> Iterator[Item]:
    """Yield all insights of one vault, raw and validated."""
    key, root = key_fingerprint(home), vault_root(home, scope)
    for folder in (*KIND_FOLDERS.values(), INBOX):
        for file in list_notes(root, folder):
            yield from _items_in(home, scope, file, key)


def item_at(home: Home, insight_id: str) -> Item | None:
    """Return the insight of this id, None when no vault holds it."""
    if not _ID.match(insight_id):
        return None
    for scope in Scope:
        for path in _paths(vault_root(home, scope), insight_id):
            with suppress(ContextEngineError):
                for item in _items(read_note(home, scope, path)):
                    if item.insight_id == insight_id:
                        return item
    return None


def _paths(root: Path, insight_id: str) -> Iterator[str]:
    for folder in ("knowledge", INBOX):
        found = find_note(root, folder, insight_id)
        if found:
            yield found
    needle = f"ce:i={insight_id}".encode()
    for kind in SECTION_KINDS:
        for file in list_notes(root, KIND_FOLDERS[kind]):
            with suppress(OSError):
                if needle in (root / file.path).read_bytes():
                    yield file.path


def items_in(home: Home, scope: Scope, path: str) -> tuple[Item, ...]:
    """Return the insights of one note, none when it cannot be read."""
    try:
        return tuple(_items(read_note(home, scope, path)))
    except ContextEngineError:
        return ()


@lru_cache(maxsize=50_000)
def _items_in(home: Home, scope: Scope, file: NoteFile, key: str) -> tuple[Item, ...]:
    # `file` holds size and time: another version is another key, as is another key of the seals
    del key
    try:
        return tuple(_items(read_note(home, scope, file.path)))
    except ContextEngineError:
        return ()


def _items(note: Note) -> Iterator[Item]:
    if note.type in (NoteType.PROJECT, NoteType.PERSON):
        content = {block.marker: section_content(note.title, block)
                   for block in note.parsed_body.blocks}  # fmt: skip
        stated = {block.marker for block in note.parsed_body.blocks
                  if block.fields.get(WORD) == Confidence.VALIDATED.value}  # fmt: skip
        reviewed = {block.marker for block in note.parsed_body.blocks if block.fields.get(REVIEWED)}
        for entry in note.entries:
            yield _from_entry(
                note,
                entry,
                content[entry.insight_id],
                stated=entry.insight_id in stated,
                reviewed=entry.insight_id in reviewed,
            )
    elif note.kind is not None and _ID.match(text_in(note.front, "id") or ""):
        yield _from_note(note, note.kind, text_in(note.front, "id") or "")


def _from_note(note: Note, kind: Kind, insight_id: str) -> Item:
    folder = note.path.rpartition("/")[0]
    said = parse_statement(without_title(note.body), folder)
    stated = note.front.get("confidence") == Confidence.VALIDATED.value
    return Item(
        insight_id=insight_id,
        scope=note.scope,
        path=note.path,
        kind=kind,
        confidence=note.confidence or Confidence.RAW,
        title=note.title,
        content=said.content,
        evidence=said.evidence,
        content_hash=note_content(note.front, note.body),
        source=note.source,
        source_path=said.source_path,
        source_title=said.source_title,
        utterance=text_in(note.front, "utterance"),
        extractor=text_in(note.front, "extractor"),
        created=note.date,
        project=note.project,
        subject=None,
        people=note.people,
        tags=note.tags,
        claims_validated=_claims(stated, note.confidence, note.standing),
        for_identity=kind is Kind.VALUE and not _HEARSAY.intersection(note.tags),
        withdrawn=note.standing is Standing.WITHDRAWN,
        reviewed=bool(note.front.get(REVIEWED)),
    )


def _from_entry(
    note: Note, entry: Entry, content_hash: str, *, stated: bool, reviewed: bool
) -> Item:
    person = note.type is NoteType.PERSON
    said = entry.statement
    return Item(
        insight_id=entry.insight_id,
        scope=note.scope,
        path=note.path,
        kind=Kind(note.type.value),
        confidence=entry.confidence,
        title=entry.title,
        content=said.content,
        evidence=said.evidence,
        content_hash=content_hash,
        source=None,
        source_path=said.source_path,
        source_title=said.source_title,
        utterance=entry.utterance,
        extractor=entry.extractor,
        created=entry.at,
        project=None if person else note.title,
        subject=note.title,
        people=(note.title,) if person else (),
        tags=said.tags,
        claims_validated=_claims(stated, entry.confidence, entry.standing),
        for_identity=person and note.title.casefold() in _OWNER,
        withdrawn=entry.standing is Standing.WITHDRAWN,
        reviewed=reviewed,
    )


def _claims(stated: bool, confidence: Confidence | None, standing: Standing) -> bool:
    return stated and confidence is not Confidence.VALIDATED and standing is Standing.HOLDS

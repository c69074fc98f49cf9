"""What is to be forgotten, worked out before anything goes."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from api.review.identity import learned_lines, words_for_identity
from api.review.scan import item_at, items_of
from context_engine.errors import ContextEngineError, NotFoundError
from context_engine.home import Home
from context_engine.scopes import Scope
from vault.forgotten import document_graves
from vault.layout import INBOX, SOURCES
from vault.listing import list_notes
from vault.notefile import text_in
from vault.notes import Note, NoteType, read_note
from vault.paths import vault_root
from vault.tombstones import Grave, event_grave, fold, insight_graves

if TYPE_CHECKING:
    from api.review.model import Item
    from workers.outbox import Outbox

_WORTH_LOOKING_FOR = 6
"""Characters from which on a title or name is looked for in logs and reading states."""


@dataclass(frozen=True)
class Section:
    """One insight in a project's or person's note."""

    scope: Scope
    path: str
    insight_id: str


@dataclass(frozen=True)
class Plan:
    """What goes. `graves` holds words; everything else is what a resumed run needs."""

    notes: tuple[tuple[Scope, str], ...]
    sections: tuple[Section, ...] = ()
    events: tuple[str, ...] = ()
    insights: tuple[str, ...] = ()
    """Ids of the insights that go, in notes of their own or in sections."""
    phrases: tuple[str, ...] = ()
    """Titles and file names, to be taken out of logs and reading states."""
    graves: tuple[Grave, ...] = field(default=(), repr=False)
    left: tuple[tuple[Scope, str], ...] = ()
    """Notes drawn from it that stay."""
    identity: tuple[str, ...] = field(default=(), repr=False)
    """Lines that a review added to the identity and that say the same: they stay."""

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """The vaults that lose something."""
        found = [scope for scope, _ in self.notes] + [part.scope for part in self.sections]
        return tuple(dict.fromkeys(found))


def plan_note(home: Home, outbox: Outbox, scope: Scope, path: str, *, insights: bool) -> Plan:
    """Return what goes with the note at `path`: of a conversation all of its parts.

    With `insights` also what was drawn from it. Raises NotFoundError, BadInputError,
    UnsafePathError.
    """
    note = read_note(home, scope, path)
    document_id = text_in(note.front, "id") if note.type is NoteType.SOURCE else None
    if document_id and re.fullmatch("[0-9a-f]{12}", document_id):
        return _plan_document(home, outbox, document_id, insights=insights)
    return _plan_plain(home, note)


def plan_insight(home: Home, insight_id: str) -> Plan:
    """Return what goes with one insight; raises NotFoundError."""
    item = item_at(home, insight_id)
    if item is None:
        raise NotFoundError(f"no vault holds an insight {insight_id!a}")
    return _naming_identity(home, _with_insights(Plan(()), [item]), [item], "")


def plan_event(home: Home, outbox: Outbox, event_id: str, *, insights: bool) -> Plan:
    """Return what goes with the document that an event belongs to; raises NotFoundError."""
    row = outbox.connection().execute(
        "SELECT document_id FROM event WHERE event_id = ?", (event_id,)
    ).fetchone()  # fmt: skip
    if row is None:
        raise NotFoundError(f"there is no event {event_id!a}")
    return _plan_document(home, outbox, row[0], insights=insights)


def _plan_document(home: Home, outbox: Outbox, document_id: str, *, insights: bool) -> Plan:
    notes = list(_parts(home, document_id))
    rows = list(
        outbox.connection().execute(
            "SELECT event_id, title FROM event WHERE document_id = ?", (document_id,)
        )
    )
    queued = [document for event, _ in rows if (document := outbox.document(event))]
    said = [(m.marker, m.text) for note in notes for m in note.messages]
    said += [(u.marker, u.text) for document in queued for u in document.utterances]
    titles = [note.title for note in notes] + [title for _, title in rows]
    copies = [copy for note in notes for copy in _conflict_copies(home, note)]
    events = tuple(event for event, _ in rows)
    plan = Plan(
        notes=_places([*notes, *copies]),
        events=events,
        phrases=_phrases([*titles, *(_stem(note.path) for note in (*notes, *copies))]),
        graves=(
            *document_graves(document_id, said),
            *map(event_grave, events),
            *(("title", fold(title)) for title in titles),
        ),
    )
    words = "\n".join(fold(text) for _, text in said)
    drawn = _drawn_from(home, notes, {marker for marker, _ in said})
    drawn += [item for item in _moved_out(home, words) if item not in drawn]
    if insights:
        plan = _with_gone(_with_insights(plan, drawn), home, outbox)
    else:
        plan = _leaving(plan, drawn)
    return _naming_identity(home, plan, drawn, words)


def _plan_plain(home: Home, note: Note) -> Plan:
    """Return the plan for an insight's, a subject's or a person's own note."""
    copies = _conflict_copies(home, note)
    plan = Plan(notes=_places([note, *copies]), phrases=_phrases([note.title, _stem(note.path)]))
    here = [item for item in items_of(home, note.scope) if item.path == note.path]
    return _naming_identity(home, _extended(plan, here), here, "")


def _with_insights(plan: Plan, items: list[Item]) -> Plan:
    own = [item for item in items if item.subject is None]
    notes = dict.fromkeys([*plan.notes, *((item.scope, item.path) for item in own)])
    sections = tuple(
        Section(item.scope, item.path, item.insight_id)
        for item in items
        if item.subject is not None and (item.scope, item.path) not in notes
    )
    grown = Plan(
        tuple(notes), (*plan.sections, *sections), plan.events, plan.insights, plan.phrases,
        plan.graves,
    )  # fmt: skip
    return _extended(grown, items)


def _with_gone(plan: Plan, home: Home, outbox: Outbox) -> Plan:
    """Add the files of these events that are gone: moved or rejected, their names stay behind."""
    rows = outbox.connection().execute(
        "SELECT DISTINCT scope, path FROM event_path"
        " WHERE event_id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(plan.events)),),
    )
    written = [(Scope(scope), path) for scope, path in rows]
    gone = [place for place in written if not (vault_root(home, place[0]) / place[1]).exists()]
    return dataclasses.replace(
        plan,
        notes=tuple(dict.fromkeys([*plan.notes, *gone])),
        phrases=_phrases([*plan.phrases, *(_stem(path) for _, path in gone)]),
    )


def _extended(plan: Plan, items: list[Item]) -> Plan:
    graves = [
        grave
        for item in items
        for grave in insight_graves(item.scope, item.insight_id, item.evidence or item.content)
    ]
    own = [item for item in items if item.subject is None]
    named = [word for item in own for word in (item.title, _stem(item.path))]
    return Plan(
        plan.notes,
        plan.sections,
        plan.events,
        (*plan.insights, *(item.insight_id for item in items)),
        _phrases([*plan.phrases, *named]),
        (*plan.graves, *graves),
    )


def _leaving(plan: Plan, items: list[Item]) -> Plan:
    left = tuple(dict.fromkeys((item.scope, item.path) for item in items))
    return Plan(
        plan.notes, plan.sections, plan.events, plan.insights, plan.phrases, plan.graves, left
    )


def _parts(home: Home, document_id: str) -> Iterator[Note]:
    for scope in Scope:
        for file in list_notes(vault_root(home, scope), SOURCES):
            if document_id in file.path.rpartition("/")[2]:
                yield from _read(home, scope, file.path)


def _conflict_copies(home: Home, note: Note) -> list[Note]:
    root = vault_root(home, note.scope)
    found = [
        copy for file in list_notes(root, INBOX) for copy in _read(home, note.scope, file.path)
    ]
    return [copy for copy in found if copy.front.get("of") == note.path]


def _read(home: Home, scope: Scope, path: str) -> Iterator[Note]:
    try:
        yield read_note(home, scope, path)
    except ContextEngineError:
        return


def _drawn_from(home: Home, notes: list[Note], markers: set[str]) -> list[Item]:
    paths = {(note.scope, note.path) for note in notes}
    return [
        item
        for scope in {note.scope for note in notes}
        for item in items_of(home, scope)
        if item.utterance in markers or (scope, item.source_path) in paths
    ]


def _moved_out(home: Home, words: str) -> list[Item]:
    """Return the insights that nothing leads back from any more, and that quote these words.

    A review that moves an insight to another scope leaves its source behind, not its evidence.
    """
    return [
        item
        for scope in Scope
        for item in items_of(home, scope)
        if item.utterance is None and item.source_path is None and _quotes(words, item.evidence)
    ]


def _quotes(words: str, evidence: str) -> bool:
    quote = fold(evidence)
    return len(quote) >= _WORTH_LOOKING_FOR and quote in words


def _naming_identity(home: Home, plan: Plan, items: list[Item], words: str) -> Plan:
    """Add the lines of the identity that say what one of `items` says, or quote `words`."""
    contents = {fold(words_for_identity(item)) for item in items}
    lines = [line for line in learned_lines(home) if fold(line) in contents or _quotes(words, line)]
    return dataclasses.replace(plan, identity=tuple(lines))


def _places(notes: Iterable[Note]) -> tuple[tuple[Scope, str], ...]:
    return tuple(dict.fromkeys((note.scope, note.path) for note in notes))


def _phrases(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for word in words if len(word) >= _WORTH_LOOKING_FOR))


def _stem(path: str) -> str:
    return PurePosixPath(path).stem


def forms(phrases: Sequence[str]) -> frozenset[bytes]:
    """Return how phrases look in plain text and in JSON of either kind."""
    found = [phrase.encode() for phrase in phrases]
    found += [
        json.dumps(phrase, ensure_ascii=ascii_only)[1:-1].encode()
        for phrase in phrases
        for ascii_only in (True, False)
    ]
    return frozenset(form for form in found if form)


def place_of_argument(home: Home, text: str) -> tuple[Scope, str] | None:
    """Return scope and vault path that an argument names: `work/…/x.md` or a file's own path."""
    scope, _, rest = text.partition("/")
    if rest.endswith(".md") and scope in set(Scope):
        return Scope(scope), rest
    file = Path(text).expanduser()
    if not text.endswith(".md") or not file.exists():
        return None
    for each in Scope:
        root = vault_root(home, each)
        if file.resolve().is_relative_to(root):
            return each, file.resolve().relative_to(root).as_posix()
    return None

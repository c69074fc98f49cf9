"""Source notes: what came in, readable, each message once, a person's edits kept.

Writing is a merge: a message is found by its marker, replaced when it changed at the source,
inserted by its time when it is new, and left alone when a person edited it. So an event may be
delivered again, in any order, by any number of workers, and be killed half-way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from context_engine.errors import BadInputError, UnsafePathError
from context_engine.events import SourceDocument
from context_engine.home import Home
from context_engine.scopes import Scope
from vault.blocks import Block, Body, parse_body
from vault.conflicts import save_conflict
from vault.escape import escape
from vault.frontmatter import render, wrap
from vault.layout import SOURCES, source_of_path
from vault.listing import list_notes
from vault.merging import Merge, merge_messages
from vault.messages import Message, Rendered, parse_messages, render_message
from vault.names import subject_slug
from vault.notefile import NoteText, decode_note, sealed, text_in, with_front
from vault.paths import vault_root
from vault.sourcefront import front_changes, is_newer, new_front
from vault.sourceplace import Place, find_place
from vault.store import Snapshot, read, rewrite
from vault.withdrawal import follow_withdrawal, part_lock

_EDITED = "a person edited this message; the source has another version since"


@dataclass(frozen=True)
class WriteResult:
    """What became of one document. Tuples hold message markers."""

    path: str
    """Relative to the vault of the document's scope."""
    created: bool = False
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    """Changed at the source but edited by a person: theirs stays, the new is in `conflicts`."""
    conflicts: tuple[str, ...] = ()
    """Paths of conflict copies in the inbox."""
    redactions: Mapping[str, int] = field(default_factory=dict)
    """Secrets taken out, by kind."""
    problem: str | None = None
    """Why an existing note of this document could not be continued; `path` lies beside it."""
    marked: tuple[str, ...] = ()
    """Notes of the document that the index lost or got back: its source deleted or restored it."""


def write_source(home: Home, document: SourceDocument) -> WriteResult:
    """Merge one document (or the next piece of one) into its note; durable when it returns.

    Of a document that its source deleted every note is marked, and unmarked when it comes back.

    A note whose front matter a person removed or broke stays byte for byte as it is; the document
    then goes on in a note beside it.

    Raises NoteConflictError when a person keeps saving the note meanwhile, DeadlineExceededError
    when its lock is not to be had, UnsafePathError when its place is a link.
    """
    place = find_place(vault_root(home, document.scope), document)
    result = WriteResult(place.path)
    if document.utterances or not document.withdrawn:
        result = _write_messages(home, document)
    news = bool(result.added or result.changed)
    return replace(result, marked=follow_withdrawal(home, document, result.path, news=news))


def _write_messages(home: Home, document: SourceDocument) -> WriteResult:
    root = vault_root(home, document.scope)
    messages = _render(document)
    with part_lock(home, document):
        place = find_place(root, document)
        result, kept = rewrite(
            root, place.path, lambda seen: _merged(seen, place, document, messages)
        )
    redactions: Counter[str] = Counter()
    for message in messages:
        redactions.update(message.redactions)
    copies = tuple(_save_kept(home, document.scope, place.path, block) for block in kept)
    return replace(result, conflicts=copies, redactions=dict(redactions))


def read_messages(
    home: Home, scope: Scope, path: str, markers: Collection[str] | None = None
) -> tuple[Message, ...]:
    """Return the messages of a source note, all or those with these markers, in its order.

    Raises NotFoundError, BadInputError and UnsafePathError like `store.read`.
    """
    note = decode_note(read(vault_root(home, scope), path).data, path)
    wanted = None if markers is None else frozenset(markers)
    return tuple(
        message
        for message in parse_messages(note.body)
        if wanted is None or message.marker in wanted
    )


def known_utterances(home: Home) -> Iterator[tuple[str, str]]:
    """Yield (source, marker) of every message in the vaults: enough to refill a lost ledger.

    Notes that cannot be read are left out.
    """
    for scope in Scope:
        root = vault_root(home, scope)
        for file in list_notes(root, SOURCES):
            try:
                note = decode_note(read(root, file.path).data, file.path)
            except (BadInputError, UnsafePathError):
                continue
            source = _source_of(note, file.path)
            blocks = parse_body(note.body).blocks
            yield from ((source, block.marker) for block in blocks if block.type == "u")


def _source_of(note: NoteText, path: str) -> str:
    folder = source_of_path(path) or ""
    named = text_in(note.front, "source") or ""
    return named if named.strip() and subject_slug(named) == folder else folder


def _render(document: SourceDocument) -> list[Rendered]:
    """Return the messages, one a marker: of two with the same id the later one counts."""
    latest = {utterance.marker: utterance for utterance in document.utterances}
    return [render_message(utterance, document.revision) for utterance in latest.values()]


def _merged(
    seen: Snapshot | None, place: Place, document: SourceDocument, messages: Sequence[Rendered]
) -> tuple[bytes | None, tuple[WriteResult, list[Block]]]:
    note = decode_note(seen.data, place.path) if seen else None
    body = parse_body(note.body) if note else Body(f"# {escape(place.title)}\n")
    merge = Merge(list(body.blocks))
    merge_messages(merge, messages, place.elsewhere)
    result = WriteResult(
        place.path,
        created=note is None,
        added=tuple(merge.added),
        changed=tuple(merge.changed),
        unchanged=tuple(merge.unchanged),
        kept=tuple(block.marker for block in merge.kept),
        problem=place.problem,
    )
    after = Body(body.lead, tuple(merge.blocks))
    if note:
        text = _updated(note, body, after, document, place)
    else:
        text = _new_text(after, document, place)
    return text.encode("utf-8", "replace"), (result, merge.kept)


def _new_text(body: Body, document: SourceDocument, place: Place) -> str:
    text = body.render()
    return wrap(render(sealed(new_front(document, place.title), text))) + text


def _updated(
    note: NoteText, before: Body, after: Body, document: SourceDocument, place: Place
) -> str:
    changes: dict[str, Any] = front_changes(note.front, document)
    untouched = note.untouched
    if untouched:
        after, title = _retitled(note, after, document, place.title)
        changes |= title
    # a body without news keeps its bytes, whatever a person made of its blank lines
    text = after.render() if after != before else note.body
    if untouched:
        changes = sealed({**note.front, **changes}, text)
    return with_front(note, changes, place.path) + text


def _retitled(
    note: NoteText, body: Body, document: SourceDocument, new: str
) -> tuple[Body, dict[str, Any]]:
    """Follow a title that changed at the source, unless a person chose one."""
    old = text_in(note.front, "title") or ""
    heading = f"# {escape(old)}\n"
    if old == new or not document.title.strip() or not is_newer(note.front, document):
        return body, {}
    if not body.lead.startswith(heading):
        return body, {}
    return replace(body, lead=f"# {escape(new)}\n{body.lead[len(heading) :]}"), {"title": new}


def _save_kept(home: Home, scope: Scope, path: str, block: Block) -> str:
    content = f"# {block.heading}\n\n{block.text}\n"
    return save_conflict(home, scope, path, _EDITED, content)

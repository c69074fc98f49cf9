"""What becomes of insights when the messages that they were drawn from changed or went."""

from __future__ import annotations

from collections.abc import Iterable

from context_engine.errors import NotFoundError
from context_engine.events import MOVED, SourceDocument
from context_engine.home import Home
from context_engine.scopes import Scope
from vault.evidence import Evidence, follow_evidence
from vault.marks import Standing
from vault.messages import Message
from vault.notes import Note, read_note
from vault.sources import WriteResult
from workers.extraction.textmatch import fold


def follow_insights(home: Home, document: SourceDocument, written: WriteResult) -> tuple[str, ...]:
    """Bring insights in line with the notes of a document that changed; return theirs that did.

    It depends on what the notes say now alone, so that a run that was killed may do it again.
    """
    if not (document.revision or document.withdrawn or written.marked):
        return ()
    return check_insights(home, document.scope, (written.path, *written.marked))


def check_insights(home: Home, scope: Scope, paths: Iterable[str]) -> tuple[str, ...]:
    """Bring insights in line with the source notes at `paths`; return the notes that changed."""
    notes = list(_notes(home, scope, dict.fromkeys(paths)))
    messages = {message.marker: message for note in notes for message in note.messages}
    gone = {
        message.marker
        for note in notes
        if note.standing is Standing.WITHDRAWN
        for message in note.messages
    }

    def judge(marker: str, quote: str) -> Evidence:
        evidence = _evidence(messages[marker], quote)
        return Evidence.WITHDRAWN if evidence is Evidence.HOLDS and marker in gone else evidence

    return follow_evidence(home, scope, messages.keys(), judge)


def _notes(home: Home, scope: Scope, paths: Iterable[str]) -> Iterable[Note]:
    for path in paths:
        try:
            yield read_note(home, scope, path)
        except NotFoundError:
            continue


def _evidence(message: Message, quote: str) -> Evidence:
    if message.withdrawn:
        return Evidence.DELETED
    # words of a person's are no news of the source's, and what moved is still said elsewhere
    if message.edited or message.text == MOVED or not quote:
        return Evidence.HOLDS
    return Evidence.HOLDS if fold(message.text).find(quote) else Evidence.CHANGED

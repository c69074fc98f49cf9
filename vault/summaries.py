"""The summary of an insight note, written again when the first one does not find its note."""

from __future__ import annotations

import re
from collections.abc import Iterator

from context_engine.home import Home
from context_engine.redaction import redact
from context_engine.scopes import Scope
from vault.escape import one_line
from vault.insight_files import change_file
from vault.notefile import FRONT_HASH, NoteText, content_hash, with_front
from vault.notes import Note
from vault.seals import SEAL
from vault.standing import is_ours

LIMIT = 160
_WORD = re.compile(r"[A-Za-z][\w.+-]{2,}|[ァ-ヶー]{3,}|[一-龥々]{2,}|\d{2,}")
_LOOKED_AT = 4_000


def telling_summary(note: Note) -> str:
    """Return a summary that names what tells a note from others: title, subject, rare words."""
    plain = one_line(redact(note.body[:_LOOKED_AT]).text, _LOOKED_AT)
    summary = one_line(note.title, LIMIT)
    for part in (note.project or "", *note.people, *_words(plain)):
        longer = f"{summary} · {part}"
        if part and part.casefold() not in summary.casefold() and len(longer) <= LIMIT:
            summary = longer
    return summary


def write_summary(home: Home, scope: Scope, path: str, summary: str) -> bool:
    """Give a note another summary; return whether it has one now.

    What a person edited, reviewed or vouched for stays as it is.
    """

    def change(note: NoteText) -> str | None:
        if not is_ours(note) or note.front.get(SEAL):
            return None
        front = {**note.front, "summary": summary}
        changes = {"summary": summary, FRONT_HASH: content_hash(note.body, front)}
        return with_front(note, changes, path) + note.body

    return change_file(home, scope, path, change, lambda _note: None)


def _words(text: str) -> Iterator[str]:
    yield from dict.fromkeys(match.group() for match in _WORD.finditer(text))

"""Whether an insight is found by its own summary; if not, the summary is improved once."""

from __future__ import annotations

from context_engine.errors import ContextEngineError
from context_engine.home import Home
from context_engine.scopes import Scope
from index.model import SearchRequest
from vault.marks import SUPERSEDED_BY, Standing
from vault.notes import Note, NoteType, read_note
from vault.summaries import telling_summary, write_summary
from workers.consolidation.candidates import Search

FIRST = 3

FOUND = "memory.found_by_summary"
IMPROVED = "memory.summary_improved"
NOT_FOUND = "memory.not_found_by_summary"


def check_summary(home: Home, scope: Scope, path: str, search: Search) -> str | None:
    """Return what became of the search for a note that was just indexed, None when there is none.

    Only insights with a file of their own are looked for, and those that still hold.
    """
    try:
        note = read_note(home, scope, path)
        if not _is_meant(note):
            return None
        if _is_found(note, search):
            return FOUND
    except ContextEngineError:
        # it went, or the index cannot be searched: the next time it is indexed will tell
        return None
    better = telling_summary(note)
    if better != note.summary and write_summary(home, scope, path, better):
        return IMPROVED
    return NOT_FOUND


def _is_meant(note: Note) -> bool:
    holds = note.standing is Standing.HOLDS and not note.front.get(SUPERSEDED_BY)
    return note.type is NoteType.INSIGHT and bool(note.summary) and holds


def _is_found(note: Note, search: Search) -> bool:
    hits = search.search(note.scope, SearchRequest(note.summary, FIRST)).hits
    return any((hit.scope, hit.path) == (note.scope, note.path) for hit in hits)

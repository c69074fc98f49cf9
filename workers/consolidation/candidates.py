"""Which known insights a new one may repeat or replace, always read back from the vault.

The index names them by words, and by meaning where the caller's search has vectors; what was saved
since it was last brought up to date is found in `Recent`. A project's or person's insights all
lie in one note.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from context_engine.errors import ContextEngineError
from context_engine.home import Home
from context_engine.insights import Insight, Kind
from context_engine.scopes import Scope
from index.model import Filters, SearchRequest, SearchResult
from vault.layout import SECTION_KINDS
from vault.paths import vault_root
from vault.subjects import find_subject, subject_name
from vault.succession import Known, find_insight, read_insights
from workers.consolidation.recent import Recent

_LOOKED_AT = 6
_IN_A_NOTE = 100
"""The newest of a project's or person's insights that are compared."""
_ASKED = 200
"""Characters."""


class Search(Protocol):
    """What this needs of the index."""

    def search(self, scope: Scope, request: SearchRequest) -> SearchResult:
        """Return the best hits among what `scope` may read."""
        ...


def known_like(insight: Insight, search: Search | None) -> tuple[str, ...]:
    """Return the paths of insights that resemble `insight`, of its own vault and kind.

    () when the index cannot be searched: then `Recent` and the exact words have to do.
    """
    if in_sections(insight):
        return ()
    request = SearchRequest(
        f"{insight.title} {insight.content[:_ASKED]}", _LOOKED_AT, Filters(kinds=(insight.kind,))
    )
    try:
        hits = search.search(insight.scope, request).hits if search else ()
    except ContextEngineError:
        return ()
    return tuple(dict.fromkeys(hit.path for hit in hits if hit.scope is insight.scope))


def candidates(
    home: Home, insight: Insight, found: tuple[str, ...], recent: Recent
) -> tuple[Known, ...]:
    """Return the known insights to compare with, the same words included, each once."""
    every = (
        _in_its_note(home, insight)
        if in_sections(insight)
        else _in_notes(home, insight, (*recent.like(insight), *found))
    )
    unique = {known.insight_id: known for known in every if known.kind is insight.kind}
    return tuple(unique.values())


def same_words(home: Home, insight: Insight, known: tuple[Known, ...]) -> Known | None:
    """Return the insight that has the same id, which is made of its words."""
    own = next((item for item in known if item.insight_id == insight.insight_id), None)
    if own is not None or in_sections(insight):
        return own
    return find_insight(home, insight.scope, insight.kind, insight.insight_id)


def in_sections(insight: Insight) -> bool:
    """Tell whether it becomes a section of the note of its subject."""
    return insight.kind in SECTION_KINDS and bool(subject_name(insight))


def _in_notes(home: Home, insight: Insight, paths: tuple[str, ...]) -> Iterator[Known]:
    for path in dict.fromkeys(paths):
        yield from _read(home, insight.scope, path)


def _read(home: Home, scope: Scope, path: str) -> tuple[Known, ...]:
    """Read a note once for as long as it is the same file: an import meets the same ones again.

    Every writer puts a new file in the old one's place, so that its inode tells.
    """
    place = home.vault(scope) / path
    try:
        info = place.lstat()
    except OSError:
        return ()
    state = (info.st_ino, info.st_mtime_ns, info.st_size)
    kept = _kept.get(str(place))
    if kept is not None and kept[0] == state:
        return kept[1]
    found = read_insights(home, scope, path)
    if len(_kept) >= _KEPT_AT_MOST:
        _kept.clear()
    _kept[str(place)] = (state, found)
    return found


_KEPT_AT_MOST = 2_000
_kept: dict[str, tuple[tuple[int, int, int], tuple[Known, ...]]] = {}


def _in_its_note(home: Home, insight: Insight) -> tuple[Known, ...]:
    root = vault_root(home, insight.scope)
    path = find_subject(root, insight.kind, subject_name(insight))
    known = read_insights(home, insight.scope, path)
    return known[-_IN_A_NOTE:]


def about_one_thing(insight: Insight, known: Known) -> bool:
    """Tell whether two insights can be about one thing at all: not of two projects."""
    if insight.kind in (Kind.VALUE, Kind.PERSON) or not (insight.project and known.project):
        return True
    return insight.project.casefold() == known.project.casefold()

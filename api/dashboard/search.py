"""The same search as the assistants', with why each hit stands where it stands."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from api.dashboard.ask import Ask
from api.dashboard.deck import Deck
from api.dashboard.render import page
from api.operations.search_knowledge import MAX_QUERY
from context_engine.insights import Confidence, Kind
from context_engine.scopes import Scope
from index.browse import latest
from index.model import Filters, Hit, SearchRequest, SearchResult

LIMIT = 20
PAGE = 40


def show(deck: Deck, ask: Ask) -> Response:
    """Show the page: hits for a question, without one what came last."""
    scope = ask.scope(deck.settings.default_scope)
    query = ask.query.get("q", "").strip()[:MAX_QUERY]
    if ask.exchange.caller is not None:
        ask.exchange.caller = _within(ask, scope)
    shown: dict[str, Any] = {"result": None, "entries": [], "more": None}
    if query:
        result = _found(deck, ask, scope, query)
        ask.exchange.results = tuple(hit.chunk_id for hit in result.hits)
        shown["result"] = result
    else:
        entries = latest(deck.home, scope, before=ask.number("before"), limit=PAGE)
        ask.exchange.results = tuple(f"{scope.value}/{entry.path}" for entry in entries)
        shown |= {"entries": entries, "more": entries[-1].number if len(entries) == PAGE else None}
    return page(
        ask,
        "search.html",
        here="search",
        q=query,
        scope=scope,
        scopes=list(Scope),
        kinds=list(Kind),
        confidences=list(Confidence),
        parts=parts_of,
        **shown,
    )


def parts_of(hit: Hit) -> list[tuple[str, float]]:
    """Return what the score of a hit is made of: (part, points), those that count."""
    parts = ("lexical", "dense", "named", "freshness", "phrases")
    found = ((part, float(hit.explanation.get(part) or 0.0)) for part in parts)
    return [(part, points) for part, points in found if abs(points) > 0.0005]  # noqa: PLR2004 - shown to 3 digits


def _found(deck: Deck, ask: Ask, scope: Scope, query: str) -> SearchResult:
    kind, confidence = ask.query.get("kind", ""), ask.query.get("confidence", "")
    filters = Filters(
        kinds=(Kind(kind),) if kind in set(Kind) else (),
        confidence=Confidence(confidence) if confidence in set(Confidence) else None,
        project=ask.query.get("project", "").strip()[:100] or None,
    )
    request = SearchRequest(query, limit=LIMIT, filters=filters, explain=True)
    return deck.services().index.search(scope, request)


def _within(ask: Ask, scope: Scope) -> Any:
    from dataclasses import replace

    return replace(ask.exchange.caller, scope=scope) if ask.exchange.caller else None

"""Where text comes from: what came last from each source, and the routines that fetch it."""

from __future__ import annotations

from starlette.responses import Response

from api.dashboard.ask import Ask
from api.dashboard.deck import Deck
from api.dashboard.render import page
from workers import outbox_view

_SECONDS = 30.0


def show(deck: Deck, ask: Ask) -> Response:
    """Show the page."""
    collected = deck.cache.get("last", _SECONDS, lambda: outbox_view.last_received(deck.outbox))
    return page(ask, "sources.html", here="sources", collected=collected, routines=())

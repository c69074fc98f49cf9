"""Who may ask: tokens, their last use, and the last requests of the audit log."""

from __future__ import annotations

from starlette.responses import Response

from api.audit_reading import read_last
from api.dashboard.ask import Ask
from api.dashboard.deck import Deck
from api.dashboard.render import page
from api.tokens import list_tokens

_REQUESTS = 100


def show(deck: Deck, ask: Ask) -> Response:
    """Show the page."""
    client = ask.query.get("client") or None
    return page(
        ask,
        "clients.html",
        here="clients",
        tokens=list_tokens(deck.home),
        client=client,
        requests=read_last(deck.home.audit_log, client=client, limit=_REQUESTS),
    )

"""Coming in by a one-time link, going out, and the choices a browser keeps: language, theme."""

from __future__ import annotations

from starlette.responses import Response

from api.dashboard import links
from api.dashboard.ask import LANGUAGE_COOKIE, THEME_COOKIE, THEMES, Ask
from api.dashboard.deck import Deck
from api.dashboard.language import LANGUAGES
from api.dashboard.render import page, see_other
from api.dashboard.static_files import files
from context_engine.errors import NotFoundError

_YEAR = 365 * 86_400


def enter(deck: Deck, ask: Ask) -> Response:
    """Turn a one-time link into a session."""
    session = links.redeem(deck.home, ask.query.get("link", "")[:200], deck.clock)
    if session is None:
        ask.exchange.outcome = "no_session"
        return page(ask, "locked.html", status=401, failed=True)
    ask.exchange.recorded = True
    # a page of ours goes on from here: a redirect from another site would leave a strict cookie out
    reply = page(ask, "welcome.html")
    reply.set_cookie(
        ask.cookie,
        session,
        max_age=links.SESSION_SECONDS,
        path="/",
        httponly=True,
        samesite="strict",
    )
    return reply


def leave(deck: Deck, ask: Ask) -> Response:
    """End the session."""
    links.end(deck.home, ask.session)
    reply = see_other("/")
    reply.delete_cookie(ask.cookie, path="/", httponly=True, samesite="strict")
    return reply


def prefer(deck: Deck, ask: Ask) -> Response:
    """Keep a language or a theme, and show the page again that it was chosen on."""
    del deck
    back = ask.field("back")
    # a path of ours: `//host` would be another's
    safe = back.startswith("/") and not back.startswith(("//", "/\\")) and back.isprintable()
    reply = see_other(back if safe else "/")
    for name, allowed in ((LANGUAGE_COOKIE, LANGUAGES), (THEME_COOKIE, THEMES)):
        chosen = ask.field(name)
        if chosen in allowed:
            reply.set_cookie(name, chosen, max_age=_YEAR, path="/", httponly=True, samesite="lax")
    return reply


def static(deck: Deck, ask: Ask) -> Response:
    """Return a file of the program."""
    del deck
    found = files().get(ask.params["name"])
    if found is None:
        raise NotFoundError(ask.params["name"])
    data, kind = found
    return Response(data, media_type=kind, headers={"cache-control": "private, max-age=86400"})

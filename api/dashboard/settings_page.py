"""All settings of this home, read-only, each with where its value comes from."""

from __future__ import annotations

from itertools import groupby

from starlette.responses import Response

from api.dashboard.ask import Ask
from api.dashboard.deck import Deck
from api.dashboard.render import page
from context_engine.settings_origin import origins


def show(deck: Deck, ask: Ask) -> Response:
    """Show the page."""
    found = origins(deck.settings)
    groups = [
        (name, list(group))
        for name, group in groupby(found, key=lambda each: each.name.rpartition(".")[0])
    ]
    return page(ask, "settings.html", here="settings", groups=groups, config=deck.home.config_file)

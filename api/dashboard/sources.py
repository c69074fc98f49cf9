"""Where text comes from: what came last from each source, and the routines that fetch it."""

from __future__ import annotations

import os
import subprocess
import threading
from typing import Any

from starlette.responses import Response

from api.dashboard.ask import Ask
from api.dashboard.deck import Deck
from api.dashboard.render import page, see_other
from api.routines.history import History
from api.routines.report import routine_states
from api.routines.runner import routine_named
from context_engine.clock import parse_utc
from workers import outbox_view
from workers.supervisor import child_environment, child_python

_SECONDS = 30.0
_RUNS = 50


def show(deck: Deck, ask: Ask) -> Response:
    """Show the page."""
    collected = deck.cache.get("last", _SECONDS, lambda: outbox_view.last_received(deck.outbox))
    return page(ask, "sources.html", here="sources", collected=collected, **_routines(deck))


def run(deck: Deck, ask: Ask) -> Response:
    """Run a routine now, in a process of its own; one that is running is left alone."""
    name = routine_named(deck.settings, ask.params["name"]).name
    process = subprocess.Popen(  # noqa: S603 - our own command line, a name of the settings
        child_python("api.routines.process", name),
        cwd=deck.home.root,
        env=child_environment(deck.home, dict(os.environ)),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    # somebody has to take its end, or it stays as a zombie
    threading.Thread(target=process.wait, daemon=True).start()
    return _after(deck, ask, "started", name)


def pause(deck: Deck, ask: Ask) -> Response:
    """Let a routine rest, or go on."""
    name = routine_named(deck.settings, ask.params["name"]).name
    paused = ask.field("paused") == "1"
    with History(deck.home.routines) as history:
        history.pause(name, paused=paused)
    return _after(deck, ask, "paused" if paused else "resumed", name)


def _after(deck: Deck, ask: Ask, done: str, name: str) -> Response:
    deck.cache.forget("routines")
    if not ask.partial:
        return see_other("/sources")
    return page(ask, "routines.html", **_routines(deck, (done, name)))


def _routines(deck: Deck, said: tuple[str, str] | None = None) -> dict[str, Any]:
    states = routine_states(deck.settings)
    runs = []
    if states:
        with History(deck.home.routines) as history:
            runs = history.runs(None, _RUNS)
    return {"routines": states, "runs": runs, "said": said, "utc": parse_utc}

"""Queues, running jobs, retries, what was given up, and the receipt of an event."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from api.dashboard.ask import Ask
from api.dashboard.deck import Deck
from api.dashboard.render import fragment, page, see_other
from context_engine.errors import NotFoundError
from workers import outbox_view, quarantine

_MAX_SELECTED = 500


def show(deck: Deck, ask: Ask) -> Response:
    """Show the page."""
    return page(ask, "work.html", here="work", said=None, **_given_up(deck, ask), **figures(deck))


def live_part(deck: Deck, ask: Ask) -> str:
    """Return the part of the page that changes by itself."""
    return fragment(ask, "work_live.html", **figures(deck))


def figures(deck: Deck) -> dict[str, Any]:
    """Return queues, running jobs and retries."""
    return {
        "queues": outbox_view.unfinished_counts(deck.outbox),
        "running_jobs": outbox_view.running(deck.outbox),
        "retrying": outbox_view.retrying(deck.outbox),
        "now": deck.clock.now().timestamp(),
    }


def receipt(deck: Deck, ask: Ask) -> Response:
    """Show what became of one event."""
    found = outbox_view.receipt(deck.outbox, ask.params["event_id"])
    if found is None:
        raise NotFoundError(ask.params["event_id"])
    ask.exchange.results = (found.event_id,)
    return page(ask, "receipt.html", here="work", receipt=found)


def replay(deck: Deck, ask: Ask) -> Response:
    """Let the chosen jobs be tried again."""
    chosen = [int(text) for text in ask.form.get("job", ()) if text.isascii() and text.isdigit()]
    count = quarantine.replay(
        deck.outbox,
        [number for number in chosen[:_MAX_SELECTED] if number < 2**63],
        max_attempts=deck.settings.workers.max_attempts,
    )
    return _done(deck, ask, count)


def replay_class(deck: Deck, ask: Ask) -> Response:
    """Let everything of one class be tried again."""
    count = quarantine.replay_class(
        deck.outbox, ask.field("class"), max_attempts=deck.settings.workers.max_attempts
    )
    return _done(deck, ask, count)


def _done(deck: Deck, ask: Ask, count: int) -> Response:
    deck.cache.forget("unfinished", "oldest")
    if not ask.partial:
        return see_other("/work")
    return page(ask, "quarantine.html", **_given_up(deck, ask), said=count)


def _given_up(deck: Deck, ask: Ask) -> dict[str, Any]:
    chosen = ask.query.get("class")
    jobs = outbox_view.quarantined(deck.outbox, chosen, ask.number("before"))
    return {
        "classes": quarantine.classes(deck.outbox),
        "chosen": chosen,
        "given_up": jobs,
        "more": jobs[-1].job_id if len(jobs) == outbox_view.PAGE else None,
        "ailment_of": quarantine.ailment_of,
    }

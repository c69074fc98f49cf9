"""Server-sent events: the parts of an open page that change by themselves."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable

import anyio
from starlette.responses import Response, StreamingResponse

from api.dashboard import overview, work
from api.dashboard.ask import Ask
from api.dashboard.deck import Deck
from api.dashboard.links import is_open
from api.dispatch import in_thread
from context_engine.logs import get_logger

SECONDS = 2.0
_STEP = 0.25
"""How soon a stream notices that the server ends."""
_HEARTBEAT_SECONDS = 15.0
MAX_STREAMS = 30
_VIEWS: dict[str, Callable[[Deck, Ask], str]] = {
    "overview": overview.live_part,
    "work": work.live_part,
}

log = get_logger(__name__)
_open = 0


def live(deck: Deck, ask: Ask) -> Response:
    """Return the stream of one page; 503 when there are too many, since each holds a connection."""
    view = _VIEWS.get(ask.query.get("view", ""))
    if view is None:
        return Response(status_code=404)
    if _open >= MAX_STREAMS:
        return Response(status_code=503, headers={"retry-after": "30"})
    return StreamingResponse(
        _events(deck, ask, view),
        media_type="text/event-stream",
        headers={"cache-control": "no-store", "x-accel-buffering": "no"},
    )


async def _events(deck: Deck, ask: Ask, view: Callable[[Deck, Ask], str]) -> AsyncIterator[bytes]:
    global _open  # noqa: PLW0603 - connections of this process
    _open += 1
    shown, said = "", time.monotonic()
    try:
        while not deck.stopping.is_set() and is_open(deck.home, ask.session, deck.clock):
            html = await in_thread(lambda: view(deck, ask))
            if html != shown:
                shown, said = html, time.monotonic()
                yield _event("part", html)
            elif time.monotonic() - said > _HEARTBEAT_SECONDS:
                said = time.monotonic()
                yield b": still here\n\n"
            await _pause(deck)
    except Exception:
        log.exception("a live page broke off; the browser asks again")
    finally:
        _open -= 1


async def _pause(deck: Deck) -> None:
    for _ in range(int(SECONDS / _STEP)):
        if deck.stopping.is_set():
            return
        await anyio.sleep(_STEP)


def _event(name: str, html: str) -> bytes:
    lines = "".join(f"data: {line}\n" for line in html.splitlines())
    return f"event: {name}\n{lines}\n".encode()

"""`/metrics`: the counts of this home for Prometheus."""

from __future__ import annotations

import ipaddress
import secrets
from collections.abc import Awaitable, Callable
from functools import cache
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response

from api.dispatch import in_thread
from api.http.reply import UNCACHED
from api.prometheus import CONTENT_TYPE, render
from context_engine.metric_store import MetricStore
from context_engine.metrics import FAMILIES, flush
from context_engine.settings import ApiSettings, Settings

if TYPE_CHECKING:
    from api.gauges import Gauges


def endpoint(settings: Settings) -> Callable[[Request], Awaitable[Response]]:
    """Return the handler."""
    gauges = cache(lambda: _gauges(settings))

    def text() -> str:
        from api.gauges import GAUGES

        flush(settings.paths.metrics)
        with MetricStore(settings.paths.metrics) as store:
            return render(FAMILIES | GAUGES, store.totals(), gauges().read())

    async def handle(request: Request) -> Response:
        del request
        return Response(await in_thread(text), headers=UNCACHED, media_type=CONTENT_TYPE)

    return handle


def _gauges(settings: Settings) -> Gauges:
    # by the first scrape: most homes are never scraped, and the libraries delay the start
    from api.gauges import Gauges

    return Gauges(settings)


def gate(api: ApiSettings) -> Callable[[Headers], bool]:
    """Return who may read: with a key its holder alone, else everybody on the loopback.

    A server that other hosts reach, or that a tunnel names, shows nothing without a key.
    """
    if api.metrics_key is not None:
        wanted = f"Bearer {api.metrics_key.get_secret_value()}".encode()
        return lambda headers: secrets.compare_digest(
            headers.get("authorization", "").encode(), wanted
        )
    is_open = _is_loopback(api.host) and not api.allowed_hosts
    return lambda _: is_open


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False

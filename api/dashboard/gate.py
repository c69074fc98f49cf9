"""Who gets to the dashboard: the owner's browser on this machine, with a session; no token does."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from functools import cached_property

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from api.http.guards import Names

SECTIONS = frozenset(
    {
        *("", "work", "jobs", "events", "review", "search", "notes", "sources", "clients"),
        *("settings", "live", "parts", "login", "logout", "preferences", "static"),
    }
)
"""First pieces of the dashboard's paths; every other path belongs to clients with tokens."""


class DashboardGate:
    """Sends what a browser of this machine asks of the dashboard there, the rest on.

    From elsewhere, or under a tunnel's name, there is no dashboard: those requests go on as well,
    and are answered like any path without a rule.
    """

    def __init__(self, app: ASGIApp, names: Names, make: Callable[[], ASGIApp]) -> None:
        self._app = app
        self._names = names
        self._make = make

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "http" and belongs(scope["path"]) and self._is_local(scope):
            await self._dashboard(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    @cached_property
    def _dashboard(self) -> ASGIApp:
        # its libraries wait for the first person who looks
        return self._make()

    def _is_local(self, scope: Scope) -> bool:
        host = Headers(scope=scope).get("host", "").lower()
        client = scope.get("client")
        return host in self._names.hosts and client is not None and _is_loopback(client[0])


def belongs(path: str) -> bool:
    """Return whether a path is the dashboard's."""
    return path.startswith("/") and path[1:].partition("/")[0] in SECTIONS


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False

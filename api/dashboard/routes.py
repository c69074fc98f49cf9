"""Every path of the dashboard: who may ask for it, what answers, whether it is recorded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from starlette.responses import Response

from api.dashboard import (
    clients,
    entrance,
    note,
    overview,
    review,
    search,
    settings_page,
    sources,
    work,
)
from api.dashboard.ask import Ask
from api.dashboard.deck import Deck


class Access(StrEnum):
    """Who may ask for a route. No route knows a bearer token."""

    OPEN = "open"
    """Shows no data: the way in, and files of the program."""
    SESSION = "session"


@dataclass(frozen=True)
class DashboardRoute:
    """One method of one path."""

    name: str
    method: str
    path: str
    handler: Callable[[Deck, Ask], Response]
    access: Access = Access.SESSION
    recorded: bool = True
    """Whether the audit log gets a line: for what shows notes or changes something."""
    stream: bool = False


def _get(name: str, path: str, handler: Callable[[Deck, Ask], Response]) -> DashboardRoute:
    return DashboardRoute(name, "GET", path, handler)


def _quiet(name: str, path: str, handler: Callable[[Deck, Ask], Response]) -> DashboardRoute:
    return DashboardRoute(name, "GET", path, handler, recorded=False)


def _post(name: str, path: str, handler: Callable[[Deck, Ask], Response]) -> DashboardRoute:
    return DashboardRoute(name, "POST", path, handler)


ROUTES = (
    _quiet("overview", "/", overview.show),
    _quiet("charts", "/parts/charts", overview.charts),
    _quiet("llm", "/parts/llm", overview.llm),
    _quiet("work", "/work", work.show),
    _get("receipt", "/events/{event_id}", work.receipt),
    _post("replay", "/jobs/replay", work.replay),
    _post("replay class", "/jobs/replay-class", work.replay_class),
    _get("review", "/review", review.show),
    _get("review detail", "/review/{insight_id}/detail", review.detail),
    _get("review form", "/review/{insight_id}/edit", review.form),
    _post("decide", "/review/{action}", review.decide),
    _get("search", "/search", search.show),
    _get("note", "/notes/{scope}/{path:path}", note.show),
    _post("edit", "/notes/{scope}/{path:path}", note.save),
    _quiet("sources", "/sources", sources.show),
    _post("run routine", "/sources/{name}/run", sources.run),
    _post("pause routine", "/sources/{name}/pause", sources.pause),
    _quiet("clients", "/clients", clients.show),
    _quiet("settings", "/settings", settings_page.show),
    _post("preferences", "/preferences", entrance.prefer),
    _post("logout", "/logout", entrance.leave),
    DashboardRoute("live", "GET", "/live", overview.show, recorded=False, stream=True),
    DashboardRoute("login", "GET", "/login", entrance.enter, Access.OPEN, recorded=False),
    DashboardRoute("static", "GET", "/static/{name}", entrance.static, Access.OPEN, recorded=False),
)

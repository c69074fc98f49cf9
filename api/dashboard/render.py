"""Pages from templates: everything escaped, nothing loaded from elsewhere."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse, Response

from api.dashboard.ask import THEMES, Ask
from api.dashboard.language import LANGUAGES, known, translate
from api.dashboard.static_files import version

NAVIGATION = ("overview", "work", "review", "search", "sources", "clients", "settings")
_UNITS = ((86_400, "days"), (3_600, "hours"), (60, "minutes"))
_SIZES = ("B", "kB", "MB", "GB", "TB")


def page(ask: Ask, template: str, *, status: int = 200, **values: Any) -> Response:
    """Return a whole page."""
    return HTMLResponse(fragment(ask, template, **values), status)


def fragment(ask: Ask, template: str, **values: Any) -> str:
    """Return the HTML of a template."""
    translated = partial(translate, ask.language)
    return (
        _environment()
        .get_template(template)
        .render(
            ask=ask,
            t=translated,
            word=partial(known, ask.language),
            ago=partial(duration, ask.language),
            navigation=NAVIGATION,
            languages=LANGUAGES,
            themes=THEMES,
            version=version(),
            **values,
        )
    )


def see_other(place: str) -> Response:
    """Return the reply to a form that was taken: go and look there."""
    return Response(status_code=303, headers={"location": place})


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "size": size,
        "moment": moment,
        "iso": iso,
        "figure": figure,
        "percent": percent,
    }
    return environment


def duration(language: str, seconds: float | None) -> str:
    """Return a span of time in its largest unit: `3 min`."""
    if seconds is None:
        return "–"
    for length, name in _UNITS:
        if seconds >= length:
            return translate(language, f"time.{name}", n=int(seconds // length))
    return translate(language, "time.seconds", n=int(seconds))


def size(count: float | None) -> str:
    """Return a number of bytes in the unit that suits it."""
    if count is None:
        return "–"
    for unit in _SIZES[:-1]:
        if count < 1000:  # noqa: PLR2004 - decimal units
            return f"{count:.0f} {unit}" if unit == "B" or count >= 10 else f"{count:.1f} {unit}"  # noqa: PLR2004 - two digits are enough
        count /= 1000
    return f"{count:.1f} {_SIZES[-1]}"


def figure(value: float | None) -> str:
    """Return a number with its thousands set apart."""
    return "–" if value is None else f"{value:,.0f}"


def percent(share: float | None) -> str:
    """Return a share of 1 as percent."""
    return "–" if share is None else f"{100 * share:.0f} %"


def moment(at: datetime | float | None) -> str:
    """Return a time as the clock on this machine's wall showed it."""
    if at is None:
        return "–"
    when = datetime.fromtimestamp(at, UTC) if isinstance(at, (int, float)) else at
    return f"{when.astimezone():%Y-%m-%d %H:%M}"


def iso(at: datetime | float | None) -> str:
    """Return a time for the `datetime` of a <time>."""
    if at is None:
        return ""
    when = datetime.fromtimestamp(at, UTC) if isinstance(at, (int, float)) else at
    return when.isoformat(timespec="seconds")

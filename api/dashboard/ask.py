"""One request of the owner's browser, checked and parsed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

from starlette.requests import Request

from api.dashboard.language import choose
from api.dashboard.links import csrf_token
from api.exchange import Exchange
from context_engine.scopes import Scope

SESSION_COOKIE = "ce_session"
LANGUAGE_COOKIE = "ce_lang"
THEME_COOKIE = "ce_theme"
THEMES = ("auto", "light", "dark")
_MAX_FIELDS = 2_000


@dataclass(frozen=True)
class Ask:
    """What a page needs to know. Values are the browser's words: untrusted but for the session."""

    path: str
    exchange: Exchange
    session: str = ""
    """Secret of the open session, "" without one."""
    cookie: str = ""
    """Name of the session's cookie."""
    params: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    language: str = "en"
    theme: str = "auto"
    address: str = "/"
    """Path and query, to come back to."""
    partial: bool = False
    """Asked for by htmx: only the part that changed is wanted."""

    @property
    def csrf(self) -> str:
        """What a form has to send back."""
        return csrf_token(self.session) if self.session else ""

    def field(self, name: str, default: str = "") -> str:
        """Return one value of the form."""
        return self.form.get(name, (default,))[-1]

    def number(self, name: str) -> int | None:
        """Return a number of the query, None when there is none."""
        text = self.query.get(name, "")
        return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None  # noqa: PLR2004 - fits 64 bits

    def scope(self, default: Scope) -> Scope:
        """Return the vault that the query names."""
        text = self.query.get("scope", "")
        return Scope(text) if text in set(Scope) else default


def read_ask(request: Request, exchange: Exchange, session: str, body: bytes) -> Ask:
    """Return what `request` asks; raises ValueError when the form has too many fields."""
    theme = request.cookies.get(THEME_COOKIE, "auto")
    return Ask(
        path=request.url.path,
        exchange=exchange,
        session=session,
        cookie=cookie_name(request),
        params=dict(request.path_params),
        query=dict(request.query_params),
        form=parse_form(body),
        language=choose(
            request.cookies.get(LANGUAGE_COOKIE), request.headers.get("accept-language", "")
        ),
        theme=theme if theme in THEMES else "auto",
        address=_address(request),
        partial=request.headers.get("hx-request") == "true"
        and request.headers.get("hx-boosted") != "true",
    )


def cookie_name(request: Request) -> str:
    """Return the session cookie's name: two homes on one machine differ in their port alone."""
    return f"{SESSION_COOKIE}_{request.url.port or 80}"


def _address(request: Request) -> str:
    query = request.url.query
    return f"{request.url.path}?{query}" if query else request.url.path


def parse_form(body: bytes) -> dict[str, tuple[str, ...]]:
    """Return the fields of a urlencoded form; raises ValueError when it is none."""
    form: dict[str, tuple[str, ...]] = {}
    pairs = parse_qsl(
        body.decode("utf-8"), keep_blank_values=True, max_num_fields=_MAX_FIELDS, errors="strict"
    )
    for name, value in pairs:
        form[name] = (*form.get(name, ()), value)
    return form

"""The page on which the owner decides whether a client gets in, and into which vault."""

from __future__ import annotations

import secrets
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import anyio
from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from starlette.requests import Request as HttpRequest
from starlette.responses import HTMLResponse, RedirectResponse, Response

from api.dashboard.language import choose
from api.oauth import approval
from api.oauth.provider import Provider, Request
from api.oauth.words import WORDS
from context_engine.clock import Clock
from context_engine.home import Home
from context_engine.scopes import Scope

_MAX_FORM_FIELDS = 10
_VAULTS = tuple(scope.value for scope in Scope)


class Consent:
    """The page and its form."""

    def __init__(self, home: Home, provider: Provider, clock: Clock) -> None:
        self._home = home
        self._provider = provider
        self._clock = clock

    async def show(self, http: HttpRequest) -> Response:
        """Ask."""
        return self._page(http, http.query_params.get("request", ""))

    async def decide(self, http: HttpRequest) -> Response:
        """Take the answer: who allows must know the code, and say which vault."""
        async with http.form(max_fields=_MAX_FORM_FIELDS, max_files=0) as form:
            given = {key: str(value) for key, value in form.items()}
        identifier = given.get("request", "")
        if self._provider.waiting(identifier) is None:
            return self._page(http, identifier)
        if given.get("decision") != "allow":
            return self._back(http, self._provider.deny(identifier))
        vault = given.get("vault", "")
        if vault not in _VAULTS:
            return self._page(http, identifier, wrong="no_vault")
        # after the vault: a code is good once
        right = await anyio.to_thread.run_sync(
            approval.accept, self._home, given.get("code", ""), self._clock
        )
        if not right:
            return self._page(http, identifier, wrong="wrong_code", chosen=vault)
        return self._back(http, self._provider.allow(identifier, Scope(vault)))

    def _back(self, http: HttpRequest, place: str | None) -> Response:
        if place is None:
            return self._page(http, "")
        return RedirectResponse(place, 303, headers={"cache-control": "no-store"})

    def _page(
        self, http: HttpRequest, identifier: str, *, wrong: str = "", chosen: str = ""
    ) -> Response:
        request = self._provider.waiting(identifier)
        language = choose(None, http.headers.get("accept-language", ""))
        nonce = secrets.token_urlsafe(16)
        text = _template().render(
            t=WORDS[language],
            language=language,
            nonce=nonce,
            gone=request is None,
            wrong=wrong,
            chosen=chosen,
            identifier=identifier,
            vaults=_VAULTS,
            name=(request.client.client_name or "?") if request else "",
            place=_shown(request),
        )
        status = 410 if request is None else 400 if wrong else 200
        return HTMLResponse(text, status, headers=_headers(nonce, request))


def _shown(request: Request | None) -> str:
    """Return where the client is; its name is only what it calls itself."""
    if request is None:
        return ""
    parts = urlsplit(str(request.params.redirect_uri))
    return f"{parts.scheme}://{parts.netloc}"


def _headers(nonce: str, request: Request | None) -> dict[str, str]:
    # browsers hold a form's redirect against form-action too
    target = f" {_shown(request)}" if request else ""
    return {
        "cache-control": "no-store",
        "content-security-policy": (
            f"default-src 'none'; style-src 'nonce-{nonce}'; form-action 'self'{target}; "
            "frame-ancestors 'none'; base-uri 'none'"
        ),
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
    }


@cache
def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
    )
    return environment.get_template("consent.html")

"""Slack's Web API through slack_sdk: one call or all pages of one, tried again where that helps."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from http.client import HTTPException
from typing import TYPE_CHECKING, Any

from connectors.base import ReadOptions
from connectors.credentials import secret
from connectors.live import TIMEOUT, TryAgainError, persistent, retry_after
from context_engine.errors import AccessDeniedError, BadInputError

if TYPE_CHECKING:
    from urllib.request import Request

    from slack_sdk import WebClient
    from slack_sdk.errors import SlackApiError

SERVICE = "slack"
PAGE = "999"
"""Records of one page at most; Slack takes no more."""

SCOPES = (
    "users:read, and for each kind of conversation to be read its pair of scopes: channels:read "
    "and channels:history, groups:…, im:…, mpim:…"
)

_BAD_TOKEN = frozenset(
    {
        *("invalid_auth", "not_authed", "token_expired", "token_revoked", "account_inactive"),
        *("not_allowed_token_type", "org_login_required", "team_access_not_granted"),
    }
)
_FOR_A_MOMENT = frozenset(
    {"internal_error", "fatal_error", "service_unavailable", "request_timeout", "ratelimited"}
)
_TOO_MANY, _SERVER = 429, 500


class RefusedError(BadInputError):
    """Slack refuses one thing, a channel for instance; the rest may go on. `code` is Slack's."""

    def __init__(self, place: str, code: str, scope: str) -> None:
        lacks = f"the token lacks the scope {scope}" if code == "missing_scope" else code
        super().__init__(place, f"Slack says: {lacks}")
        self.code = code


class SlackApi:
    """The methods of the Web API with the token of the settings.

    Raises AccessDeniedError when there is none.
    """

    def __init__(self, options: ReadOptions) -> None:
        settings = options.live.slack
        token = secret(settings, "slack", "token", f"a user's or bot's token with {SCOPES}")
        self._client = web_client(settings.base_url, token)
        self._options = options
        self.place = ""
        """What is being read, for those who are told of progress."""

    def call(self, method: str, **params: str) -> dict[str, Any]:
        """Return what `method` replies.

        Raises RefusedError, AccessDeniedError when the token is bad, DependencyDownError when
        Slack is away.
        """
        return persistent(SERVICE, lambda: self._once(method, params), self._options.pause)

    def pages(self, method: str, key: str, **params: str) -> Iterator[list[Any]]:
        """Yield the list `key` of each page of `method`; raises as `call` does."""
        cursor, seen = "", set[str]()
        while cursor not in seen:
            seen.add(cursor)
            data = self.call(method, limit=PAGE, **params, **({"cursor": cursor} if cursor else {}))
            records = data.get(key)
            yield records if isinstance(records, list) else []
            cursor = _next_cursor(data)
            if not cursor:
                return

    def _once(self, method: str, params: Mapping[str, str]) -> dict[str, Any]:
        from slack_sdk.errors import SlackApiError, SlackClientError

        try:
            response = self._client.api_call(method, params=dict(params))
        except SlackApiError as error:
            raise meaning(error, f"{method} {params.get('channel', '')}".strip()) from None
        except (OSError, HTTPException, SlackClientError, ValueError) as error:
            raise TryAgainError(f"{type(error).__name__}: {error}") from error
        if self._options.progress is not None:
            self._options.progress(_length(response.headers), 0, self.place)
        data = response.data
        if not isinstance(data, dict):
            raise TryAgainError("a reply that is no JSON object")
        return data


def web_client(base_url: str, token: str | None = None) -> WebClient:
    """Return a client that neither tries again by itself nor logs: both are done here."""
    from slack_sdk import WebClient

    class Client(WebClient):
        def _perform_urllib_http_request_internal(self, url: str, req: Request) -> dict[str, Any]:
            # urllib would send the token along to whatever host a reply redirects to
            authorization = req.headers.pop("Authorization", None)
            if authorization is not None:
                req.add_unredirected_header("Authorization", authorization)
            return super()._perform_urllib_http_request_internal(url, req)

    logger = logging.getLogger("connectors.slack_api.client")
    logger.setLevel(logging.CRITICAL)
    return Client(
        token=token, base_url=base_url, timeout=int(TIMEOUT), retry_handlers=[], logger=logger
    )


def meaning(error: SlackApiError, place: str) -> Exception:
    """Return what an error of Slack's asks for: another attempt, a person, or leaving `place`."""
    response = error.response
    code = str(response.get("error") or f"HTTP {response.status_code}")[:200]
    after = {name.lower(): value for name, value in response.headers.items()}.get("retry-after")
    if response.status_code == _TOO_MANY or code in _FOR_A_MOMENT:
        return TryAgainError(f"asks for fewer requests or is busy: {code}", retry_after(after))
    if response.status_code >= _SERVER or " " in code:
        # no code of Slack's: the body of something between us, or half of one
        return TryAgainError(f"HTTP {response.status_code} without a reply that can be read")
    if code in _BAD_TOKEN:
        return AccessDeniedError(
            SERVICE,
            f"refuses the token ({code}); make a new one at api.slack.com/apps. It needs: {SCOPES}",
        )
    return RefusedError(place, code, str(response.get("needed") or "?")[:200])


def _next_cursor(data: Mapping[str, Any]) -> str:
    metadata = data.get("response_metadata")
    cursor = metadata.get("next_cursor") if isinstance(metadata, dict) else None
    return cursor if isinstance(cursor, str) else ""


def _length(headers: Mapping[str, str]) -> int:
    length = {name.lower(): value for name, value in headers.items()}.get("content-length", "")
    return int(length[:12]) if length.isdecimal() else 0

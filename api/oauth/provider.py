"""The authorization server's memory and decisions, in the shape that the MCP library asks for.

An access token is an engine token that expires, of a client and scope of its own: what it may see,
how often it may ask, and that it can be revoked, follow from what tokens are anyway.
"""

from __future__ import annotations

import re
import secrets
from collections import OrderedDict
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    AuthorizeError,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    RegistrationError,
    TokenError,
    construct_redirect_uri,
)
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

from api import tokens
from api.oauth.client_documents import (
    ClientDocumentError,
    Fetch,
    fetch_public,
    is_document_url,
    load_client,
)
from api.oauth.places import Front, may_return_to
from api.oauth.store import Grant, GrantStore, by_earlier, by_refresh, hash_of, new_secret
from context_engine.clock import Clock
from context_engine.errors import NotFoundError
from context_engine.home import Home
from context_engine.scopes import Scope

MEMORY = "memory"
"""The one OAuth scope. Which vault it means, the owner says on the page."""

PREFIX = "oauth-"
ACCESS_LASTS = timedelta(hours=1)
REFRESH_LASTS = timedelta(days=30)
CODE_LASTS = timedelta(minutes=2)
REQUEST_LASTS = timedelta(minutes=10)
_MAX_WAITING = 100
_MAX_METADATA = 8_192
_T = TypeVar("_T")


@dataclass(frozen=True)
class Request:
    """A client that waits for the owner's decision."""

    client: OAuthClientInformationFull
    params: AuthorizationParams
    until: float


class Code(AuthorizationCode):
    """An authorization code, with the vault that the owner chose."""

    vault: Scope


class Provider(OAuthAuthorizationServerProvider[Code, RefreshToken, AccessToken]):
    """The grants of one home."""

    def __init__(self, home: Home, front: Front, clock: Clock, fetch: Fetch = fetch_public) -> None:
        self._home = home
        self._front = front
        self._clock = clock
        self._fetch = fetch
        self._store = GrantStore(home)
        self._requests: OrderedDict[str, Request] = OrderedDict()
        self._codes: OrderedDict[str, Code] = OrderedDict()
        self._documents: OrderedDict[str, OAuthClientInformationFull] = OrderedDict()

    # --- clients ---

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        """Return a client that registered, or that is the address of its description."""
        for known in self._store.read().clients:
            if known.client_id == client_id:
                return OAuthClientInformationFull.model_validate_json(known.metadata)
        return await self._described(client_id) if is_document_url(client_id) else None

    async def _described(self, client_id: str) -> OAuthClientInformationFull | None:
        if client_id not in self._documents:
            try:
                client = await load_client(client_id, self._fetch, MEMORY)
            except ClientDocumentError:
                return None
            _remember(self._documents, client_id, client)
        return self._documents[client_id]

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        """Keep a registration.

        Raises RegistrationError for addresses that nobody may be sent to.
        """
        places = client_info.redirect_uris or []
        if not places or not all(may_return_to(str(place)) for place in places):
            raise RegistrationError(
                "invalid_redirect_uri", "use https, or http on the loopback interface"
            )
        metadata = client_info.model_dump_json(exclude_none=True)
        if len(metadata) > _MAX_METADATA:
            raise RegistrationError("invalid_client_metadata", "the registration is too long")
        self._store.register(client_info.client_id, metadata)

    # --- the owner's decision ---

    async def authorize(
        self, client: OAuthClientInformationFull, params: AuthorizationParams
    ) -> str:
        """Return the page on which the owner decides."""
        if params.resource not in (None, self._front.resource):
            raise AuthorizeError("invalid_target", f"tokens are for {self._front.resource}")
        identifier = new_secret()
        until = self._clock.now() + REQUEST_LASTS
        _remember(self._requests, identifier, Request(client, params, until.timestamp()))
        return f"{self._front.url}/consent?request={identifier}"

    def waiting(self, identifier: str) -> Request | None:
        """Return the request that waits under this name, while it does."""
        request = self._requests.get(identifier)
        if request is None or request.until < self._clock.now().timestamp():
            return None
        return request

    def allow(self, identifier: str, vault: Scope) -> str | None:
        """Return where the client takes up its code; None when the request waits no more."""
        request = self._take(identifier)
        if request is None:
            return None
        code = new_secret()
        params = request.params
        entry = Code(
            code=code,
            scopes=[MEMORY],
            expires_at=(self._clock.now() + CODE_LASTS).timestamp(),
            client_id=request.client.client_id,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=self._front.resource,
            vault=vault,
        )
        _remember(self._codes, code, entry)
        return construct_redirect_uri(
            str(params.redirect_uri), code=code, state=params.state, iss=self._front.url
        )

    def deny(self, identifier: str) -> str | None:
        """Return where the client learns that it was turned down."""
        request = self._take(identifier)
        if request is None:
            return None
        return construct_redirect_uri(
            str(request.params.redirect_uri),
            error="access_denied",
            state=request.params.state,
            iss=self._front.url,
        )

    def _take(self, identifier: str) -> Request | None:
        request = self.waiting(identifier)
        self._requests.pop(identifier, None)
        return request

    # --- tokens ---

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> Code | None:
        """Return the code, once: whoever asks again has stolen it or lost the answer."""
        code = self._codes.get(authorization_code)
        if code is None or code.client_id != client.client_id:
            return None
        return self._codes.pop(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: Code
    ) -> OAuthToken:
        """Return the first tokens of a grant."""
        refresh = new_secret()
        grant = Grant(
            name=_name(client),
            client_id=client.client_id,
            scope=authorization_code.vault,
            refresh=hash_of(refresh),
            expires=self._clock.now() + REFRESH_LASTS,
        )
        for held in self._store.read().grants:
            if held.client_id == client.client_id:
                self._forget(held.name)
        self._store.grant(grant)
        return self._tokens(grant, refresh)

    async def load_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: str
    ) -> RefreshToken | None:
        """Return the newest refresh token of a grant; an earlier one ends the grant."""
        grants = self._store.read().grants
        grant = by_refresh(grants, refresh_token)
        if grant is None:
            stolen = by_earlier(grants, refresh_token)
            if stolen is not None:
                self._forget(stolen.name)
            return None
        if grant.client_id != client.client_id or not self._stands(grant):
            return None
        return RefreshToken(
            token=refresh_token,
            client_id=grant.client_id,
            scopes=[MEMORY],
            expires_at=int(grant.expires.timestamp()),
            resource=self._front.resource,
        )

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        """Return new tokens for a refresh token, which is good no more.

        Raises TokenError when somebody else was faster.
        """
        del client, scopes
        refresh = new_secret()
        until = self._clock.now() + REFRESH_LASTS
        grant = self._store.rotate(refresh_token.token, refresh, until)
        if grant is None:
            raise TokenError("invalid_grant", "the refresh token was used already")
        return self._tokens(grant, refresh)

    async def load_access_token(self, token: str) -> AccessToken | None:
        """Return the access token, as long as it is good and of this front."""
        known = tokens.TokenVerifier(self._home, self._clock).verify(token)
        if known is None or not known.client.startswith(PREFIX):
            return None
        return AccessToken(
            token=token, client_id=known.client, scopes=[MEMORY], resource=self._front.resource
        )

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        """End the grant that a token belongs to."""
        if isinstance(token, AccessToken):
            self._forget(token.client_id)
            return
        grant = by_refresh(self._store.read().grants, token.token)
        if grant is not None:
            self._forget(grant.name)

    def _tokens(self, grant: Grant, refresh: str) -> OAuthToken:
        until = self._clock.now() + ACCESS_LASTS
        issued = tokens.lend(self._home, grant.name, grant.scope, until, self._clock)
        return OAuthToken(
            access_token=issued.text,
            expires_in=int(ACCESS_LASTS.total_seconds()),
            scope=MEMORY,
            refresh_token=refresh,
        )

    def _stands(self, grant: Grant) -> bool:
        """Return whether `context-engine token revoke` has not ended it."""
        held = any(token.client == grant.name for token in tokens.list_tokens(self._home))
        if not held:
            self._store.end(grant.name)
        return held

    def _forget(self, name: str) -> None:
        self._store.end(name)
        try:
            tokens.revoke(self._home, name)
        except NotFoundError:
            return


def _name(client: OAuthClientInformationFull) -> str:
    """Return the client's name in tokens and audit, like `oauth-chatgpt-3f2a91`."""
    said = re.sub(r"[^a-z0-9]+", "-", (client.client_name or "client").lower()).strip("-")[:24]
    return f"{PREFIX}{said or 'client'}-{secrets.token_hex(3)}"


def _remember(table: OrderedDict[str, _T], key: str, value: _T) -> None:
    table[key] = value
    while len(table) > _MAX_WAITING:
        table.popitem(last=False)

"""What the front remembers: clients that registered, and what the owner granted them.

A grant is a chain of refresh tokens, of which the newest is good once. Presenting an earlier one
means that two hold it: the grant ends. Texts of tokens are kept as hashes alone.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from context_engine.errors import ConfigError
from context_engine.home import Home
from context_engine.scopes import Scope
from vault.store import Snapshot, read_or_none, rewrite

MAX_CLIENTS = 200
"""Strangers may register; of those whom nobody let in, the oldest go."""

_FILE = "oauth.json"
_EARLIER = 8
_T = TypeVar("_T")


class Registered(BaseModel):
    """A client that registered itself; `metadata` is its registration as JSON."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    client_id: str
    metadata: str


class Grant(BaseModel):
    """What the owner allowed one client. `name` is the client's in tokens and audit."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    client_id: str
    scope: Scope
    refresh: str
    earlier: tuple[str, ...] = ()
    expires: datetime


class Stored(BaseModel):
    """The file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: int = 1
    clients: tuple[Registered, ...] = ()
    grants: tuple[Grant, ...] = ()


class GrantStore:
    """The file `state/oauth.json` of one home."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def read(self) -> Stored:
        """Return what is stored.

        Raises ConfigError when the file is damaged.
        """
        return self._parse(read_or_none(self._home.state, _FILE))

    def register(self, client_id: str, metadata: str) -> None:
        """Keep a client's registration."""
        self._change(lambda stored: (_with_client(stored, client_id, metadata), None))

    def grant(self, grant: Grant) -> None:
        """Keep a grant; what the same client held before ends."""

        def add(stored: Stored) -> tuple[Stored, None]:
            others = [g for g in stored.grants if g.client_id != grant.client_id]
            return stored.model_copy(update={"grants": (*others, grant)}), None

        self._change(add)

    def rotate(self, used: str, new: str, expires: datetime) -> Grant | None:
        """Exchange the refresh token `used` for `new`; None when it was not the newest."""

        def swap(stored: Stored) -> tuple[Stored, Grant | None]:
            found = by_refresh(stored.grants, used)
            if found is None:
                return stored, None
            earlier = (*found.earlier, found.refresh)[-_EARLIER:]
            renewed = found.model_copy(
                update={"refresh": hash_of(new), "earlier": earlier, "expires": expires}
            )
            grants = tuple(renewed if g == found else g for g in stored.grants)
            return stored.model_copy(update={"grants": grants}), renewed

        return self._change(swap)

    def end(self, name: str) -> None:
        """Forget the grant of that name."""

        def drop(stored: Stored) -> tuple[Stored, None]:
            kept = tuple(g for g in stored.grants if g.name != name)
            return stored.model_copy(update={"grants": kept}), None

        self._change(drop)

    def _change(self, change: Callable[[Stored], tuple[Stored, _T]]) -> _T:
        def changed(seen: Snapshot | None) -> tuple[bytes, _T]:
            stored, result = change(self._parse(seen))
            return stored.model_dump_json(indent=1).encode(), result

        return rewrite(self._home.state, _FILE, changed)

    def _parse(self, seen: Snapshot | None) -> Stored:
        if seen is None:
            return Stored()
        try:
            return Stored.model_validate_json(seen.data)
        except ValidationError as error:
            raise ConfigError(
                f"{self._home.state / _FILE} is damaged; delete it and connect the assistants "
                f"again: {error}"
            ) from error


def by_refresh(grants: Sequence[Grant], token: str) -> Grant | None:
    """Return the grant whose newest refresh token this is."""
    presented = hash_of(token)
    return next((g for g in grants if hmac.compare_digest(g.refresh, presented)), None)


def by_earlier(grants: Sequence[Grant], token: str) -> Grant | None:
    """Return the grant that this refresh token once belonged to."""
    presented = hash_of(token)
    return next((g for g in grants if presented in g.earlier), None)


def new_secret() -> str:
    """Return 256 random bits as text."""
    return secrets.token_urlsafe(32)


def hash_of(text: str) -> str:
    """Return what is kept of a token."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _with_client(stored: Stored, client_id: str, metadata: str) -> Stored:
    let_in = {grant.client_id for grant in stored.grants}
    others = [c for c in stored.clients if c.client_id not in let_in][-(MAX_CLIENTS - 1) :]
    kept = [c for c in stored.clients if c.client_id in let_in or c in others]
    added = Registered(client_id=client_id, metadata=metadata)
    return stored.model_copy(update={"clients": (*kept, added)})

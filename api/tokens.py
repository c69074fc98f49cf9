"""Client tokens: one name, one scope, stored as a hash, shown once.

`state/tokens.json` holds the SHA-256 of each token. It is replaced atomically under a lock, so that
a command line and a running server can both change it, and it is read again whenever it changed:
a revoked token is refused by the next request.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import os
import re
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from context_engine.clock import Clock, SystemClock
from context_engine.errors import ConfigError, ContextEngineError, NotFoundError, UsageError
from context_engine.home import Home
from context_engine.logs import get_logger
from context_engine.scopes import Scope
from vault.store import Snapshot, read_or_none, rewrite

PREFIX = "ce_"
_RANDOM_BYTES = 32
_LIVE_DURING_ROTATION = 2
_LAST_USED_STEP = timedelta(minutes=1)
"""`last_used` is written at most this often: a request must not cost a file each time."""
_CLIENT_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")

log = get_logger(__name__)


class Token(BaseModel):
    """What is kept of one token. `id` names it in commands and lists; it opens nothing."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    client: str
    scope: Scope
    sha256: str
    created: datetime
    last_used: datetime | None = None
    expires: datetime | None = None
    """None: good until it is revoked."""


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    version: int = 1
    tokens: tuple[Token, ...] = ()


@dataclass(frozen=True)
class IssuedToken:
    """A new token. `text` exists nowhere else: show it once."""

    text: str
    token: Token


def create(home: Home, client: str, scope: Scope, clock: Clock | None = None) -> IssuedToken:
    """Issue the first token of `client`, good for `scope` alone.

    Raises UsageError when the name is malformed or already has a token.
    """
    if not _CLIENT_NAME.fullmatch(client):
        raise UsageError(
            f"{client!r} is no client name: use lower-case letters, digits, '.', '_' and '-'"
        )

    def add(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
        if any(token.client == client for token in tokens):
            raise UsageError(
                f"{client} has a token already; "
                f"replace it with: context-engine token rotate {client}"
            )
        return (*tokens, issued.token)

    issued = _issue(client, scope, clock)
    _update(home, add)
    return issued


def rotate(home: Home, client: str, clock: Clock | None = None) -> IssuedToken:
    """Issue another token of the same scope; the newest earlier one stays good beside it.

    Raises NotFoundError when `client` has none.
    """
    issued: list[IssuedToken] = []

    def replace(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
        own = [token for token in tokens if token.client == client]
        if not own:
            raise NotFoundError(f"no token of {client!r}; see: context-engine token list")
        issued.append(_issue(client, own[-1].scope, clock))
        kept = own[1 - _LIVE_DURING_ROTATION :]
        others = tuple(token for token in tokens if token.client != client)
        return (*others, *kept, issued[0].token)

    _update(home, replace)
    return issued[0]


def lend(home: Home, client: str, scope: Scope, until: datetime, clock: Clock) -> IssuedToken:
    """Issue a token of `client` that expires, beside those it has; its expired ones go."""
    issued = _issue(client, scope, clock)
    lent = issued.token.model_copy(update={"expires": until})
    now = clock.now()

    def add(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
        gone = [token for token in tokens if token.client == client and is_expired(token, now)]
        return (*(token for token in tokens if token not in gone), lent)

    _update(home, add)
    return IssuedToken(issued.text, lent)


def is_expired(token: Token, now: datetime) -> bool:
    """Return whether the time of a token is over."""
    return token.expires is not None and token.expires <= now


def revoke(home: Home, name: str) -> tuple[Token, ...]:
    """Forget every token whose client or id is `name`; return them.

    Raises NotFoundError when there is none.
    """
    gone: list[Token] = []

    def drop(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
        gone.extend(token for token in tokens if name in (token.client, token.id))
        if not gone:
            raise NotFoundError(f"no token named {name!r}; see: context-engine token list")
        return tuple(token for token in tokens if token not in gone)

    _update(home, drop)
    return tuple(gone)


def list_tokens(home: Home) -> tuple[Token, ...]:
    """Return all tokens, oldest first.

    Raises ConfigError when the file is damaged.
    """
    return _read(home).tokens


class TokenVerifier:
    """Answers whose token a text is. Safe to call from several threads."""

    def __init__(self, home: Home, clock: Clock | None = None) -> None:
        self._home = home
        self._clock = clock or SystemClock()
        self._lock = threading.Lock()
        self._seen: tuple[int, int, int] | None = None
        self._tokens: tuple[Token, ...] = ()

    def verify(self, text: str) -> Token | None:
        """Return the token that `text` is, or None. Every stored hash is compared, always whole."""
        presented = _hash(text)
        found: Token | None = None
        for token in self._current():
            if hmac.compare_digest(token.sha256, presented):
                found = token
        if found is None or is_expired(found, self._clock.now()):
            return None
        self._note_use(found)
        return found

    def _current(self) -> tuple[Token, ...]:
        with self._lock:
            stamp = _stamp(self._home.tokens)
            if stamp != self._seen:
                self._tokens = self._load()
                self._seen = stamp
            return self._tokens

    def _load(self) -> tuple[Token, ...]:
        try:
            return _read(self._home).tokens
        except (ContextEngineError, OSError) as error:
            # nobody gets in until it is mended
            log.error("tokens_unreadable", reason=str(error))  # noqa: TRY400 - the reason is enough
            return ()

    def _note_use(self, used: Token) -> None:
        now = self._clock.now()
        if used.last_used is not None and now - used.last_used < _LAST_USED_STEP:
            return

        def stamp(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
            return tuple(
                token.model_copy(update={"last_used": now}) if token.id == used.id else token
                for token in tokens
            )

        try:
            _update(self._home, stamp)
        except (ContextEngineError, OSError) as error:
            log.warning("token_use_not_noted", client=used.client, reason=str(error))


def _issue(client: str, scope: Scope, clock: Clock | None) -> IssuedToken:
    text = PREFIX + secrets.token_urlsafe(_RANDOM_BYTES)
    token = Token(
        id=secrets.token_hex(4),
        client=client,
        scope=scope,
        sha256=_hash(text),
        created=(clock or SystemClock()).now(),
    )
    return IssuedToken(text, token)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _stamp(path: Path) -> tuple[int, int, int] | None:
    with suppress(FileNotFoundError):
        status = path.stat()
        return (status.st_ino, status.st_mtime_ns, status.st_size)
    return None


def _read(home: Home) -> _File:
    return _parse(home, read_or_none(home.state, home.tokens.name) if home.state.exists() else None)


def _parse(home: Home, snapshot: Snapshot | None) -> _File:
    if snapshot is None:
        return _File()
    try:
        return _File.model_validate_json(snapshot.data)
    except ValidationError as error:
        raise ConfigError(
            f"{home.tokens} is damaged; delete it and create the tokens again: {error}"
        ) from error


def _update(home: Home, change: Callable[[tuple[Token, ...]], tuple[Token, ...]]) -> None:
    def changed(seen: Snapshot | None) -> tuple[bytes, None]:
        tokens = change(_parse(home, seen).tokens)
        return _File(tokens=tokens).model_dump_json(indent=1).encode(), None

    home.state.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _locked(home.tokens.with_suffix(".lock")):
        rewrite(home.state, home.tokens.name, changed)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)

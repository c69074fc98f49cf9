"""One-time links and the sessions they open, each a file in `state/dashboard/`.

Whoever can write there is the owner. A file is named by the SHA-256 of its secret, so that a copy
of the folder opens nothing; redeeming a link deletes its file, which only one request can do.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from contextlib import suppress
from pathlib import Path

from context_engine.clock import Clock
from context_engine.home import Home

LINK_SECONDS = 60
SESSION_SECONDS = 12 * 3600
_MAX_SECRET = 100
_LINK, _SESSION = "link", "session"


def create_link(home: Home, clock: Clock) -> str:
    """Return a secret that opens one session within a minute."""
    return _create(home, _LINK, clock.now().timestamp() + LINK_SECONDS)


def redeem(home: Home, secret: str, clock: Clock) -> str | None:
    """Return the secret of a new session; None when the link is unknown, used or expired."""
    now = clock.now().timestamp()
    place = _place(home, _LINK, secret)
    expires = _expiry(place)
    try:
        # of two requests with one link only one can delete it
        place.unlink()
    except OSError:
        return None
    if expires is None or not now <= expires <= now + LINK_SECONDS:
        return None
    _sweep(home, now)
    return _create(home, _SESSION, now + SESSION_SECONDS)


def is_open(home: Home, session: str, clock: Clock) -> bool:
    """Return whether `session` is the secret of a session that has not ended."""
    if not session or len(session) > _MAX_SECRET:
        return False
    expires = _expiry(_place(home, _SESSION, session))
    return expires is not None and clock.now().timestamp() < expires


def end(home: Home, session: str) -> None:
    """Make `session` open nothing from now on."""
    with suppress(FileNotFoundError):
        _place(home, _SESSION, session).unlink()


def csrf_token(session: str) -> str:
    """Return what each POST of `session` has to carry; it does not tell the session."""
    return hmac.new(session.encode(), b"context-engine csrf", hashlib.sha256).hexdigest()


def _create(home: Home, kind: str, expires: float) -> str:
    secret = secrets.token_urlsafe(32)
    place = _place(home, kind, secret)
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(place, flags, 0o600)
    try:
        os.write(descriptor, str(int(expires)).encode())
    finally:
        os.close(descriptor)
    return secret


def _place(home: Home, kind: str, secret: str) -> Path:
    name = hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
    return home.state / "dashboard" / f"{kind}-{name}"


def _expiry(place: Path) -> float | None:
    with suppress(OSError, ValueError):
        return float(place.read_text(encoding="ascii"))
    return None


def _sweep(home: Home, now: float) -> None:
    for place in (home.state / "dashboard").iterdir():
        expires = _expiry(place)
        if expires is None or expires < now:
            with suppress(OSError):
                place.unlink()

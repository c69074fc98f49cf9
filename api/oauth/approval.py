"""The code by which the owner proves to be the owner: shown on this machine, typed on the page.

One at a time, good once and for ten minutes, and gone after a few wrong ones. Only its hash lies in
`state/`.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from datetime import datetime, timedelta

from context_engine.clock import Clock, isoformat
from context_engine.home import Home
from vault.store import Snapshot, rewrite

LASTS = timedelta(minutes=10)
_ATTEMPTS = 5
_LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
_LENGTH = 8
_FILE = "oauth-code.json"


def new_code(home: Home, clock: Clock) -> str:
    """Return a new code, `XXXX-XXXX`; the one before is good no more."""
    text = "".join(secrets.choice(_LETTERS) for _ in range(_LENGTH))
    until = isoformat(clock.now() + LASTS)
    data = json.dumps({"sha256": _hash(text), "until": until, "left": _ATTEMPTS}).encode()
    home.state.mkdir(mode=0o700, parents=True, exist_ok=True)
    rewrite(home.state, _FILE, lambda _: (data, None))
    return f"{text[:4]}-{text[4:]}"


def accept(home: Home, typed: str, clock: Clock) -> bool:
    """Return whether `typed` is the code there is; right or worn out, it is good no more."""
    given = _hash("".join(typed.upper().split()).replace("-", "")[:64])

    def use(seen: Snapshot | None) -> tuple[bytes | None, bool]:
        known = json.loads(seen.data) if seen else {}
        if not known or datetime.fromisoformat(known["until"]) < clock.now() or not known["left"]:
            return None, False
        if hmac.compare_digest(known["sha256"], given):
            return b"{}", True
        return json.dumps({**known, "left": known["left"] - 1}).encode(), False

    return rewrite(home.state, _FILE, use)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

"""The home's own secret: what it signs, a writer of vault files alone cannot make.

It lies in `keys/`, outside the vaults and outside `state/`, and is made when something is first to
be signed. Losing it loses no text: what was validated with it counts as raw until a person confirms
it again.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from contextlib import suppress
from pathlib import Path

from context_engine.errors import ConfigError
from context_engine.home import Home

_FILE = "seal.key"
_BYTES = 32


def read_key(home: Home) -> bytes | None:
    """Return the home's key, None while there is none.

    Raises ConfigError when its file is damaged, which no new key may paper over.
    """
    path = home.keys / _FILE
    try:
        text = path.read_text("ascii").strip()
        key = bytes.fromhex(text)
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise _damaged(path) from error
    if len(key) != _BYTES:
        raise _damaged(path)
    return key


def make_key(home: Home) -> bytes:
    """Return the home's key, made durable when there is none. Of several makers one wins."""
    known = read_key(home)
    if known is not None:
        return known
    home.keys.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = home.keys / f".{_FILE}-{secrets.token_hex(8)}"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(f"{secrets.token_hex(_BYTES)}\n")
            file.flush()
            os.fsync(file.fileno())
        # a link never replaces: whoever comes second takes the first one's
        with suppress(FileExistsError):
            os.link(temporary, home.keys / _FILE)
    finally:
        temporary.unlink()
    _sync(home.keys)
    made = read_key(home)
    if made is None:
        raise _damaged(home.keys / _FILE)
    return made


def sign(key: bytes, *parts: str) -> str:
    """Return 32 hex digits (128 bits): HMAC-SHA256 over the parts, each length-prefixed."""
    mac = hmac.new(key, digestmod=hashlib.sha256)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        mac.update(len(data).to_bytes(8, "big"))
        mac.update(data)
    return mac.hexdigest()[:32]


def is_signed(key: bytes, signature: str, *parts: str) -> bool:
    """Return whether `signature` is this key's over the parts, in constant time."""
    return hmac.compare_digest(sign(key, *parts).encode(), signature.encode("utf-8", "replace"))


def key_fingerprint(home: Home) -> str:
    """Return 12 hex digits that tell keys apart and say nothing about them; "" without one."""
    key = read_key(home)
    return sign(key, "fingerprint")[:12] if key else ""


def _damaged(path: Path) -> ConfigError:
    return ConfigError(
        f"{path} is damaged: put it back from a backup, or remove it and confirm what was "
        "validated again with: context-engine review reseal"
    )


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

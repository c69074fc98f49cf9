"""Stable identifiers. All are hex prefixes of SHA-256 over length-prefixed parts."""

from __future__ import annotations

import hashlib


def digest(*parts: str) -> str:
    """Return the SHA-256 hex of the parts, each length-prefixed so that no two lists collide."""
    hasher = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        hasher.update(len(data).to_bytes(8, "big"))
        hasher.update(data)
    return hasher.hexdigest()


def short_id(*parts: str) -> str:
    """Return 12 hex digits (48 bits): enough for file names and markers of one vault."""
    return digest(*parts)[:12]


def long_id(*parts: str) -> str:
    """Return 32 hex digits (128 bits): event ids and idempotency keys."""
    return digest(*parts)[:32]


def marker_id(*parts: str) -> str:
    """Return 16 hex digits (64 bits): keys that decide whether a message is known already.

    A collision there would lose a message; with a million messages its chance is below 1e-7.
    """
    return digest(*parts)[:16]

"""Where the front is, seen from outside, and which addresses of clients it sends people back to."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from context_engine.errors import UsageError

LOOPBACK = ("localhost", "127.0.0.1", "::1")
_APP_SCHEMES = ("cursor", "vscode", "claude")
"""Schemes of installed assistants. Any other could be a program that nobody meant."""


@dataclass(frozen=True)
class Front:
    """The public address, `https://name`, without a slash at its end."""

    url: str

    @property
    def resource(self) -> str:
        """What tokens are for."""
        return f"{self.url}/mcp"

    @property
    def host(self) -> str:
        """The host name alone."""
        return urlsplit(self.url).hostname or ""

    @property
    def resource_metadata(self) -> str:
        """Where a client that was refused reads who issues tokens (RFC 9728)."""
        return f"{self.url}/.well-known/oauth-protected-resource/mcp"


def front_at(url: str) -> Front:
    """Return the front at a public address.

    Raises UsageError when it is not https (http is for the loopback) or holds more than a host.
    """
    parts = urlsplit(url)
    local = parts.hostname in LOOPBACK
    if parts.scheme != "https" and not (parts.scheme == "http" and local):
        raise UsageError(f"{url!r} must begin with https://, as the tunnel offers it")
    if not parts.hostname or parts.path.strip("/") or parts.query or parts.fragment:
        raise UsageError(f"{url!r} must be a host alone, such as https://memory.example.org")
    return Front(f"{parts.scheme}://{parts.netloc}")


def may_return_to(url: str) -> bool:
    """Return whether a person may be sent to a client's address with a code in it."""
    parts = urlsplit(url)
    if parts.fragment or parts.username is not None:
        return False
    if parts.scheme == "https":
        return bool(parts.hostname)
    if parts.scheme == "http":
        return parts.hostname in LOOPBACK
    return parts.scheme in _APP_SCHEMES

"""Clients that are a URL: what they are stands in a document there (Client ID Metadata Document).

The URL comes from a stranger, so that fetching it must reach nothing but a public host: HTTPS, no
redirect, an address that was looked at before it is connected to, few bytes, little time.
"""

from __future__ import annotations

import ipaddress
import json
import socket
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import anyio
import httpx2
from mcp.shared.auth import OAuthClientInformationFull
from pydantic import ValidationError

from api.oauth.places import may_return_to

MAX_BYTES = 16_384
SECONDS = 5.0
_MAX_URL = 512
_PORT = 443
_UNICAST = ipaddress.ip_network("2000::/3")

Fetch = Callable[[str], Awaitable[bytes]]


class ClientDocumentError(Exception):
    """A client's document cannot be had, or says what is not allowed."""


def is_document_url(client_id: str) -> bool:
    """Return whether a client id is the address of its own description."""
    if len(client_id) > _MAX_URL or not client_id.isprintable():
        return False
    try:
        parts = urlsplit(client_id)
        port = parts.port
    except ValueError:
        return False
    plain = not (parts.username or parts.fragment or parts.query)
    named = bool(parts.hostname) and parts.path not in ("", "/") and ".." not in parts.path
    return parts.scheme == "https" and plain and named and port in (None, _PORT)


async def load_client(client_id: str, fetch: Fetch, scope: str) -> OAuthClientInformationFull:
    """Return the client that the document at `client_id` describes.

    Raises ClientDocumentError.
    """
    try:
        document = json.loads(await fetch(client_id))
        # it says by itself what it is, and only what a public client may be
        return _client(client_id, document, scope)
    except (ValueError, RecursionError, ValidationError) as error:
        raise ClientDocumentError(f"{client_id} is no client document") from error


def _client(client_id: str, document: Any, scope: str) -> OAuthClientInformationFull:
    if not isinstance(document, Mapping) or document.get("client_id") != client_id:
        raise ClientDocumentError(f"{client_id} does not describe itself")
    client = OAuthClientInformationFull.model_validate(
        {
            "client_id": client_id,
            "client_name": str(document.get("client_name") or "")[:100] or None,
            "redirect_uris": document.get("redirect_uris"),
            "token_endpoint_auth_method": "none",
            "scope": scope,
        }
    )
    places = client.redirect_uris or []
    if not places or not all(may_return_to(str(place)) for place in places):
        raise ClientDocumentError(f"{client_id} names no address to return to that is allowed")
    return client


async def fetch_public(url: str) -> bytes:
    """Return what a public HTTPS address holds.

    Raises ClientDocumentError when it is not public, not there, too large or too slow.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    address = await _public_address(host)
    literal = f"[{address}]" if ":" in address else address
    # connected by the address that was looked at, so that a second answer of the name changes
    # nothing; the certificate is still the name's
    pinned = urlunsplit((parts.scheme, literal, parts.path, "", ""))
    request = httpx2.Request(
        "GET",
        pinned,
        headers={"host": host, "accept": "application/json", "accept-encoding": "identity"},
        extensions={"sni_hostname": host},
    )
    try:
        with anyio.fail_after(SECONDS):
            async with httpx2.AsyncClient(timeout=SECONDS, trust_env=False) as client:
                return await _body(client, request)
    except (httpx2.HTTPError, TimeoutError, OSError) as error:
        raise ClientDocumentError(f"{url} cannot be read") from error


async def _body(client: httpx2.AsyncClient, request: httpx2.Request) -> bytes:
    response = await client.send(request, stream=True, follow_redirects=False)
    try:
        if response.status_code != httpx2.codes.OK:
            raise ClientDocumentError(f"the answer was {response.status_code}")
        data = bytearray()
        # as it came: a few packed bytes could unpack to gigabytes
        async for part in response.aiter_raw():
            data += part
            if len(data) > MAX_BYTES:
                raise ClientDocumentError("the document is too large")
        return bytes(data)
    finally:
        await response.aclose()


async def _public_address(host: str) -> str:
    try:
        found = await anyio.getaddrinfo(host, _PORT, type=socket.SOCK_STREAM)
    except OSError as error:
        raise ClientDocumentError(f"there is no host {host}") from error
    addresses = [str(entry[4][0]) for entry in found]
    if not addresses or not all(_is_public(ipaddress.ip_address(each)) for each in addresses):
        raise ClientDocumentError(f"{host} is not a public host")
    return addresses[0]


def _is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    if isinstance(address, ipaddress.IPv6Address):
        # all else is reserved, or stands for an IPv4 address that a gateway would go on to
        given_out = address in _UNICAST and address.sixtofour is None and address.teredo is None
        return given_out and address.is_global
    return address.is_global and not address.is_multicast

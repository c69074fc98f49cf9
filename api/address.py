"""Where the running engine's API listens, as it says itself in `state/api.json`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from pathlib import Path

from context_engine.home import Home


@dataclass(frozen=True)
class Address:
    """What the API is bound to."""

    host: str
    """An IP address; `0.0.0.0` and `::` stand for all of this machine."""
    port: int
    pid: int

    @property
    def authority(self) -> str:
        """Host and port as a program of this machine reaches them; an IPv6 host in brackets."""
        address = ip_address(self.host)
        if not address.is_unspecified:
            host = self.host
        else:  # the guard of the API knows no such Host, and no client should send it
            host = "::1" if isinstance(address, IPv6Address) else "127.0.0.1"
        return f"[{host}]:{self.port}" if ":" in host else f"{host}:{self.port}"


def address_file(home: Home) -> Path:
    """Return the file that stands as long as the API takes requests."""
    return home.state / "api.json"


def read_address(home: Home) -> Address | None:
    """Return where the API listens, None when it does not run."""
    try:
        said = json.loads(address_file(home).read_text(encoding="utf-8"))
        return Address(said["host"], said["port"], said["pid"])
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None

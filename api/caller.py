"""Who asks. The only thing that decides what may be read and where something is written."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from context_engine.scopes import Scope


class Transport(StrEnum):
    """How a request came in."""

    STDIO = "stdio"
    MCP = "mcp"
    REST = "rest"
    CLI = "cli"
    DASHBOARD = "dashboard"
    HOOK = "hook"


@dataclass(frozen=True)
class Caller:
    """One client with its scope: from its token on HTTP, from the working directory elsewhere.

    No argument of any operation changes either.
    """

    client: str
    scope: Scope
    transport: Transport
    folder: str | None = None
    """Where a local caller works; None on HTTP."""

    @property
    def is_local(self) -> bool:
        """Whether the caller runs on this machine as its owner, whose files may be looked at."""
        return self.transport in (Transport.STDIO, Transport.CLI, Transport.HOOK)

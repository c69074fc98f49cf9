"""MCP on stdin and stdout: one assistant, whose scope is that of the folder it was started in."""

from __future__ import annotations

import re
from pathlib import Path

import anyio
from mcp.server.stdio import stdio_server

from api.audit import AuditLog
from api.caller import Caller, Transport
from api.exchange import Exchange
from api.mcp import Context, build_server
from api.notify import OutboxNotifier
from api.services import Engine, Notify
from context_engine.clock import Clock, SystemClock
from context_engine.logs import configure
from context_engine.metrics import flushing
from context_engine.scopes import Scope, scope_for_path
from context_engine.settings import Settings

_UNNAMED = "local"
_UNSAFE_IN_NAME = re.compile(r"[^a-z0-9._-]+")
_MAX_NAME = 64


def run_stdio(settings: Settings, *, notify: Notify | None = None, cwd: Path | None = None) -> None:
    """Serve until stdin ends. Nothing but the protocol may be written to stdout.

    The index and the embedder are opened by the first tool call: a list of tools is not to wait
    for them. `notify` is told about each note that was saved; without it the indexer is.
    """
    configure("mcp", level="WARNING")
    settings.paths.create()
    clock = SystemClock()
    audit = AuditLog(settings.paths.audit_log)
    engine = Engine(settings, notify or OutboxNotifier(settings), clock)
    folder = str(cwd or Path.cwd())
    scope = scope_for_path(folder, settings.scope_rules, settings.default_scope)
    server = build_server(engine.services, audit, _CallRecorder(scope, folder, audit, clock))

    async def run() -> None:
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    with flushing(settings.paths.metrics):
        anyio.run(run)


class _CallRecorder:
    """Writes the audit line of each tool call; the rest of the protocol carries no memory."""

    def __init__(self, scope: Scope, folder: str, audit: AuditLog, clock: Clock) -> None:
        self._scope = scope
        self._folder = folder
        self._audit = audit
        self._clock = clock

    def open(self, ctx: Context) -> Exchange:
        return Exchange(
            transport=Transport.STDIO,
            action="",
            started=self._clock.monotonic(),
            caller=Caller(_client_name(ctx), self._scope, Transport.STDIO, self._folder),
        )

    def close(self, exchange: Exchange) -> None:
        exchange.record(self._audit, self._clock)


def _client_name(ctx: Context) -> str:
    """Return what the client calls itself. It decides nothing; it is noted."""
    params = ctx.session.client_params
    given = params.client_info.name.lower() if params else ""
    return _UNSAFE_IN_NAME.sub("-", given).strip("-")[:_MAX_NAME] or _UNNAMED

"""The outermost layer: an audit line before every reply, and a reply whatever happens."""

from __future__ import annotations

from collections.abc import Container

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.audit import AuditError, AuditLog
from api.caller import Transport
from api.exchange import Exchange
from api.http.reply import problem_response, put_exchange, refuse
from api.problems import problem_of
from context_engine.clock import Clock


class Audited:
    """Writes one line a request just before its reply starts; without the line, no reply."""

    def __init__(
        self, app: ASGIApp, log: AuditLog, clock: Clock, unrecorded: Container[str]
    ) -> None:
        self._app = app
        self._log = log
        self._clock = clock
        self._unrecorded = unrecorded

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        exchange = Exchange(
            transport=Transport.MCP if scope["path"] == "/mcp" else Transport.REST,
            action=f"{scope['method']} {scope['path']}",
            started=self._clock.monotonic(),
            recorded=scope["path"] not in self._unrecorded,
        )
        put_exchange(scope, exchange)
        reply = _RecordedReply(exchange, self._log, self._clock, scope, receive, send)
        try:
            await self._app(scope, receive, reply.send)
        except Exception as error:
            if reply.started:
                raise
            await refuse(scope, problem_of(error))(scope, receive, reply.send)


class _RecordedReply:
    def __init__(
        self,
        exchange: Exchange,
        log: AuditLog,
        clock: Clock,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        self._exchange = exchange
        self._log = log
        self._clock = clock
        self._asgi = (scope, receive, send)
        self.started = False
        self._refused = False

    async def send(self, message: Message) -> None:
        """Pass `message` on, the audit line first."""
        if self._refused:
            return
        if message["type"] == "http.response.start":
            self.started = True
            if self._exchange.outcome == "ok" and message["status"] >= 400:  # noqa: PLR2004 - statuses from 400 on are errors
                self._exchange.outcome = f"http_{message['status']}"
            try:
                self._exchange.record(self._log, self._clock)
            except AuditError as error:
                self._refused = True
                await problem_response(problem_of(error))(*self._asgi)
                return
        await self._asgi[2](message)

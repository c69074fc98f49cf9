"""The REST face: one POST route an operation, its arguments as a JSON object."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from api.audit import AuditLog
from api.dispatch import in_thread, perform
from api.http.reply import UNCACHED, exchange_of, refuse
from api.operations.base import Operation, Services
from api.operations.budget import to_json
from api.problems import UNAUTHORIZED, Problem

PREFIX = "/v1/"


def endpoint(
    operation: Operation[Any, Any], services: Callable[[], Services], audit: AuditLog
) -> Callable[[Request], Awaitable[Response]]:
    """Return the handler of one operation."""

    async def handle(request: Request) -> Response:
        exchange = exchange_of(request.scope)
        exchange.action = operation.name
        caller = exchange.caller
        if caller is None:
            return refuse(request.scope, UNAUTHORIZED)
        body = await request.body()

        def work() -> Response:
            outcome = perform(operation, services, caller, body, audit)
            if isinstance(outcome, Problem):
                return refuse(request.scope, outcome)
            exchange.results = outcome.result_ids()
            return Response(to_json(outcome), headers=UNCACHED, media_type="application/json")

        return await in_thread(work)

    return handle

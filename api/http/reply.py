"""JSON replies, and the request's Exchange inside an ASGI scope."""

from __future__ import annotations

import json
from collections.abc import Mapping

from starlette.responses import Response
from starlette.types import Scope

from api.exchange import Exchange
from api.problems import Problem

_KEY = "context_engine.exchange"


def exchange_of(scope: Scope) -> Exchange:
    """Return the Exchange that the audit layer put into `scope`."""
    exchange: Exchange = scope[_KEY]
    return exchange


def put_exchange(scope: Scope, exchange: Exchange) -> None:
    """Attach `exchange` to the request."""
    scope[_KEY] = exchange


def refuse(scope: Scope, problem: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """Return the reply for `problem`, and note it for the audit line."""
    exchange_of(scope).outcome = problem.code
    return problem_response(problem, headers)


def problem_response(problem: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """Return the reply for `problem`. ASCII only, whatever names it quotes."""
    return Response(
        json.dumps(problem.body()),
        status_code=problem.status,
        headers={**(headers or {}), **UNCACHED},
        media_type="application/json",
    )


UNCACHED = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
"""Memories stay out of every cache on the way."""

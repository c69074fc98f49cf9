"""From raw arguments to an answer or a problem: what every face does between its two ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import anyio.to_thread
from pydantic import ValidationError

from api.audit import AuditLog
from api.caller import Caller
from api.operations.base import Answer, Operation, Request, Services
from api.problems import Problem, RefusedError, invalid_arguments, problem_of

T = TypeVar("T")

_THREADS = anyio.CapacityLimiter(8)


def perform(
    operation: Operation[Any, Any],
    services: Callable[[], Services],
    caller: Caller,
    arguments: bytes | Mapping[str, Any],
    audit: AuditLog,
) -> Answer | Problem:
    """Run `operation` with `arguments` (JSON text, or parsed) and return what came of it.

    `services` is called once the arguments are known to be good: opening them costs a second.
    Never raises: whatever happens becomes a Problem. An operation that writes does not start
    when the audit log could not take its line.
    """
    try:
        request = parse_request(operation, arguments)
        if operation.writes:
            audit.check()
        return operation.perform(services(), caller, request)
    except Exception as error:  # noqa: BLE001 - the boundary: problem_of logs what is unforeseen
        return problem_of(error)


async def in_thread(work: Callable[[], T]) -> T:
    """Run blocking work beside the event loop, at most eight at once: it needs the processor."""
    return await anyio.to_thread.run_sync(work, limiter=_THREADS)


def parse_request(operation: Operation[Any, Any], arguments: bytes | Mapping[str, Any]) -> Request:
    """Return the validated request.

    Raises RefusedError naming each wrong argument.
    """
    model: type[Request] = operation.request
    try:
        if isinstance(arguments, bytes):
            return model.model_validate_json(arguments or b"{}")
        return model.model_validate(arguments)
    except ValidationError as error:
        raise RefusedError(invalid_arguments(error, tuple(model.model_fields))) from error

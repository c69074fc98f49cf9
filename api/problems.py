"""Errors as a caller sees them: one shape on every face, with what to do about it.

Nothing here tells an absent note from one of another scope, and no message quotes a path of this
machine, a stored text or a rejected value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import BaseModel, ValidationError

from api.audit import AuditError
from context_engine.errors import (
    BadInputError,
    ContextEngineError,
    DeadlineExceededError,
    DependencyDownError,
    IndexCorruptError,
    IndexMismatchError,
    NoteConflictError,
    NotFoundError,
    UnsafePathError,
    UsageError,
)
from context_engine.logs import get_logger

log = get_logger(__name__)

_MAX_FIELDS_NAMED = 5
_MAX_NAME = 60


@dataclass(frozen=True)
class Problem:
    """A refusal: a stable code, the HTTP status it has, a sentence to act on."""

    code: str
    status: int
    message: str

    def body(self) -> Mapping[str, object]:
        """Return the JSON that every face answers with."""
        return {"error": {"code": self.code, "message": self.message}}


class ErrorDetail(BaseModel):
    """What went wrong."""

    code: str
    message: str


class ErrorBody(BaseModel):
    """The body of every refusal."""

    error: ErrorDetail


class RefusedError(ContextEngineError):
    """Carries a Problem to the face that answers."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


NOT_FOUND = Problem(
    "not_found",
    404,
    "Nothing there that this client may read. Use a path or chunk id from a recent search.",
)
UNAUTHORIZED = Problem(
    "unauthorized", 401, "A valid token is needed: send 'Authorization: Bearer ce_…'."
)
NO_ROUTE = Problem("no_such_route", 404, "There is no such route; see /openapi.json.")
WRONG_METHOD = Problem("wrong_method", 405, "This route does not take that method.")
WRONG_HOST = Problem("wrong_host", 421, "This Host is not served here; see api.allowed_hosts.")
WRONG_ORIGIN = Problem("wrong_origin", 403, "This Origin is not allowed; see api.allowed_origins.")
WRONG_TYPE = Problem("wrong_content_type", 415, "Send the arguments as application/json.")
TOO_LARGE = Problem("too_large", 413, "The request body is too large.")
TOO_SLOW = Problem("too_slow", 408, "The request body did not arrive in time.")
TOO_MANY = Problem("too_many_requests", 429, "Too many requests; wait as Retry-After says.")
NOT_RECORDED = Problem(
    "unavailable", 503, "The audit log cannot be written, so the request was refused."
)
INTERNAL = Problem("internal", 500, "Something went wrong here; the engine's log says what.")
_INDEX_DAMAGED = Problem(
    "unavailable",
    503,
    "The search index is damaged. Its owner mends it with: context-engine reindex --rebuild",
)
_INDEX_OUTDATED = Problem(
    "unavailable",
    503,
    "The search index was built with other settings; mend it with: context-engine reindex",
)
_CONFLICT = Problem(
    "conflict", 409, "The note was changed by someone else meanwhile; try once more."
)


def problem_of(error: Exception) -> Problem:
    """Return what a caller is told about `error`; the unforeseen is logged and not described."""
    match error:
        case RefusedError():
            return error.problem
        case NotFoundError() | UnsafePathError():
            return NOT_FOUND
        case ValidationError():
            return invalid_arguments(error)
        case UsageError() | BadInputError():
            return Problem("invalid_arguments", 422, str(error))
        case NoteConflictError():
            return _CONFLICT
        case _:
            return _unavailable_or_internal(error)


def _unavailable_or_internal(error: Exception) -> Problem:
    match error:
        case AuditError():
            log.error("audit_unwritable", reason=str(error))
            return NOT_RECORDED
        case IndexCorruptError():
            log.error("index_corrupt", reason=str(error))
            return _INDEX_DAMAGED
        case IndexMismatchError():
            return _INDEX_OUTDATED
        case DependencyDownError():
            return Problem("unavailable", 503, f"{error.dependency} is away; try again later.")
        case DeadlineExceededError():
            return Problem("unavailable", 503, str(error))
        case _:
            log.error("unforeseen_error", exc_info=error)
            return INTERNAL


def invalid_arguments(error: ValidationError, allowed: tuple[str, ...] = ()) -> Problem:
    """Return a Problem naming each wrong argument and what is wanted, never the value given.

    `allowed` are the arguments there are, told to who sends another.
    """
    found = error.errors(include_url=False, include_context=False, include_input=False)
    if found and found[0]["type"] == "json_invalid":
        return Problem("invalid_json", 400, f"The body is no valid JSON: {found[0]['msg']}.")
    lines = [
        f"{_place(item['loc'])}: {item['msg'].removeprefix('Value error, ')}"
        for item in found[:_MAX_FIELDS_NAMED]
    ]
    if len(found) > _MAX_FIELDS_NAMED:
        lines.append(f"and {len(found) - _MAX_FIELDS_NAMED} more")
    if any(item["type"] == "extra_forbidden" for item in found):
        lines.append("allowed: " + ", ".join(allowed))
    return Problem("invalid_arguments", 422, "; ".join(lines))


def _place(location: tuple[int | str, ...]) -> str:
    name = ".".join(str(part) for part in location) or "arguments"
    # a caller may send any name; it must not break the line it is quoted in
    return ascii(name[:_MAX_NAME])[1:-1]

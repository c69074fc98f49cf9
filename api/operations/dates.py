"""Times as callers write them: a day, or a day with a time."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from context_engine.clock import parse_utc

_LONGEST = 40
_DAY_LENGTH = len("2026-11-02")
_WANTED = "write a date as 2026-11-02 or 2026-11-02T09:05:00Z"


def _first_moment(value: Any) -> datetime | None:
    if value is None or isinstance(value, datetime):
        return value
    if not isinstance(value, str) or len(value) > _LONGEST:
        raise ValueError(_WANTED)
    try:
        return parse_utc(value)
    except (ValueError, OverflowError) as error:
        raise ValueError(_WANTED) from error


def _last_moment(value: Any) -> datetime | None:
    moment = _first_moment(value)
    if moment is not None and isinstance(value, str) and len(value) == _DAY_LENGTH:
        return moment.replace(hour=23, minute=59, second=59, microsecond=999_999)
    return moment


_SCHEMA = WithJsonSchema({"type": "string"})

Since = Annotated[datetime, BeforeValidator(_first_moment), _SCHEMA]
"""A day means its beginning."""
Until = Annotated[datetime, BeforeValidator(_last_moment), _SCHEMA]
"""A day means its end."""

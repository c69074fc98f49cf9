"""`[[routine]]` of config.toml: what the engine does by itself, and when."""

from __future__ import annotations

import re
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from context_engine.scopes import Scope

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_DURATION = re.compile(r"([0-9]{1,6})([smhd])")

KINDS = ("backup", "reindex", "review-summary")
"""What a routine may do besides collecting a source."""


def seconds_of(text: str) -> int:
    """Return the seconds of 30s, 15m, 6h or 7d; raises ValueError, as pydantic expects."""
    match = _DURATION.fullmatch(text)
    if match is None:
        raise ValueError("write a time like 30s, 15m, 6h or 7d")
    return int(match[1]) * _UNITS[match[2]]


def _duration(text: str) -> str:
    seconds_of(text)
    return text


def _cron(text: str) -> str:
    from datetime import UTC, datetime

    from cronsim import CronSim, CronSimError

    try:
        next(CronSim(text, datetime(2000, 1, 1, tzinfo=UTC)))
    except CronSimError as error:
        raise ValueError(f"{error}; write minute hour day month weekday: 0 4 * * 1") from error
    except StopIteration:
        raise ValueError("no such day ever comes") from None
    return text


def zone(name: str) -> str:
    """Check the name of a time zone; raises ValueError, as pydantic expects."""
    if name:
        try:
            ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            raise ValueError(f"no time zone {name!r}; write one like Asia/Tokyo") from error
    return name


Duration = Annotated[str, AfterValidator(_duration)]
Zone = Annotated[str, AfterValidator(zone)]


class RoutineSettings(BaseModel):
    """One routine."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")]
    """Small letters, digits and hyphens."""
    source: str
    """A source of `context-engine sources`, or backup, reindex, review-summary."""
    cron: Annotated[str, AfterValidator(_cron)] | None = None
    """Minute, hour, day of month, month, day of week: `0 4 * * 1`."""
    every: Duration | None = None
    """30s, 15m, 6h, 7d."""
    jitter: Duration = "0s"
    """Starts up to so much later, by an amount that is fixed for each time."""
    scope: Scope | None = None
    """Scope of what is collected; unset means from the source itself."""
    project: str | None = None
    """Project of what is collected; unset means from the source itself."""
    paths: tuple[str, ...] = ()
    """Files and folders; `~` and `*` are followed. Unset means where the source usually lies."""
    zone: Zone = ""
    """Time zone of `cron`; unset means the machine's."""
    timeout: Duration = "6h"
    """A run that takes longer is ended and counts as failed."""

    @model_validator(mode="after")
    def _one_time(self) -> RoutineSettings:
        if (self.cron is None) == (self.every is None):
            raise ValueError("give either cron or every")
        if self.every is not None and seconds_of(self.every) == 0:
            raise ValueError("every must not be zero")
        return self

"""The owner's own patterns, held to a form that takes linear time."""

from __future__ import annotations

import re

from context_engine.errors import ConfigError
from context_engine.redaction.model import CustomPattern

_NAME = re.compile(r"[a-z][a-z-]{0,30}[a-z]")


def custom_pattern(name: str, regex: str) -> CustomPattern:
    """Return a pattern ready to use.

    Raises ConfigError when the name or the regular expression is refused.
    """
    if not _NAME.fullmatch(name):
        raise ConfigError(f"redaction pattern {name!r}: a name is 2 to 32 letters a-z and dashes")
    try:
        return CustomPattern(name, re.compile(regex))
    except re.error as error:
        raise ConfigError(f"redaction pattern {name!r}: {error}") from error

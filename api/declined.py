"""What a person said no to when the home was made, so that nothing does it unasked later."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from context_engine.errors import ContextEngineError
from context_engine.home import Home

_NAME = ".declined"


def declined(home: Home) -> frozenset[str]:
    """Return what was declined: of `git` and `connect`."""
    try:
        return frozenset(_file(home).read_text(encoding="ascii").split())
    except FileNotFoundError:
        return frozenset()
    except UnicodeDecodeError as error:
        raise ContextEngineError(f"{_file(home)} should hold words; remove it") from error


def remember(home: Home, said: Mapping[str, bool]) -> None:
    """Keep for a later `init` what was answered just now, and what was before about the rest."""
    refused = (declined(home) - said.keys()) | {name for name, agreed in said.items() if not agreed}
    if refused == declined(home):
        return
    partial = _file(home).with_name(f"{_NAME}.{os.getpid()}.tmp")
    partial.write_text("".join(f"{name}\n" for name in sorted(refused)), encoding="ascii")
    partial.replace(_file(home))


def _file(home: Home) -> Path:
    return home.root / _NAME

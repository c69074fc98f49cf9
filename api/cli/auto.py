"""`ingest auto`: telling what each path is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from api.cli.common import say
from connectors.recognition import Recognised, recognise
from context_engine.errors import UsageError

AUTO = "auto"


def recognise_all(paths: Sequence[Path]) -> tuple[Recognised, ...]:
    """Return what each path is, and say it.

    Raises UsageError naming each path that cannot be told; then nothing is read.
    """
    if not paths:
        raise UsageError("name what is to be looked at: context-engine ingest auto PATH…")
    found: list[Recognised] = []
    problems: list[str] = []
    for path in paths:
        try:
            found.append(recognise(path.expanduser()))
        except UsageError as error:
            problems.append(str(error))
    for item in found:
        say(f"{item.path} looks like {item.words}: {item.source}")
    if problems:
        raise UsageError("\n".join(problems))
    return tuple(found)


def by_source(recognised: Sequence[Recognised]) -> dict[str, tuple[Path, ...]]:
    """Return the paths of each source, in the order in which they were named."""
    paths: dict[str, tuple[Path, ...]] = {}
    for item in recognised:
        paths[item.source] = (*paths.get(item.source, ()), item.path)
    return paths

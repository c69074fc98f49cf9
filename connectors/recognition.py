"""Which source a path belongs to, by asking each whether it knows what lies there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from connectors.look import Guess, Look, Recogniser, look_at
from connectors.registry import SOURCES, load
from context_engine.errors import UsageError


@dataclass(frozen=True, slots=True)
class Recognised:
    """A path, the source that reads it, and what it looks like in words."""

    path: Path
    source: str
    words: str


def recognise(path: Path) -> Recognised:
    """Return what lies at `path`.

    Raises UsageError when it is not there, and when no source or more than one claims it.
    """
    if not path.exists():
        raise UsageError(f"no such file or folder: {path}")
    look = look_at(path)
    if not look.files:
        raise UsageError(f"{path}: there is no file in it that can be read")
    guesses = {name: guess for name in SOURCES if (guess := _asked(name, look)) is not None}
    sure = {name: guess for name, guess in guesses.items() if guess.sure}
    found = sure or guesses
    if len(found) != 1:
        raise UsageError(_several(path, found) if found else _nothing(path))
    ((name, guess),) = found.items()
    return Recognised(path, name, guess.words)


def _asked(name: str, look: Look) -> Guess | None:
    connector = load(name)
    return connector.recognise(look) if isinstance(connector, Recogniser) else None


def _several(path: Path, found: Mapping[str, Guess]) -> str:
    each = "; ".join(f"{name} ({guess.words})" for name, guess in found.items())
    first = next(iter(found))
    return (
        f"{path} fits more than one source: {each}; say which, or name what belongs to one of "
        f"them alone: context-engine ingest {first} PATH"
    )


def _nothing(path: Path) -> str:
    known = [load(name) for name in SOURCES]
    looked_for = "\n".join(
        f"  {each.name}: {each.accepts}" for each in known if isinstance(each, Recogniser)
    )
    return f"{path} looks like none of the sources that are known:\n{looked_for}"

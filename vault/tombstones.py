"""What a person rejected or had forgotten, remembered without a word of it.

A tombstone is a signature by the home's key: nobody without the key can tell what lies below, nor
test a guess. They lie in `keys/`, since what was forgotten must not come back when `state/` is
deleted and everything is collected again.
"""

from __future__ import annotations

import fcntl
import os
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from context_engine.home import Home
from context_engine.insights import Insight
from context_engine.scopes import Scope
from context_engine.secretkey import make_key, read_key, sign

_FILE = "tombstones"
_SET, _LIFTED = "+", "-"
_MARK_LENGTH = 32

Grave = tuple[str, ...]
"""What a tombstone stands for: a word for what it is, and its parts."""

_cache: dict[str, tuple[tuple[int, int, int], frozenset[str]]] = {}


@dataclass(frozen=True)
class Tombstones:
    """The tombstones of a home as they are now."""

    key: bytes | None
    marks: frozenset[str]

    def has(self, grave: Grave) -> bool:
        """Return whether this was rejected or forgotten."""
        return bool(self.marks) and self.key is not None and sign(self.key, *grave) in self.marks

    def covers(self, insight: Insight) -> bool:
        """Return whether an insight, its evidence or its event was rejected or forgotten."""
        if not self.marks:
            return False
        graves = insight_graves(
            insight.scope, insight.insight_id, insight.evidence or insight.content
        )
        event = (event_grave(insight.event_id),) if insight.event_id else ()
        return any(map(self.has, (*graves, *event)))


def insight_graves(scope: Scope, insight_id: str, evidence: str) -> tuple[Grave, ...]:
    """Return what is set for a rejected insight: as another kind it must not come back either."""
    words = fold(evidence)
    return (("insight", insight_id), *((("evidence", scope.value, words),) if words else ()))


def event_grave(event_id: str) -> Grave:
    """Return what is set for an event that was forgotten."""
    return ("event", event_id)


def fold(text: str) -> str:
    """Return `text` as it is compared: without width, case and space."""
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


def tombstones(home: Home) -> Tombstones:
    """Return the home's tombstones; cheap while none was added."""
    path = home.keys / _FILE
    try:
        info = path.stat()
    except FileNotFoundError:
        return Tombstones(None, frozenset())
    state = (info.st_ino, info.st_size, info.st_mtime_ns)
    known = _cache.get(str(path))
    if known is None or known[0] != state:
        known = (state, _parsed(path.read_text("ascii", "replace")))
        _cache[str(path)] = known
    return Tombstones(read_key(home), known[1])


def bury(home: Home, graves: Iterable[Grave], now: datetime) -> None:
    """Set a tombstone for each; durable when it returns. Setting one again changes nothing."""
    _append(home, _SET, graves, now)


def unbury(home: Home, graves: Iterable[Grave], now: datetime) -> None:
    """Lift tombstones."""
    _append(home, _LIFTED, graves, now)


def _append(home: Home, sign_: str, graves: Iterable[Grave], now: datetime) -> None:
    key = make_key(home)
    lines = [f"{sign_} {sign(key, *grave)} {now:%Y-%m-%d}\n" for grave in graves]
    if not lines:
        return
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(home.keys / _FILE, flags, 0o600)
    with os.fdopen(handle, "ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        # a line that a killed writer left unfinished must not swallow the next one
        file.write(("\n" + "".join(lines)).encode("ascii"))
        file.flush()
        os.fsync(file.fileno())


def _parsed(text: str) -> frozenset[str]:
    marks: set[str] = set()
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        mark = rest.partition(" ")[0]
        if len(mark) != _MARK_LENGTH:
            continue
        if word == _SET:
            marks.add(mark)
        elif word == _LIFTED:
            marks.discard(mark)
    return frozenset(marks)

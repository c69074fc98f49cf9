"""The contract every source keeps.

A connector reads and yields; it stores nothing and knows neither Redis nor the vault. Bad records
are values, not exceptions: only a broken invariant raises. Reading is a stream in bounded memory.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from context_engine.events import BadRecord, Checkpoint, SourceDocument, UnknownRecord
from context_engine.scopes import Scope, ScopeRule, scope_for_path
from context_engine.source_settings import LiveSettings

Item = SourceDocument | BadRecord | UnknownRecord | Checkpoint
"""What a connector yields. A Checkpoint covers everything yielded since the one before it."""

PART_LIMIT = 150_000
"""Characters of text in one part of a document: one readable file of the vault."""

EVENT_LIMIT = 150_000
"""Characters of text in one event: what one message on Redis carries."""


class Progress(Protocol):
    """Is told how far a reading is."""

    def __call__(self, read: int, total: int, place: str = "") -> None:
        """Take note of `read` more bytes, of `total` in the whole run or 0, in the file `place`."""
        ...


@dataclass(frozen=True)
class ReadOptions:
    """What the caller fixed for one run; unset fields are derived from the source itself."""

    scope: Scope | None = None
    project: str | None = None
    owner_name: str = "owner"
    default_scope: Scope = Scope.PERSONAL
    scope_rules: tuple[ScopeRule, ...] = ()
    progress: Progress | None = None
    since: datetime | None = None
    """The caller takes nothing that was said before; a source may save itself asking for it."""

    live: LiveSettings = field(default_factory=LiveSettings)
    """Settings of the sources that are asked over the network."""
    follow: bool = False
    """Stay connected and yield what happens, until interrupted. A checkpoint is then committed
    as soon as it is yielded: what comes after the yield may acknowledge it to the source."""
    downloads: Path | None = None
    """Folder for files of a source until they are read: an interrupted run goes on with them."""
    pause: Callable[[float], None] = time.sleep
    """Waits so many seconds before a request is made again; may raise to end the run."""

    def scope_of(self, cwd: str | None) -> Scope:
        """Scope of something that happened in `cwd`."""
        if self.scope is not None:
            return self.scope
        if cwd is None:
            return self.default_scope
        return scope_for_path(cwd, self.scope_rules, self.default_scope)


class Ledger(Protocol):
    """What was collected before, as far as a connector may ask."""

    def checkpoint(self, key: str) -> Mapping[str, Any] | None:
        """Return the state of the last committed Checkpoint with this key."""
        ...

    def seen(self, native_ids: Sequence[str]) -> set[str]:
        """Return those utterance ids of this source that an earlier commit already holds."""
        ...


class Connector(Protocol):
    """One source."""

    name: str
    """What the user types: `context-engine ingest NAME`."""
    accepts: str
    """One line for `context-engine sources`."""
    default_paths: tuple[Path, ...]
    """Where the source lies when the user names no path."""

    def read(self, paths: Sequence[Path], ledger: Ledger, options: ReadOptions) -> Iterator[Item]:
        """Yield what is new below `paths` since the last checkpoints, in reading order."""
        ...


@runtime_checkable
class LiveConnector(Connector, Protocol):
    """A source that is asked over the network: it takes no paths."""

    shares: str
    """The source of files that has the same ids: what one collected the other does not again."""
    needs: str
    """One line for `context-engine sources`: the secret and the settings without which it fails."""


@runtime_checkable
class FollowedConnector(LiveConnector, Protocol):
    """A source that tells what happens while it happens: it honours `follow`."""

    needs_to_follow: str
    """What it needs besides, in a few words."""


def ledger_name(connector: Connector) -> str:
    """Return the source under whose name a connector's reading states are kept."""
    return connector.shares if isinstance(connector, LiveConnector) else connector.name

"""Read-only connections to the indexes, one a thread, renewed when an index was exchanged."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import apsw

from context_engine.home import Home
from context_engine.scopes import Scope
from index.cells import Cells, load_cells
from index.lexical import Term, weigh
from index.model import ScopeStats
from index.schema import (
    EMBEDDED,
    PENDING,
    QUARANTINED,
    damage_reported,
    number,
    open_for_reading,
    read_meta,
)

_MAX_CACHED_TERMS = 50_000
_EXACT_BELOW = 20_000
_DRIFT = 0.01


@dataclass
class Reader:
    """One open index, with what is worth remembering between two changes of the file."""

    path: Path
    inode: int
    connection: apsw.Connection
    version: int = -1
    chunks: int = 0
    weighed_at: int = 0
    """Chunks there were when the cached terms began to be counted."""
    vectors: int = 0
    meta: dict[str, str] = field(default_factory=dict)
    terms: dict[str, Term] = field(default_factory=dict)
    cells: Cells | None = None
    cells_state: tuple[apsw.SQLiteValue, ...] = ()

    def refresh(self) -> None:
        """Forget what a change of the file made stale. Call inside a read transaction."""
        version = number(self.connection, "PRAGMA data_version")
        if version != self.version:
            self.version = version
            tally = dict(self.connection.execute("SELECT name, rows FROM tally"))
            self.chunks, self.vectors = tally["chunk"], tally["vector"]
            self._forget_terms()
            self.meta = read_meta(self.connection)
            self._load_cells()

    def _forget_terms(self) -> None:
        """Drop the document frequencies, unless the index is large and has hardly changed.

        Counting a frequent term in a large index takes milliseconds; a percent more chunks
        changes no ranking that anybody could see.
        """
        drift = abs(self.chunks - self.weighed_at)
        if self.chunks < _EXACT_BELOW or drift > _DRIFT * self.weighed_at:
            self.terms.clear()
            self.weighed_at = self.chunks

    def _load_cells(self) -> None:
        state = self.connection.execute(
            "SELECT max(generation), count(*) FROM centroid"
        ).fetchall()[0]
        if state != self.cells_state:
            self.cells_state = state
            self.cells = load_cells(self.connection)

    def weigh(self, terms: tuple[str, ...]) -> list[Term]:
        """Return the terms with their weights in this index, rarest first."""
        if len(self.terms) > _MAX_CACHED_TERMS:
            self.terms.clear()
        new = tuple(text for text in terms if text not in self.terms)
        for term in weigh(self.connection, new, self.chunks):
            self.terms[term.text] = term
        found = [self.terms[text] for text in terms]
        return sorted(found, key=lambda term: (term.frequency, term.text))


class Readers:
    """The indexes of one home, as one thread sees them."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._local = threading.local()

    @contextmanager
    def open(self, scope: Scope) -> Iterator[Reader | None]:
        """Give a reader within one consistent view of the index; None when there is no index."""
        reader = self._current(scope)
        if reader is None:
            yield None
            return
        with damage_reported(reader.path):
            reader.connection.execute("BEGIN")
            try:
                reader.refresh()
                yield reader
            finally:
                if reader.connection.in_transaction:
                    reader.connection.execute("COMMIT")

    def stats(self, scope: Scope) -> ScopeStats:
        """Return the state of one index."""
        with self.open(scope) as reader:
            if reader is None:
                return ScopeStats(scope, 0, 0, 0, 0, "", 0)
            rows = reader.connection.execute("SELECT state, count(*) FROM chunk GROUP BY state")
            states: dict[int, int] = dict(rows)
            return ScopeStats(
                scope=scope,
                notes=number(reader.connection, "SELECT count(*) FROM note WHERE error IS NULL"),
                chunks=sum(states.get(state, 0) for state in (PENDING, EMBEDDED, QUARANTINED)),
                embedded=states.get(EMBEDDED, 0),
                quarantined=states.get(QUARANTINED, 0),
                model=reader.meta.get("embedder", ""),
                size_bytes=reader.path.stat().st_size,
            )

    def close(self) -> None:
        """Close this thread's connections."""
        for reader in self._open_here().values():
            reader.connection.close()
        self._open_here().clear()

    def _open_here(self) -> dict[Scope, Reader]:
        if not hasattr(self._local, "readers"):
            self._local.readers = {}
        readers: dict[Scope, Reader] = self._local.readers
        return readers

    def _current(self, scope: Scope) -> Reader | None:
        path = self._home.index(scope)
        readers = self._open_here()
        inode = path.stat().st_ino if path.exists() else 0
        held = readers.get(scope)
        if held is not None and held.inode == inode:
            return held
        if held is not None:
            held.connection.close()
            del readers[scope]
        connection = open_for_reading(path)
        if connection is None:
            return None
        readers[scope] = Reader(path, inode, connection)
        return readers[scope]

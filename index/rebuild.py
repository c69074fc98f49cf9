"""An index built anew beside the one in use, and put in its place when complete."""

from __future__ import annotations

import fcntl
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from context_engine.errors import AlreadyRunningError, IndexCorruptError
from context_engine.home import Home
from context_engine.scopes import Scope
from index.embedding.base import Embedder
from index.schema import exchange, locked, open_for_reading, read_meta
from index.writer import IndexWriter

_NOTES_A_STEP = 200
_CHUNKS_A_STEP = 64


@dataclass(frozen=True)
class RebuildProgress:
    """How far a rebuild is."""

    indexed: int
    """Notes indexed by this step."""
    waiting: int
    """Chunks that still wait for a vector."""
    complete: bool


class Rebuild:
    """Builds the next index of a scope in steps; queries go on in the present one meanwhile.

    Interrupted, it goes on where it stopped. When the model is the same, vectors are taken over;
    when it changed, the exchange waits until every chunk has its new vector.
    """

    def __init__(self, home: Home, scope: Scope, embedder: Embedder | None) -> None:
        self._home, self._scope, self._embedder = home, scope, embedder
        self._path = home.index(scope)
        self._next_path = self._path.with_suffix(".next.db")
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        present = _identities(self._path)
        self._model_changed = present is None or (
            self._embedder is not None
            and present.get("embedder") not in (None, str(self._embedder.identity))
        )
        self._next = self._stack.enter_context(self._open_next())
        if present is not None and not self._model_changed:
            self._next.adopt_vectors(self._path)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def step(self) -> RebuildProgress:
        """Do a bounded piece of the work. Raises DependencyDownError like the embedder."""
        report = self._next.scan(limit=_NOTES_A_STEP)
        if report.unfinished:
            return RebuildProgress(len(report.indexed), self._next.waiting, complete=False)
        waiting = self._next.waiting
        if waiting and self._embedder is not None and self._model_changed:
            waiting = self._next.embed_pending(_CHUNKS_A_STEP).waiting
        done = waiting == 0 or self._embedder is None or not self._model_changed
        return RebuildProgress(len(report.indexed), waiting, complete=done)

    def finish(self, writer: IndexWriter) -> None:
        """Put the new index in the place of the one that `writer` holds."""
        self._next.scan()
        self._stack.close()
        writer.exchanged(lambda: exchange(self._next_path, self._path))

    def _open_next(self) -> IndexWriter:
        """Return the writer of the next index; one begun under other settings is begun anew."""
        try:
            with IndexWriter(
                self._home, self._scope, self._embedder, path=self._next_path
            ) as begun:
                usable = not begun.mismatches
        except IndexCorruptError:
            usable = False
        if not usable:
            remove_index(self._next_path)
        return IndexWriter(self._home, self._scope, self._embedder, path=self._next_path)


def rebuild(home: Home, scope: Scope, embedder: Embedder | None, writer: IndexWriter) -> None:
    """Rebuild the index that `writer` holds, from beginning to end."""
    with Rebuild(home, scope, embedder) as work:
        while not work.step().complete:
            pass
        work.finish(writer)


def rebuild_damaged(home: Home, scope: Scope, embedder: Embedder | None) -> None:
    """Replace an index that can no longer be opened by one built from the vault.

    It answers by keyword at once; vectors follow. Raises AlreadyRunningError while a writer
    holds the index.
    """
    path = home.index(scope)
    try:
        with locked(path.with_suffix(".lock"), fcntl.LOCK_EX | fcntl.LOCK_NB):
            remove_index(path)
            with IndexWriter(home, scope, embedder, path=path.with_suffix(".next.db")) as writer:
                writer.scan()
            exchange(path.with_suffix(".next.db"), path)
    except BlockingIOError as error:
        raise AlreadyRunningError(f"{path} is being written by another process") from error


def remove_index(path: Path) -> None:
    """Delete an index file and its journals."""
    for suffix in ("", "-wal", "-shm"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)


def _identities(path: Path) -> dict[str, str] | None:
    """Return what the index at `path` was built with; None when it cannot be read."""
    try:
        connection = open_for_reading(path)
    except IndexCorruptError:
        return None
    if connection is None:
        return None
    try:
        return read_meta(connection)
    finally:
        connection.close()

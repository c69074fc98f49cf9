"""The open indexes of all scopes, used by several threads of the one process that writes them."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from context_engine.errors import DependencyDownError, IndexCorruptError, IndexMismatchError
from context_engine.home import Home
from context_engine.logs import get_logger
from context_engine.scopes import Scope
from index.embedding.base import Embedder
from index.rebuild import Rebuild, rebuild_damaged
from index.writer import IndexWriter

EMBED_BATCH = 8
"""Small: while it is embedded, a saved file waits for its turn to become searchable."""

log = get_logger(__name__)


class Indexes:
    """Writers by scope. Keyword indexing goes before embedding; a damaged index stops only itself.

    What needs an index that is damaged or being rebuilt raises DependencyDownError, so that its
    job waits; `is_usable` says when to ask again.
    """

    def __init__(self, home: Home, embedder: Embedder | None) -> None:
        self._home = home
        self._embedder = embedder
        self._writers: dict[Scope, IndexWriter] = {}
        self._damage: dict[Scope, str] = {}
        self._lock = threading.Lock()
        self._keyword_first = threading.Condition()
        self._keyword_waiting = 0

    def __enter__(self) -> Self:
        for scope in Scope:
            self._open(scope)
        return self

    def __exit__(self, *_: object) -> None:
        for scope in list(self._writers):
            self._writers.pop(scope).__exit__(None, None, None)

    def index(self, scope: Scope, path: str) -> int:
        """Bring the index up to date with one file; returns its chunks."""
        with self._keyword_turn(scope) as writer:
            writer.index_note(path)
            return writer.chunk_count(path)

    def scan(self, scope: Scope) -> None:
        """Compare a whole vault with its index and follow it, in turns with other work."""
        unfinished = True
        while unfinished:
            with self._keyword_turn(scope) as writer:
                report = writer.scan(limit=100)
            unfinished = report.unfinished
            if report.indexed or report.removed or report.failed:
                log.info("scanned", scope=scope.value, indexed=len(report.indexed),
                         removed=len(report.removed), failed=len(report.failed))  # fmt: skip

    def rebuild(self, scope: Scope) -> None:
        """Build the index anew beside the one in use, and exchange them when it is complete."""
        if scope in self._damage:
            rebuild_damaged(self._home, scope, self._embedder)
            self._open(scope)
            return
        with Rebuild(self._home, scope, self._embedder) as work, self._shown(scope) as show:
            while not (progress := work.step()).complete:
                show(progress.waiting)
            with self._keyword_turn(scope, matching=False) as writer:
                work.finish(writer)
        log.info("index rebuilt", scope=scope.value)

    def embed_some(self) -> int:
        """Embed one small batch a scope, letting keyword work go first; returns how many wait.

        An index built by another model, tokenizer or chunker is rebuilt first.
        """
        left = 0
        for scope in list(self._writers):  # not the damaged ones
            with self._embedding_turn(scope) as writer:
                differs = writer.mismatches
            if differs:
                log.warning("index built differently", scope=scope.value, differs=differs)
                self.rebuild(scope)
            with self._embedding_turn(scope) as writer:
                left += writer.embed_pending(EMBED_BATCH).waiting
        return left

    def is_usable(self, scope: Scope) -> bool:
        """Return whether the index is whole and built as configured."""
        with self._lock:
            writer = self._writers.get(scope)
            return writer is not None and not writer.mismatches

    def _open(self, scope: Scope) -> None:
        writer = IndexWriter(self._home, scope, self._embedder)
        try:
            writer.__enter__()
        except IndexCorruptError as error:
            self._give_up(scope, error)
        else:
            self._writers[scope] = writer
            self._damage.pop(scope, None)

    def _give_up(self, scope: Scope, error: IndexCorruptError) -> None:
        log.error("index damaged", scope=scope.value, reason=str(error))
        self._damage[scope] = str(error)
        writer = self._writers.pop(scope, None)
        if writer is not None:
            writer.__exit__(None, None, None)

    @contextmanager
    def _keyword_turn(self, scope: Scope, *, matching: bool = True) -> Iterator[IndexWriter]:
        with self._keyword_first:
            self._keyword_waiting += 1
        try:
            with self._lock, self._usable(scope, matching=matching) as writer:
                yield writer
        finally:
            with self._keyword_first:
                self._keyword_waiting -= 1
                self._keyword_first.notify_all()

    @contextmanager
    def _usable(self, scope: Scope, *, matching: bool) -> Iterator[IndexWriter]:
        dependency = index_dependency(scope)
        if scope in self._damage:
            raise DependencyDownError(dependency, self._damage[scope])
        try:
            yield self._writers[scope]
        except IndexCorruptError as error:
            self._give_up(scope, error)
            raise DependencyDownError(dependency, str(error)) from error
        except IndexMismatchError as error:
            if not matching:
                raise
            raise DependencyDownError(dependency, "is being rebuilt") from error

    @contextmanager
    def _embedding_turn(self, scope: Scope) -> Iterator[IndexWriter]:
        with self._keyword_first:
            self._keyword_first.wait_for(lambda: self._keyword_waiting == 0)
        with self._lock, self._usable(scope, matching=False) as writer:
            yield writer

    @contextmanager
    def _shown(self, scope: Scope) -> Iterator[Callable[[int], None]]:
        path = rebuild_file(self._home, scope)

        def show(waiting: int) -> None:
            path.write_text(json.dumps({"waiting": waiting}), encoding="ascii")

        show(0)
        try:
            yield show
        finally:
            path.unlink(missing_ok=True)


def index_dependency(scope: Scope) -> str:
    """Return the dependency name of one scope's index."""
    return f"index of {scope.value}"


def rebuild_file(home: Home, scope: Scope) -> Path:
    """Return where a running rebuild says how far it is."""
    return home.index(scope).with_suffix(".rebuild.json")

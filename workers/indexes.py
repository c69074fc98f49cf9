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
from index.pending import embed_beside
from index.rebuild import Rebuild, rebuild_damaged
from index.writer import IndexWriter

EMBED_BATCH = 32

log = get_logger(__name__)


class Indexes:
    """Writers by scope. Embedding goes on beside keyword work; a damaged index stops only itself.

    What needs an index that is damaged or being rebuilt raises DependencyDownError, so that its
    job waits; `is_usable` says when to ask again.
    """

    def __init__(self, home: Home, embedder: Embedder | None) -> None:
        self._home = home
        self._embedder = embedder
        self._writers: dict[Scope, IndexWriter] = {}
        self._damage: dict[Scope, str] = {}
        self._lock = threading.RLock()
        self._news = threading.Event()
        self._news.set()
        self._embedding = threading.RLock()
        """Held while an index is embedded, so that its file is not exchanged meanwhile."""

    def __enter__(self) -> Self:
        for scope in Scope:
            self._open(scope)
        return self

    def __exit__(self, *_: object) -> None:
        for scope in list(self._writers):
            self._writers.pop(scope).__exit__(None, None, None)

    def index(self, scope: Scope, path: str) -> int:
        """Bring the index up to date with one file; returns its chunks."""
        with self._turn(scope) as writer:
            writer.index_note(path)
            self._news.set()
            return writer.chunk_count(path)

    def scan(self, scope: Scope) -> None:
        """Compare a whole vault with its index and follow it, in turns with other work."""
        unfinished = True
        while unfinished:
            with self._turn(scope) as writer:
                report = writer.scan(limit=100)
            unfinished = report.unfinished
            self._news.set()
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
            with self._embedding, self._turn(scope, matching=False) as writer:
                work.finish(writer)
        log.info("index rebuilt", scope=scope.value)

    def take_news(self) -> bool:
        """Return whether anything was indexed since the last call: chunks may wait for vectors."""
        news = self._news.is_set()
        self._news.clear()
        return news

    def embed_some(self) -> int:
        """Embed one small batch a scope, beside the keyword work; returns how many chunks wait.

        An index built by another model, tokenizer or chunker is rebuilt first.
        """
        left = 0
        for scope in list(self._writers):  # not the damaged ones
            with self._turn(scope, matching=False) as writer:
                differs, waiting = writer.mismatches, writer.waiting
            if differs:
                log.warning("index built differently", scope=scope.value, differs=differs)
                self.rebuild(scope)
            elif waiting:
                left += self._embed(scope)
        return left

    def _embed(self, scope: Scope) -> int:
        if self._embedder is None:
            return 0
        # not in a turn: a model's seconds must not keep a saved file from being searchable
        with self._embedding, self._usable(scope, matching=False):
            return embed_beside(self._home.index(scope), self._embedder, EMBED_BATCH).waiting

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
        with self._lock:
            self._damage[scope] = str(error)
            writer = self._writers.pop(scope, None)
            if writer is not None:
                writer.__exit__(None, None, None)

    @contextmanager
    def _turn(self, scope: Scope, *, matching: bool = True) -> Iterator[IndexWriter]:
        with self._lock, self._usable(scope, matching=matching):
            yield self._writers[scope]

    @contextmanager
    def _usable(self, scope: Scope, *, matching: bool) -> Iterator[None]:
        dependency = index_dependency(scope)
        if scope in self._damage:
            raise DependencyDownError(dependency, self._damage[scope])
        try:
            yield
        except IndexCorruptError as error:
            self._give_up(scope, error)
            raise DependencyDownError(dependency, str(error)) from error
        except IndexMismatchError as error:
            if not matching:
                raise
            raise DependencyDownError(dependency, "is being rebuilt") from error

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


def rebuild_waits_for(home: Home, scope: Scope) -> int | None:
    """Return how many chunks a running rebuild still has to embed, None when none runs."""
    try:
        progress = json.loads(rebuild_file(home, scope).read_text(encoding="ascii"))
        return int(progress["waiting"])
    except (OSError, ValueError, KeyError, TypeError):
        return None

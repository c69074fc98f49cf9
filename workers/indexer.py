"""The indexer part: `python -P -m workers.indexer`. The one writer of every scope's index.

Three things run side by side: jobs (a file changed, said the pipeline), the watcher (a file
changed, said the disk) and the embedder (chunks that wait for their vectors). The first two make
a chunk searchable by keyword at once; vectors follow.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Self

from context_engine.errors import ContextEngineError
from context_engine.logs import get_logger
from context_engine.scopes import Scope
from context_engine.settings import Settings, load_settings
from index.embedding.factory import make_embedder
from index.watch import watch_vaults
from index.writer import IndexWriter
from workers.broker import INDEX
from workers.jobs import DISK, disk_is_writable
from workers.outbox_model import Job, Outcome
from workers.process import Role, serve

EMBED_BATCH = 8
"""Small: while it is embedded, a saved file waits for its turn to become searchable."""

EMBED_IDLE_SECONDS = 0.2
EMBED_RETRY_SECONDS = 10.0

log = get_logger(__name__)


class Indexes:
    """The writers of all scopes, used by several threads, keyword indexing before embedding."""

    def __init__(self, settings: Settings) -> None:
        embedder = make_embedder(settings.embedding, settings.models_dir, settings.ollama_url)
        self._writers = {scope: IndexWriter(settings.paths, scope, embedder) for scope in Scope}
        self._lock = threading.Lock()
        self._keyword_first = threading.Condition()
        self._keyword_waiting = 0

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            for writer in self._writers.values():
                stack.enter_context(writer)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def index(self, scope: Scope, path: str) -> int:
        """Bring the index up to date with one file; returns its chunks."""
        with self._keyword_turn():
            self._writers[scope].index_note(path)
            return self._writers[scope].chunk_count(path)

    def scan(self, scope: Scope) -> None:
        """Compare a whole vault with its index and follow it."""
        with self._keyword_turn():
            report = self._writers[scope].scan()
        if report.indexed or report.removed or report.failed:
            log.info("scanned", scope=scope.value, indexed=len(report.indexed),
                     removed=len(report.removed), failed=len(report.failed))  # fmt: skip

    def embed_some(self) -> int:
        """Embed one small batch a scope, letting keyword work go first; returns how many wait."""
        left = 0
        for writer in self._writers.values():
            with self._keyword_first:
                self._keyword_first.wait_for(lambda: self._keyword_waiting == 0)
            with self._lock:
                left += writer.embed_pending(EMBED_BATCH).waiting
        return left

    @contextmanager
    def _keyword_turn(self) -> Iterator[None]:
        with self._keyword_first:
            self._keyword_waiting += 1
        try:
            with self._lock:
                yield
        finally:
            with self._keyword_first:
                self._keyword_waiting -= 1
                self._keyword_first.notify_all()


def main() -> None:
    """Index until told to stop."""
    settings = load_settings()
    settings.paths.create()
    with Indexes(settings) as indexes:
        serve(
            Role(
                name="indexer",
                queues=(INDEX,),
                threads=1,
                works=lambda _settings, _outbox: {INDEX: _index_work(indexes)},
                probes=lambda s: {DISK: lambda: disk_is_writable(s.paths)},
                background=lambda s, _outbox, stop: _background(s, indexes, stop),
            ),
            settings,
        )


def _index_work(indexes: Indexes) -> Callable[[Job, str | None], Outcome]:
    def work(job: Job, _event: str | None) -> Outcome:
        scope, path = Scope(job.arguments["scope"]), job.arguments["path"]
        if path is not None:
            return Outcome(result={"chunks": indexes.index(scope, path)})
        if job.arguments["rebuild"]:
            indexes.rebuild(scope)
        else:
            indexes.scan(scope)
        return Outcome()

    return work


def _background(
    settings: Settings, indexes: Indexes, stop: threading.Event
) -> tuple[threading.Thread, ...]:
    return (
        threading.Thread(target=_embed_loop, args=(indexes, stop), name="embed", daemon=True),
        threading.Thread(
            target=_watch_loop, args=(settings, indexes, stop), name="watch", daemon=True
        ),
    )


def _embed_loop(indexes: Indexes, stop: threading.Event) -> None:
    while not stop.is_set():
        try:
            left = indexes.embed_some()
        except ContextEngineError as error:
            log.warning("embedding pauses", reason=str(error))
            stop.wait(EMBED_RETRY_SECONDS)
        except Exception:
            log.exception("embedding failed, goes on")
            stop.wait(EMBED_RETRY_SECONDS)
        else:
            stop.wait(0.0 if left else EMBED_IDLE_SECONDS)


def _watch_loop(settings: Settings, indexes: Indexes, stop: threading.Event) -> None:
    roots = {scope: settings.paths.vault(scope) for scope in Scope}
    for changed in watch_vaults(roots, stop):
        try:
            if changed.path is None:
                indexes.scan(changed.scope)
            else:
                indexes.index(changed.scope, changed.path)
        except Exception:
            log.exception("indexing failed, goes on", scope=changed.scope.value, path=changed.path)


if __name__ == "__main__":
    main()

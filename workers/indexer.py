"""The indexer part: `python -P -m workers.indexer`. The one writer of every scope's index.

Three things run side by side: jobs (a file changed, said the pipeline), the watcher (a file
changed, said the disk) and the embedder (chunks that wait for their vectors). The first two make
a chunk searchable by keyword at once; vectors follow.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial

from context_engine.errors import ContextEngineError
from context_engine.home import Home
from context_engine.logs import get_logger
from context_engine.scopes import Scope
from context_engine.settings import Settings, load_settings
from index.embedding.factory import make_embedder
from index.search import Searcher
from index.watch import watch_vaults
from workers.broker import INDEX
from workers.findable import IMPROVED, check_summary
from workers.housekeeping import follow_identity, is_identity, open_home
from workers.indexes import Indexes, index_dependency
from workers.jobs import DISK, disk_is_writable
from workers.outbox_model import Job, Outcome
from workers.process import Role, serve

EMBED_IDLE_SECONDS = 0.5
EMBED_LOOK_SECONDS = 10.0
"""How often the indexes are asked for chunks that wait, whether anything was indexed or not."""
EMBED_RETRY_SECONDS = 10.0

log = get_logger(__name__)


def main() -> None:
    """Index until told to stop."""
    settings = load_settings()
    open_home(settings.paths)
    embedder = make_embedder(settings.embedding, settings.models_dir, settings.ollama_url)
    with Indexes(settings.paths, embedder) as indexes:
        serve(
            Role(
                name="indexer",
                queues=(INDEX,),
                threads=1,
                works=lambda s, _outbox: {INDEX: _index_work(s.paths, indexes)},
                probes=lambda s: _probes(s, indexes),
                background=lambda s, _outbox, stop: _background(s, indexes, stop),
            ),
            settings,
        )


def _probes(settings: Settings, indexes: Indexes) -> dict[str, Callable[[], bool]]:
    usable = {index_dependency(scope): partial(indexes.is_usable, scope) for scope in Scope}
    return {DISK: lambda: disk_is_writable(settings.paths)} | usable


def _index_work(home: Home, indexes: Indexes) -> Callable[[Job, str | None], Outcome]:
    # by words, as everything is found at once; vectors follow
    searcher = Searcher(home, None)

    def work(job: Job, _event: str | None) -> Outcome:
        scope, path = Scope(job.arguments["scope"]), job.arguments["path"]
        if path is not None:
            chunks = indexes.index(scope, path)
            told = check_summary(home, scope, path, searcher)
            outcomes = {told: 1} if told else {}
            if told == IMPROVED:
                chunks = indexes.index(scope, path)
                told = check_summary(home, scope, path, searcher)
                outcomes |= {told: 1} if told else {}
            return Outcome(result={"chunks": chunks, "summary": told}, outcomes=outcomes)
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
            if not left:
                _await_news(indexes, stop)


def _await_news(indexes: Indexes, stop: threading.Event) -> None:
    deadline = time.monotonic() + EMBED_LOOK_SECONDS
    while not stop.is_set() and not indexes.take_news() and time.monotonic() < deadline:
        stop.wait(EMBED_IDLE_SECONDS)


def _watch_loop(settings: Settings, indexes: Indexes, stop: threading.Event) -> None:
    roots = {scope: settings.paths.vault(scope) for scope in Scope}
    for changed in watch_vaults(roots, stop):
        try:
            if changed.path is None:
                indexes.scan(changed.scope)
            else:
                indexes.index(changed.scope, changed.path)
                if is_identity(changed.scope, changed.path):
                    follow_identity(settings.paths)
        except ContextEngineError as error:
            log.warning("file waits for its index", path=changed.path, reason=str(error))
        except Exception:
            log.exception("indexing failed, goes on", scope=changed.scope.value, path=changed.path)


if __name__ == "__main__":
    main()

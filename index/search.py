"""Hybrid search over what a scope may read: keywords and vectors, fused."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime

import apsw

from context_engine.clock import Clock, SystemClock
from context_engine.errors import DependencyDownError, NotFoundError
from context_engine.home import Home
from context_engine.insights import Confidence, Kind
from context_engine.scopes import Scope
from index.coverage import empty_index
from index.embedding.base import Embedder
from index.engines import DEPTH, Found, Question, search_index
from index.lexical import Query, parse_query
from index.model import MAX_QUERY_CHARACTERS, ScopeStats, SearchRequest, SearchResult
from index.questions import distinguished
from index.readers import Reader, Readers
from index.results import rank, spread, to_hits
from index.schema import QUESTIONS
from index.succession import with_successors
from index.vectors import FloatVector

MAX_LIMIT = 100


@dataclass(frozen=True)
class ChunkText:
    """One chunk with its body."""

    chunk_id: str
    scope: Scope
    path: str
    title: str
    heading: str
    text: str
    at: datetime | None
    kind: Kind | None
    confidence: Confidence | None
    source: str | None


class Searcher:
    """Answers searches over a home's indexes; may be used from many threads at once.

    `embedder` None means keyword search only.
    """

    def __init__(self, home: Home, embedder: Embedder | None, clock: Clock | None = None) -> None:
        self._home = home
        self._readers = Readers(home)
        self._embedder = embedder
        self._clock = clock or SystemClock()

    def search(self, scope: Scope, request: SearchRequest) -> SearchResult:
        """Return the best hits among what `scope` may read.

        Raises IndexCorruptError when an index file is damaged. An embedder that is away or a
        model that changed costs the vectors, with a warning, not the answer.
        """
        started = time.perf_counter()
        limit = min(max(request.limit, 1), MAX_LIMIT)
        query = parse_query(request.text[:MAX_QUERY_CHARACTERS])
        warnings: list[str] = []
        vector = self._embed(query, warnings)
        found: list[Found] = []
        with ExitStack() as stack:
            for readable in scope.readable:
                reader = stack.enter_context(self._readers.open(readable))
                if reader is None or reader.chunks == 0:
                    warnings += _unknown_notes(self._home, readable)
                if reader is not None:
                    usable = self._usable(reader, query.text, vector, warnings)
                    question = Question(query, usable, request.filters, max(DEPTH, 2 * limit))
                    candidates = search_index(readable, reader, question, warnings)
                    found += with_successors(candidates, request.filters)
            ranked = rank(found, query, self._clock.now().timestamp())
            hits = to_hits(spread(ranked, limit), explain=request.explain)
        elapsed = (time.perf_counter() - started) * 1000
        return SearchResult(hits, elapsed, tuple(dict.fromkeys(warnings)))

    def neighbours(self, scope: Scope, chunk_id: str, window: int = 3) -> tuple[ChunkText, ...]:
        """Return a chunk with up to `window` chunks of its note on each side, in order.

        Raises NotFoundError when `scope` may not read such a chunk.
        """
        for readable in scope.readable:
            with self._readers.open(readable) as reader:
                rows = _neighbour_rows(reader.connection, chunk_id, window) if reader else []
            if rows:
                return tuple(_chunk_text(readable, row) for row in rows)
        raise NotFoundError(f"no chunk {chunk_id}")

    def stats(self, scope: Scope) -> ScopeStats:
        """Return the state of one scope's index; zeros when there is none yet."""
        return self._readers.stats(scope)

    def close(self) -> None:
        """Close this thread's connections."""
        self._readers.close()

    def _embed(self, query: Query, warnings: list[str]) -> FloatVector | None:
        if self._embedder is None or not query.text.strip():
            return None
        try:
            return self._embedder.embed_query(query.text)
        except DependencyDownError as error:
            warnings.append(f"searched by keyword only: {error}")
            return None

    def _usable(
        self, reader: Reader, text: str, vector: FloatVector | None, warnings: list[str]
    ) -> FloatVector | None:
        """Return the query's vector when this index can be compared with it."""
        if self._embedder is None or vector is None:
            return None
        built_with = reader.meta.get("embedder")
        if built_with != str(self._embedder.identity):
            if built_with is not None:
                warnings.append(
                    f"searched by keyword only: the index was built with {built_with}, "
                    "reindex to search by meaning"
                )
            return None
        if reader.vectors < reader.chunks:
            warnings.append(
                f"{reader.chunks - reader.vectors} of {reader.chunks} chunks have no vector yet "
                "and are found by keyword only"
            )
        means = reader.meta.get(QUESTIONS)
        return distinguished(vector, text, bytes.fromhex(means)) if means else vector


def _unknown_notes(home: Home, scope: Scope) -> list[str]:
    found = empty_index(home, scope)
    return [str(found)] if found else []


def _neighbour_rows(
    connection: apsw.Connection, chunk_id: str, window: int
) -> list[tuple[apsw.SQLiteValue, ...]]:
    return connection.execute(
        "SELECT beside.chunk_id, path, title, beside.heading, beside.text,"
        " coalesce(beside.at, created), kind, coalesce(beside.confidence, note.confidence), source"
        " FROM chunk AS here JOIN chunk AS beside ON beside.note = here.note"
        " AND beside.position BETWEEN here.position - ?1 AND here.position + ?1"
        " JOIN note ON note.id = here.note WHERE here.chunk_id = ?2 ORDER BY beside.position",
        (window, chunk_id),
    ).fetchall()


def _chunk_text(scope: Scope, row: tuple[apsw.SQLiteValue, ...]) -> ChunkText:
    chunk_id, path, title, heading, text, at, kind, confidence, source = row
    return ChunkText(
        chunk_id=str(chunk_id),
        scope=scope,
        path=str(path),
        title=str(title),
        heading=str(heading),
        text=str(text),
        at=datetime.fromtimestamp(float(at), UTC) if isinstance(at, int | float) else None,
        kind=Kind(str(kind)) if kind else None,
        confidence=Confidence(str(confidence)) if confidence else None,
        source=str(source) if source else None,
    )

"""Other engines over the product's own chunks and vectors, each as it is meant to be used.

Every engine gets the same rows: what the product embeds of a chunk, and the vector of it. How the
text is cut into words, and how words and vectors are joined, is the engine's own matter.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import apsw
import numpy as np

from index.embedding.base import FloatMatrix
from index.tokenize import tokenize
from index.vectors import FloatVector

DEPTH = 30
"""Chunks asked of an engine, so that ten documents come together."""

Search = Callable[[str, FloatVector], Sequence[str]]
"""A question and its vector to chunk ids, best first."""


@dataclass(frozen=True)
class Rows:
    """What an engine is given. `vectors` has a unit row for each chunk."""

    ids: Sequence[str]
    texts: Sequence[str]
    vectors: FloatMatrix


@dataclass(frozen=True)
class Peer:
    """An engine: the package it needs, and how it is built in an empty folder."""

    package: str
    build: Callable[[Rows, Path], Search]

    @property
    def installed(self) -> bool:
        """Whether the package is there."""
        return find_spec(self.package) is not None


def _lancedb(rows: Rows, folder: Path, *, linear: bool = False, **tokenizer: Any) -> Search:
    """Full text and exact vectors, joined by RRF (k = 60) or by scores (.7 vectors), its defaults.

    Other n-grams, weights and depths did better on some sets and worse on others (README.md).
    """
    os.environ.setdefault("LANCEDB_LOG", "error")  # else two warnings a question
    import lancedb
    import pyarrow as pa
    from lancedb.index import FTS
    from lancedb.query import MatchQuery
    from lancedb.rerankers import LinearCombinationReranker, RRFReranker

    flat = pa.array(rows.vectors.ravel(), pa.float32())
    columns = {
        "id": list(rows.ids),
        "text": list(rows.texts),
        "vector": pa.FixedSizeListArray.from_arrays(flat, rows.vectors.shape[1]),
    }
    table = lancedb.connect(folder).create_table("chunk", pa.table(columns))
    table.create_index("text", config=FTS(**tokenizer))
    reranker = LinearCombinationReranker() if linear else RRFReranker()

    def search(text: str, vector: FloatVector) -> Sequence[str]:
        words = MatchQuery(text, "text")  # as a string, a question in quotes would be a phrase
        query = table.search(query_type="hybrid").vector(vector).text(words)
        query = query.distance_type("cosine").select(["id"]).limit(DEPTH)
        return list(query.rerank(reranker).to_arrow()["id"].to_pylist())

    return search


def _chroma(rows: Rows, folder: Path) -> Search:
    """Vectors alone: its approximate index (HNSW) as it comes, by cosine."""
    import chromadb
    from chromadb.config import Settings

    client = chromadb.PersistentClient(str(folder), Settings(anonymized_telemetry=False))
    space = {"hnsw": {"space": "cosine"}}
    chunks = client.create_collection("chunk", embedding_function=None, configuration=space)
    step = client.get_max_batch_size()
    for start in range(0, len(rows.ids), step):
        part = slice(start, start + step)
        chunks.add(ids=list(rows.ids[part]), embeddings=rows.vectors[part])

    def search(_text: str, vector: FloatVector) -> Sequence[str]:
        count = min(DEPTH, len(rows.ids))
        found = chunks.query(query_embeddings=vector[np.newaxis], n_results=count, include=[])
        return list(found["ids"][0])

    return search


def _bm25s(rows: Rows, _folder: Path) -> Search:
    """BM25 in memory. Its own tokenizer knows no Japanese, so it is lent the product's."""
    import bm25s

    ranking = bm25s.BM25()
    ranking.index([tokenize(text) for text in rows.texts], show_progress=False)
    count = min(DEPTH, len(rows.ids))

    def search(text: str, _vector: FloatVector) -> Sequence[str]:
        places, scores = ranking.retrieve([tokenize(text)], k=count, show_progress=False)
        found = zip(places[0], scores[0], strict=True)
        return [rows.ids[place] for place, score in found if score > 0]

    return search


def _fts5(rows: Rows, folder: Path, tokenizer: str, terms: Callable[[str], set[str]]) -> Search:
    """SQLite's BM25, any of the question's terms."""
    connection = apsw.Connection(str(folder / "fts5.db"))
    connection.execute(f"CREATE VIRTUAL TABLE chunk USING fts5 (text, tokenize = '{tokenizer}')")
    with connection:
        numbered = enumerate(rows.texts)
        connection.executemany("INSERT INTO chunk (rowid, text) VALUES (?, ?)", numbered)
    query = f"SELECT rowid FROM chunk WHERE chunk MATCH ? ORDER BY rank LIMIT {DEPTH}"  # noqa: S608  # a constant

    def search(text: str, _vector: FloatVector) -> Sequence[str]:
        quoted = ['"{}"'.format(term.replace('"', '""')) for term in sorted(terms(text))]
        if not quoted:
            return []
        return [rows.ids[place] for (place,) in connection.execute(query, (" OR ".join(quoted),))]

    return search


def _trigrams(text: str) -> set[str]:
    return {word[at : at + 3] for word in text.split() for at in range(len(word) - 2)}


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


PEERS: Mapping[str, Peer] = {
    "LanceDB hybrid, default": Peer("lancedb", _lancedb),
    "LanceDB hybrid, ICU words": Peer("lancedb", partial(_lancedb, base_tokenizer="icu")),
    "LanceDB hybrid, ICU words, by score": Peer(
        "lancedb", partial(_lancedb, base_tokenizer="icu", linear=True)
    ),
    "Chroma, vectors": Peer("chromadb", _chroma),
    "bm25s, our tokens": Peer("bm25s", _bm25s),
    "FTS5 trigram": Peer("apsw", partial(_fts5, tokenizer="trigram", terms=_trigrams)),
    "FTS5 porter": Peer("apsw", partial(_fts5, tokenizer="porter unicode61", terms=_words)),
}

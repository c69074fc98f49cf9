"""The index at 7,000, 50,000 and 450,000 chunks: recall, latency, size, memory, rate.

    python benchmarks/scale.py [--chunks N …] [--json] [--keep FOLDER]

Text is made up (benchmarks/corpus.py), so are vectors: sums of a fixed random vector a token, so
that passages about one topic lie together as those of a model do. Everything else is the product.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from corpus import COMMON_WORDS, MESSAGES_A_NOTE, Corpus
from metrics import percentiles
from numpy.typing import NDArray

from context_engine.home import Home
from context_engine.scopes import Scope
from index import lexical, vectors
from index.embedding.base import EmbedderIdentity, FloatMatrix
from index.model import SearchRequest
from index.readers import Reader, Readers
from index.search import Searcher
from index.tokenize import tokenize
from index.writer import IndexWriter

DIMENSION = 384
SCOPE = Scope.PERSONAL
NEIGHBOURS = 50
QUESTIONS = 300
_FIRST_NEW = 1_000_000
_EMPTY_TOKENS = frozenset(tokenize(COMMON_WORDS))
"""What joins words moves a model's vector little."""


class TokenSums:
    """An embedder whose vectors are sums of random token vectors."""

    identity = EmbedderIdentity("benchmark", "token-sums", DIMENSION, "1")

    def __init__(self) -> None:
        self._table = np.random.default_rng(3).standard_normal((1 << 15, DIMENSION), np.float32)
        self._mean = np.random.default_rng(4).standard_normal(DIMENSION, np.float32) * 10

    def embed_passages(self, texts: Sequence[str]) -> FloatMatrix:
        """Return a row a text."""
        return np.array([self.embed_query(text) for text in texts], dtype=np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of one text."""
        tokens = set(tokenize(text)) - _EMPTY_TOKENS
        places = [zlib.crc32(token.encode()) & 0x7FFF for token in tokens]
        total = self._mean + self._table[places].sum(axis=0)
        vector: NDArray[np.float32] = (total / np.linalg.norm(total)).astype(np.float32)
        return vector


@dataclass(frozen=True)
class Built:
    """An index and what building it took."""

    home: Home
    keyword_rate: float
    vector_rate: float


def main() -> None:
    """Run and print."""
    arguments = _arguments()
    if arguments.ingest:
        _ingest(Home(arguments.ingest))
    embedder, results = TokenSums(), []
    for chunks in arguments.chunks:
        with tempfile.TemporaryDirectory() as folder:
            home = Home((arguments.keep or Path(folder)) / f"scale-{chunks}")
            results.append(measure(home, chunks, embedder))
        if not arguments.json:
            print(orjson.dumps(results[-1], option=orjson.OPT_INDENT_2).decode(), flush=True)
    if arguments.json:
        print(orjson.dumps({"scale": results}, option=orjson.OPT_INDENT_2).decode())


def measure(home: Home, chunks: int, embedder: TokenSums) -> dict[str, Any]:
    """Build an index of so many chunks and return its figures."""
    corpus = Corpus()
    built = build(home, corpus, chunks, embedder)
    questions = corpus.questions(QUESTIONS)
    vectors_of = [embedder.embed_query(text) for text in questions]
    readers = Readers(home)
    with readers.open(SCOPE) as reader:
        assert reader is not None  # noqa: S101  # just built
        stages = _stages(reader, questions, vectors_of)
        held = reader.chunks
    searcher = Searcher(home, embedder)
    first, again = (_whole(searcher, questions) for _ in range(2))
    return {
        "chunks": held,
        "index_mb": round(home.index(SCOPE).stat().st_size / 1e6),
        "keyword_chunks_per_second": round(built.keyword_rate),
        "vector_chunks_per_second_without_model": round(built.vector_rate),
        **stages,
        "whole_first_time": first,
        "whole": again,
        "whole_while_ingesting": _while_ingesting(home, searcher, questions),
        "peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def build(home: Home, corpus: Corpus, chunks: int, embedder: TokenSums) -> Built:
    """Write the vault and index it completely."""
    home.create()
    for number in range(-(-chunks // MESSAGES_A_NOTE)):
        _write_note(home, corpus, number)
    with IndexWriter(home, SCOPE, embedder) as writer:
        started = time.perf_counter()
        writer.scan()
        keyword = time.perf_counter() - started
        waiting = writer.waiting
        started = time.perf_counter()
        while writer.embed_pending(4_000).waiting:
            pass
        vector = time.perf_counter() - started
        while writer.tend():
            pass
    return Built(home, chunks / max(keyword, 1e-9), waiting / max(vector, 1e-9))


def _write_note(home: Home, corpus: Corpus, number: int) -> str:
    path = f"sources/made-up/{number // 1000:04}/n{number:06}.md"
    file = home.vault(SCOPE) / path
    file.parent.mkdir(parents=True, exist_ok=True)
    front = f"---\ntype: source\nsource: made-up\ntitle: Talk {number}\n---\n"
    file.write_text(front + corpus.note(number), encoding="utf-8")
    return path


def _stages(
    reader: Reader, questions: Sequence[str], queries: Sequence[NDArray[np.float32]]
) -> dict[str, Any]:
    recall, fast, slow, words = [], [], [], []
    for text, query in zip(questions, queries, strict=True):
        started = time.perf_counter()
        match = lexical.match_of(reader.weigh(lexical.parse_query(text).terms), reader.chunks)
        lexical.best(reader.connection, match, NEIGHBOURS)
        words.append(time.perf_counter() - started)
        started = time.perf_counter()
        exact = vectors.nearest(reader.connection, query, NEIGHBOURS)
        slow.append(time.perf_counter() - started)
        if reader.cells is None:
            continue
        started = time.perf_counter()
        near = vectors.nearest(
            reader.connection,
            query,
            NEIGHBOURS,
            condition="cell IN (SELECT value FROM json_each(?))",
            bindings=(orjson.dumps(reader.cells.nearest(query, reader.vectors)).decode(),),
        )
        fast.append(time.perf_counter() - started)
        recall.append(len({row for row, _ in near} & {row for row, _ in exact}) / len(exact))
    return {
        "vector_recall": round(sum(recall) / len(recall), 4) if recall else 1.0,
        "cells": 0 if reader.cells is None else len(reader.cells.numbers),
        "vector_exact": percentiles(slow),
        "vector_cells": percentiles(fast),
        "bm25": percentiles(words),
    }


def _whole(searcher: Searcher, questions: Sequence[str]) -> dict[str, float]:
    wall, cpu = [], []
    for text in questions:
        started, worked = time.perf_counter(), time.thread_time()
        searcher.search(SCOPE, SearchRequest(text))
        wall.append(time.perf_counter() - started)
        cpu.append(time.thread_time() - worked)
    return percentiles(wall) | {f"cpu_{name}": value for name, value in percentiles(cpu).items()}


def _while_ingesting(home: Home, searcher: Searcher, questions: Sequence[str]) -> dict[str, float]:
    """Ask while another process, as in the product, writes notes and indexes them."""
    command = [sys.executable, __file__, "--ingest", str(home.root)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None  # noqa: S101  # asked for above
        process.stdout.readline()
        try:
            return _whole(searcher, questions[:150])
        finally:
            process.kill()


def _ingest(home: Home) -> None:
    """Write and index notes until killed."""
    corpus, number = Corpus(), _FIRST_NEW
    with IndexWriter(home, SCOPE, TokenSums()) as writer:
        while True:
            writer.index_note(_write_note(home, corpus, number))
            number += 1
            if number == _FIRST_NEW + 1:
                print("begun", flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, nargs="+", default=[7_000, 50_000, 450_000])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--ingest", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--keep", type=Path, help="folder to keep the homes in")
    return parser.parse_args()


if __name__ == "__main__":
    main()

"""Retrieval quality and speed of the product itself, over any folders in the BEIR shape.

    python benchmarks/retrieval.py --data FOLDER [--set NAME] [--json] [--split dev|test]

Documents become notes, the notes are indexed and searched by the product's own code. Vectors are
kept in benchmarks/.cache between runs. Figures of the two engines alone stand beside the hybrid.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
from beir import Dataset, Question, load, write_vault
from embedding_cache import CachedEmbedder
from metrics import Judged, percentiles, quality

from context_engine.home import Home
from context_engine.scopes import Scope
from context_engine.settings import EmbeddingSettings
from index import lexical, vectors
from index.embedding.factory import make_embedder
from index.model import SearchRequest
from index.questions import distinguished
from index.readers import Reader, Readers
from index.schema import QUESTIONS
from index.search import Searcher
from index.writer import IndexWriter

CACHE = Path(__file__).parent / ".cache"
SCOPE = Scope.PUBLIC
LIMIT = 10
ENGINE_LIMIT = 30
"""Chunks asked of one engine alone, so that ten documents come together."""


@dataclass
class World:
    """One indexed corpus: a home of its own."""

    home: Home
    documents: dict[str, str]
    """Document of each chunk id."""


@dataclass
class Times:
    """Seconds spent, a list a stage."""

    stages: dict[str, list[float]] = field(default_factory=dict)

    @contextmanager
    def of(self, stage: str) -> Iterator[None]:
        """Measure one piece of work."""
        started = time.perf_counter()
        yield
        self.stages.setdefault(stage, []).append(time.perf_counter() - started)


def main() -> int:
    """Run and print."""
    arguments = parse_arguments(__doc__)
    chosen = folders(arguments.data, arguments.set)
    if not chosen:
        print(f"no set {arguments.set or ''} in {arguments.data}", file=sys.stderr)
        return 2
    embedder = CachedEmbedder(make_embedder(EmbeddingSettings(), CACHE / "models", ""), CACHE)
    results = []
    for folder in chosen:
        results.append(evaluate(load(folder), embedder, arguments.split))
        if not arguments.json:
            _print(results[-1])
    if arguments.json:
        print(orjson.dumps({"sets": results}, option=orjson.OPT_INDENT_2).decode())
    return 0


def folders(data: Path, name: str | None) -> list[Path]:
    """Return the folders of sets in `data`, or `data` when it is one itself; only those `name`d."""
    found = sorted(path.parent for path in data.glob("*/corpus.jsonl"))
    if (data / "corpus.jsonl").exists():
        found = [data]
    return [folder for folder in found if name in (None, folder.name)]


def evaluate(dataset: Dataset, embedder: CachedEmbedder, split: str | None) -> dict[str, Any]:
    """Return all figures of one set."""
    questions = [q for q in dataset.questions if split in (None, split_of(q.id))]
    with tempfile.TemporaryDirectory() as folder:
        started, cpu = time.perf_counter(), time.process_time()
        worlds = {
            name: index_world(corpus, Home(Path(folder) / f"w{number}"), embedder)
            for number, (name, corpus) in enumerate(dataset.worlds.items())
        }
        indexing = time.perf_counter() - started
        times = Times()
        embedder.query_seconds.clear()
        engines = _engines(worlds, questions, embedder, times)
        hybrid = _hybrid(worlds, questions, embedder, times)
    return {
        "set": dataset.name,
        "documents": sum(map(len, dataset.worlds.values())),
        "queries": len(questions),
        **quality(hybrid),
        "bm25": quality(engines["bm25"]),
        "vector": quality(engines["vector"]),
        "times": {
            "query_embedding": percentiles(embedder.query_seconds),
            **{stage: percentiles(seconds) for stage, seconds in times.stages.items()},
        },
        "indexing_seconds": round(indexing, 2),
        "wall_seconds": round(time.perf_counter() - started, 2),
        "cpu_seconds": round(time.process_time() - cpu, 2),
    }


def split_of(identifier: str) -> str:
    """Return the half that a question belongs to: tune on dev, report test untouched."""
    return "dev" if hashlib.md5(identifier.encode()).digest()[0] % 2 == 0 else "test"  # noqa: S324  # no secret


def index_world(corpus: Sequence[Any], home: Home, embedder: CachedEmbedder) -> World:
    """Write documents as the notes of a new home, and index them with vectors."""
    home.create()
    places = write_vault(corpus, home.vault(SCOPE))
    with IndexWriter(home, SCOPE, embedder) as writer:
        report = writer.scan()
        if report.failed:
            raise RuntimeError(f"{report.failed[0].path}: {report.failed[0].reason}")
        while writer.embed_pending(1_000).waiting:
            pass
    with Readers(home).open(SCOPE) as reader:
        assert reader is not None  # noqa: S101  # just written
        rows = reader.connection.execute(
            "SELECT chunk_id, path, section FROM chunk JOIN note ON note.id = chunk.note"
        )
        documents = {
            str(chunk_id): places.get((str(path), int(str(section)))) or places[str(path), -1]
            for chunk_id, path, section in rows
        }
    return World(home, documents)


def _engines(
    worlds: dict[str, World], questions: Sequence[Question], embedder: CachedEmbedder, times: Times
) -> dict[str, list[Judged]]:
    readers = {name: Readers(world.home) for name, world in worlds.items()}
    judged: dict[str, list[Judged]] = {"bm25": [], "vector": []}
    for question in questions:
        documents = worlds[question.world].documents
        vector = embedder.embed_query(question.text)
        with readers[question.world].open(SCOPE) as reader:
            assert reader is not None  # noqa: S101  # opened before
            with times.of("bm25"):
                words = _by_word(reader, question.text)
            with times.of("vector"):
                meanings = _by_meaning(reader, question.text, vector)
            for engine, rows in (("bm25", words), ("vector", meanings)):
                found = (documents[_chunk_id(reader, rowid)] for rowid, _ in rows)
                judged[engine].append(Judged(once(found), question.relevant))
    return judged


def _by_word(reader: Reader, text: str) -> list[tuple[int, float]]:
    terms = reader.weigh(lexical.parse_query(text).terms)
    return lexical.best(reader.connection, lexical.match_of(terms, reader.chunks), ENGINE_LIMIT)


def _by_meaning(reader: Reader, text: str, vector: vectors.FloatVector) -> list[tuple[int, float]]:
    own = distinguished(vector, text, bytes.fromhex(reader.meta[QUESTIONS]))
    return vectors.nearest(reader.connection, own, ENGINE_LIMIT)


def _hybrid(
    worlds: dict[str, World], questions: Sequence[Question], embedder: CachedEmbedder, times: Times
) -> list[Judged]:
    searchers = {name: Searcher(world.home, embedder) for name, world in worlds.items()}
    judged = []
    for question in questions:
        embedder.embed_query(question.text)
        with times.of("whole_without_embedding"):
            result = searchers[question.world].search(SCOPE, SearchRequest(question.text, LIMIT))
        documents = worlds[question.world].documents
        found = once(documents[hit.chunk_id] for hit in result.hits)
        judged.append(Judged(found, question.relevant))
    return judged


def _chunk_id(reader: Reader, rowid: int) -> str:
    query = "SELECT chunk_id FROM chunk WHERE rowid = ?"
    return str(reader.connection.execute(query, (rowid,)).fetchall()[0][0])


def once(documents: Iterator[str]) -> list[str]:
    """Return the first ten documents, each once."""
    return list(dict.fromkeys(documents))[:LIMIT]


def _print(result: dict[str, Any]) -> None:
    print(f"{result['set']}: {result['documents']} documents, {result['queries']} queries")
    rows: list[tuple[str, Callable[[str], float]]] = [
        ("bm25", result["bm25"].__getitem__),
        ("vector", result["vector"].__getitem__),
        ("hybrid", result.__getitem__),
    ]
    names = ("hit@1", "hit@3", "hit@5", "hit@10", "recall@10", "mrr@10", "zero")
    print("  " + " " * 8 + "".join(f"{name:>11}" for name in names))
    for label, value in rows:
        print(f"  {label:8}" + "".join(f"{value(name):11.4f}" for name in names))
    print(f"  times {result['times']}  cpu {result['cpu_seconds']} s", flush=True)


def parse_arguments(description: str | None) -> argparse.Namespace:
    """Return the choice of sets, of a half of the questions, and of the form of the output."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data", type=Path, required=True, help="folder of BEIR folders")
    parser.add_argument("--set", help="only this one")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--split", choices=("dev", "test"), help="only half of the questions")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())

"""The product's search beside other engines, on the same chunks and vectors in the same run.

    pip install -e '.[peers]'
    python benchmarks/peers.py --data FOLDER [--set NAME] [--json] [--split dev|test]

FOLDER holds folders in the BEIR shape. The product cuts and embeds the documents (vectors are kept
in benchmarks/.cache); the engines then answer all questions one after the other, so that none
finds its memory cold because of another. Engines whose package is missing are left out, with a
word on stderr.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
from beir import Dataset, Question, load
from embedding_cache import CachedEmbedder
from metrics import Judged, percentiles, quality
from peer_engines import PEERS, Peer, Rows, Search
from retrieval import CACHE, LIMIT, SCOPE, folders, index_world, once, parse_arguments, split_of

from context_engine.home import Home
from context_engine.settings import EmbeddingSettings
from index.embedding.factory import make_embedder
from index.entries import build_entries
from index.model import SearchRequest
from index.reading import read_text
from index.search import Searcher
from index.vectors import FloatVector
from vault.notes import read_note, scan_notes

PRODUCT = "Context Engine"
FIGURES = ("hit@1", "hit@3", "hit@5", "hit@10", "recall@10", "mrr@10", "zero")
COSTS = ("p50_ms", "p95_ms", "cpu_p50_ms", "wall_s", "cpu_s", "build_s")

_Asked = tuple[Question, FloatVector]


@dataclass
class Run:
    """What one engine did over a whole set. Times in seconds."""

    judged: list[Judged] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    built: float = 0.0

    @contextmanager
    def building(self) -> Iterator[None]:
        """Measure the building of an index."""
        started = time.perf_counter()
        yield
        self.built += time.perf_counter() - started

    def figures(self) -> dict[str, Any]:
        """Return quality, latency of a question, and the sums over all questions."""
        return {
            **quality(self.judged),
            **percentiles(self.seconds),
            **{f"cpu_{name}": value for name, value in percentiles(self.cpu).items()},
            "wall_s": round(sum(self.seconds), 2),
            "cpu_s": round(sum(self.cpu), 2),
            "build_s": round(self.built, 2),
        }


def main() -> int:
    """Run and print."""
    arguments = parse_arguments(__doc__)
    chosen = folders(arguments.data, arguments.set)
    if not chosen:
        print(f"no set {arguments.set or ''} in {arguments.data}", file=sys.stderr)
        return 2
    peers = {name: peer for name, peer in PEERS.items() if peer.installed}
    for name in PEERS.keys() - peers.keys():
        print(f"left out, not installed: {name}", file=sys.stderr)
    embedder = CachedEmbedder(make_embedder(EmbeddingSettings(), CACHE / "models", ""), CACHE)
    results = []
    for folder in chosen:
        results.append(compare(load(folder), embedder, peers, arguments.split))
        if not arguments.json:
            _print(results[-1])
    if arguments.json:
        print(orjson.dumps({"sets": results}, option=orjson.OPT_INDENT_2).decode())
    return 0


def compare(
    dataset: Dataset, embedder: CachedEmbedder, peers: Mapping[str, Peer], split: str | None
) -> dict[str, Any]:
    """Return the figures of every engine on one set."""
    questions = [q for q in dataset.questions if split in (None, split_of(q.id))]
    runs = {name: Run() for name in (PRODUCT, *peers)}
    for name, corpus in dataset.worlds.items():
        asked = [(q, embedder.embed_query(q.text)) for q in questions if q.world == name]
        with tempfile.TemporaryDirectory() as folder:
            home = Home(Path(folder) / "home")
            with runs[PRODUCT].building():
                world = index_world(corpus, home, embedder)
            _ask(_product(home, embedder), asked, world.documents, runs[PRODUCT])
            rows = _rows(home, embedder)
            for peer_name, peer in peers.items():
                with runs[peer_name].building():
                    search = peer.build(rows, Path(tempfile.mkdtemp(dir=folder)))
                _ask(search, asked, world.documents, runs[peer_name])
    return {
        "set": dataset.name,
        "documents": sum(map(len, dataset.worlds.values())),
        "queries": len(questions),
        "engines": {name: run.figures() for name, run in runs.items()},
    }


def _product(home: Home, embedder: CachedEmbedder) -> Search:
    searcher = Searcher(home, embedder)

    def search(text: str, _vector: FloatVector) -> Sequence[str]:
        return [hit.chunk_id for hit in searcher.search(SCOPE, SearchRequest(text, LIMIT)).hits]

    return search


def _rows(home: Home, embedder: CachedEmbedder) -> Rows:
    notes = (read_note(home, SCOPE, file.path) for file in scan_notes(home, SCOPE))
    entries = [entry for note in notes for entry in build_entries(note.path, read_text(note))]
    texts = [entry.passage for entry in entries]
    return Rows([entry.chunk_id for entry in entries], texts, embedder.embed_passages(texts))


def _ask(search: Search, asked: Sequence[_Asked], documents: Mapping[str, str], run: Run) -> None:
    for question, vector in asked:
        started, cpu = time.perf_counter(), time.process_time()
        chunks = search(question.text, vector)
        run.seconds.append(time.perf_counter() - started)
        run.cpu.append(time.process_time() - cpu)
        found = once(documents[chunk] for chunk in chunks)
        run.judged.append(Judged(found, question.relevant))


def _print(result: Mapping[str, Any]) -> None:
    columns = (*FIGURES, *COSTS)
    print(f"{result['set']}: {result['documents']} documents, {result['queries']} queries\n")
    print(f"| engine | {' | '.join(columns)} |")
    print("|---" * (len(columns) + 1) + "|")
    for name, figures in result["engines"].items():
        cells = [f"{figures[column]:.3f}" for column in FIGURES]
        cells += [f"{figures.get(column, 0):.1f}" for column in COSTS]
        print(f"| {name} | {' | '.join(cells)} |")
    print(flush=True)


if __name__ == "__main__":
    raise SystemExit(main())

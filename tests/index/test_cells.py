from __future__ import annotations

import numpy as np
import pytest

from context_engine.home import Home
from context_engine.scopes import Scope
from index import cells
from index.cells import k_means, load_cells, tend
from index.model import Filters, SearchRequest
from index.readers import Readers
from index.schema import open_for_writing
from index.search import Searcher
from index.vectors import nearest
from index.writer import IndexWriter
from support.notes import index_all, put_note
from support.toy_embedder import ToyEmbedder

WORDS = (
    "りんご",
    "みかん",
    "ぶどう",
    "valkey",
    "redis",
    "server",
    "garden",
    "music",
    "train",
    "paint",
)


@pytest.fixture
def grouped(home: Home, monkeypatch: pytest.MonkeyPatch) -> Home:
    """An index of 600 chunks, grouped as one of many thousands would be."""
    monkeypatch.setattr(cells, "SMALLEST", 200)
    monkeypatch.setattr(cells, "MOVED_A_STEP", 150)
    monkeypatch.setattr(cells, "PROBED_VECTORS", 150)
    for number in range(600):
        words = " ".join(WORDS[(number * k) % len(WORDS)] for k in (1, 3, 7))
        put_note(home, f"n{number:03}.md", f"{words} 話 {number}", project=f"p{number % 200}")
    index_all(home, ToyEmbedder())
    with IndexWriter(home, Scope.WORK, ToyEmbedder()) as writer:
        while writer.tend():
            pass
    return home


def test_an_index_that_grew_is_grouped_by_itself_and_every_vector_has_a_cell(grouped: Home) -> None:
    connection = open_for_writing(grouped.index(Scope.WORK))
    assert load_cells(connection) is not None
    rows = connection.execute(
        "SELECT count(*), coalesce(sum(cell NOT IN (SELECT cell FROM centroid)), 0) FROM vector"
    )
    assert rows.fetchall() == [(600, 0)]


def test_the_nearest_cells_hold_the_nearest_vectors(grouped: Home) -> None:
    found = []
    with Readers(grouped).open(Scope.WORK) as reader:
        assert reader is not None
        assert reader.cells is not None
        for word in WORDS:
            query = ToyEmbedder().embed_query(f"{word} 話")
            wanted = ", ".join(map(str, reader.cells.nearest(query, reader.vectors)))
            near = nearest(reader.connection, query, 20, condition=f"cell IN ({wanted})")
            exact = nearest(reader.connection, query, 20)
            found.append(sum(a[1] >= exact[-1][1] for a in near) / len(exact))
    assert sum(found) / len(found) >= 0.95


def test_a_filter_finds_all_that_fulfil_it_in_a_grouped_index(grouped: Home) -> None:
    searcher = Searcher(grouped, ToyEmbedder())
    request = SearchRequest("xyzzy", filters=Filters(project="p7"))
    hits = searcher.search(Scope.WORK, request).hits
    assert {hit.path for hit in hits} == {"n007.md", "n207.md", "n407.md"}


def test_vectors_are_found_at_every_moment_of_being_grouped_anew(grouped: Home) -> None:
    connection = open_for_writing(grouped.index(Scope.WORK))
    connection.execute("UPDATE centroid SET grouped_at = 100")
    searcher = Searcher(grouped, ToyEmbedder())
    steps = 0
    while tend(connection):
        steps += 1
        hit = searcher.search(Scope.WORK, SearchRequest("りんご 話 300")).hits[0]
        assert hit.vector_rank is not None
    assert steps > 3
    (generations,) = connection.execute("SELECT count(DISTINCT generation) FROM centroid")
    assert generations == (1,)


def test_centres_share_the_rows_among_them() -> None:
    rows = np.random.default_rng(1).standard_normal((2_000, 16)).astype(np.float32)
    rows += 5.0  # as embedding models do, all point much the same way
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    centres = k_means(rows, 40)
    homes = np.argmax(rows @ centres.T - (centres**2).sum(axis=1) / 2, axis=1)
    counts = np.bincount(homes, minlength=40)
    assert counts.max() < 6 * counts.mean()
    assert (k_means(rows, 40) == centres).all()

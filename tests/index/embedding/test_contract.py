"""What every embedder promises, tried on each of them with real weights or a real server."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from index.embedding.base import Embedder, FloatMatrix

HOSTILE = {
    "empty": "",
    "blank": " \n\t\u3000 ",
    "nul": "before\x00after",
    "lone surrogate": "half \ud83d and \udca9 other half",
    "expands 18 times": "\ufdfa" * 3_000,
    "controls": "".join(map(chr, range(32))) + "\x7f\x80\x9f",
    "combining marks": "e" + "\u0301\u0316" * 50_000,
    "conjoining marks": "\u0323\u0307\u031b" * 30_000,
    "one megabyte": "長い文章 long text " * 60_000,
    "one word": "x" * 1_000_000,
    "only spaces": " " * 1_000_000,
    "emoji": "👨‍👩‍👧‍👦🏴󠁧󠁢󠁥󠁮󠁧󠁿🫠" * 200,
    "marks of the tokenizer": "<s></s><pad><mask><unk>[CLS][SEP]",
    "private use": "\ue000\U0010fffd\U000e0001",
    "direction marks": "\u202eabc\u202c\u2066def\u2069",
}


def assert_unit_rows(matrix: FloatMatrix, rows: int, embedder: Embedder) -> None:
    assert matrix.dtype == np.float32
    assert matrix.shape == (rows, embedder.identity.dimension)
    assert np.allclose(np.linalg.norm(matrix, axis=1), 1, atol=1e-4)


def test_passages_are_unit_rows_in_the_order_of_the_texts(embedder: Embedder) -> None:
    texts = ["a much longer text than the others, which is embedded last " * 4, "b", "日本語の文"]
    matrix = embedder.embed_passages(texts)
    assert_unit_rows(matrix, 3, embedder)
    for row, text in zip(matrix, texts, strict=True):
        assert row @ embedder.embed_passages([text])[0] > 0.999


def test_no_texts_give_no_rows(embedder: Embedder) -> None:
    assert embedder.embed_passages([]).shape == (0, embedder.identity.dimension)


def test_query_is_a_unit_vector(embedder: Embedder) -> None:
    query = embedder.embed_query("どこに置いた?")
    assert query.dtype == np.float32
    assert query.shape == (embedder.identity.dimension,)
    assert np.linalg.norm(query) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_gets_a_unit_vector_in_bounded_time(embedder: Embedder, name: str) -> None:
    text = HOSTILE[name]
    embedder.embed_query("loaded")
    started = time.process_time()
    assert_unit_rows(embedder.embed_passages([text]), 1, embedder)
    assert_unit_rows(embedder.embed_query(text)[None], 1, embedder)
    assert time.process_time() - started < 10


def test_text_beyond_the_length_of_the_model_changes_nothing(embedder: Embedder) -> None:
    long = "長さの限界を超える文章 beyond the limit " * 2_000
    assert embedder.embed_query(long) @ embedder.embed_query(long + "END") > 0.9999


def test_nearest_passage_shares_the_words_of_the_query(embedder: Embedder) -> None:
    passages = embedder.embed_passages(
        ["the cache keeps pages for ten minutes", "rent is due on the first of the month", "帰る"]
    )
    assert np.argmax(passages @ embedder.embed_query("cache keeps pages how long")) == 0


def test_identity_is_the_same_each_time_and_names_the_model(embedder: Embedder) -> None:
    assert embedder.identity == embedder.identity
    assert embedder.identity.model in str(embedder.identity)


def test_several_threads_get_what_one_gets(embedder: Embedder) -> None:
    texts = [f"text number {n} 番目" for n in range(12)]
    alone = [embedder.embed_query(text) for text in texts]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(embedder.embed_query, texts))
    assert np.allclose(alone, together, atol=1e-5)

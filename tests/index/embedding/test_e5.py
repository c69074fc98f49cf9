"""The default embedder on the real weights."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from index.embedding.e5 import E5Embedder


@pytest.fixture(scope="module")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> E5Embedder:
    return E5Embedder(tmp_path_factory.mktemp("models"), threads=1)


def test_answer_is_nearer_to_its_question_than_other_passages(embedder: E5Embedder) -> None:
    passages = embedder.embed_passages(
        [
            "バックアップは毎晩三時に外付けディスクへ取る。",
            "The cache keeps each page for ten minutes.",
            "会議室は水曜の午後だけ予約できる。",
        ]
    )
    assert np.argmax(passages @ embedder.embed_query("バックアップはいつ取りますか?")) == 0
    assert np.argmax(passages @ embedder.embed_query("how long are pages cached?")) == 1
    assert np.argmax(passages @ embedder.embed_query("when can I book the meeting room?")) == 2


def test_vector_does_not_depend_on_the_neighbours_of_a_text(
    embedder: E5Embedder, tmp_path: Path
) -> None:
    texts = ["短い", "a much longer passage " * 40, "中くらいの長さの文章です。"]
    together = embedder.embed_passages(texts)
    alone = np.vstack([embedder.embed_passages([text]) for text in texts])
    assert np.array_equal(together, alone)

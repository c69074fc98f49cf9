"""Questions are embedded once; what failed is tried again; nobody can spoil what is kept."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from api.remembered import RememberingEmbedder
from context_engine.errors import DependencyDownError
from index.embedding.base import EmbedderIdentity, FloatMatrix


class _Counting:
    identity = EmbedderIdentity("test", "counting", 2, "1")

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.away = False

    def embed_passages(self, texts: Sequence[str]) -> FloatMatrix:
        return np.ones((len(texts), 2), np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        self.asked.append(text)
        if self.away:
            raise DependencyDownError("model", "away")
        return np.array([len(text), 1], np.float32)


def test_a_question_is_embedded_once() -> None:
    model = _Counting()
    embedder = RememberingEmbedder(model)

    first, again, other = (embedder.embed_query(text) for text in ("キュー", "キュー", "x"))

    assert model.asked == ["キュー", "x"]
    assert first.tolist() == again.tolist() == [3, 1]
    assert other.tolist() == [1, 1]
    assert embedder.identity == model.identity
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 0


def test_what_failed_is_asked_again() -> None:
    model = _Counting()
    model.away = True
    embedder = RememberingEmbedder(model)
    with pytest.raises(DependencyDownError):
        embedder.embed_query("x")

    model.away = False
    assert embedder.embed_query("x").tolist() == [1, 1]


def test_old_questions_are_forgotten() -> None:
    model = _Counting()
    embedder = RememberingEmbedder(model)
    for number in range(1_000):
        embedder.embed_query(str(number))
    embedder.embed_query("0")

    assert model.asked[-1] == "0"

"""A small embedder that needs no model: texts that share words lie near each other."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from index.embedding.base import EmbedderIdentity, FloatMatrix
from index.tokenize import tokenize

DIMENSION = 64


class ToyEmbedder:
    """Hashes tokens into dimensions. `before` is called with the texts of each passage batch."""

    def __init__(
        self, model: str = "toy", before: Callable[[Sequence[str]], None] | None = None
    ) -> None:
        self._model = model
        self._before = before
        self.embedded: list[str] = []

    @property
    def identity(self) -> EmbedderIdentity:
        return EmbedderIdentity("test", self._model, DIMENSION, "1")

    def embed_passages(self, texts: Sequence[str]) -> FloatMatrix:
        if self._before:
            self._before(texts)
        self.embedded.extend(texts)
        return np.array([self.embed_query(text) for text in texts], dtype=np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        vector = np.full(DIMENSION, 0.01, dtype=np.float32)
        for token in tokenize(text):
            vector[zlib.crc32((self._model + token).encode()) % DIMENSION] += 1.0
        return vector / np.linalg.norm(vector)

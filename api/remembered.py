"""Questions embedded before: a session asks about the same folder again and again."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from index.embedding.base import Embedder, EmbedderIdentity, FloatMatrix
from index.vectors import FloatVector

_QUESTIONS = 256


class RememberingEmbedder:
    """An embedder that keeps the vectors of the last questions. Safe from several threads."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._remembered = lru_cache(_QUESTIONS)(self._embed)

    @property
    def identity(self) -> EmbedderIdentity:
        """The identity of the embedder behind."""
        return self._embedder.identity

    def embed_passages(self, texts: Sequence[str]) -> FloatMatrix:
        """Return a row a text; raises as the embedder behind does."""
        return self._embedder.embed_passages(texts)

    def embed_query(self, text: str) -> FloatVector:
        """Return the vector of a question, read-only; raises as the embedder behind does."""
        return self._remembered(text)

    def _embed(self, text: str) -> FloatVector:
        vector = self._embedder.embed_query(text).copy()
        vector.setflags(write=False)
        return vector

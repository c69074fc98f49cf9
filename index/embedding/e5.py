"""The default embedder: multilingual-e5-small in ONNX Runtime, without torch."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from context_engine.errors import ConfigError, DependencyDownError
from index.embedding.base import EmbedderIdentity, FloatMatrix
from index.embedding.conversion import MODEL_NAME, ensure_converted, revision
from index.embedding.runtime import (
    WordReader,
    give_back_memory,
    open_session,
    run,
    word_reader,
)
from index.embedding.unigram import UnigramTokenizer
from index.embedding.weights import find_weights, open_weights

_DIMENSION = 384
_PASSAGE, _QUERY = "passage: ", "query: "


@dataclass(frozen=True)
class _Engine:
    """What one process has loaded. Nothing in it may cross a fork."""

    process: int
    session: Any
    reader: WordReader

    def embed(self, text: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = run(self.session, self.reader.read(text))[0][0]
        return vector


class E5Embedder:
    """Embeds on the CPU with `threads` threads; loads when first used, and again after a fork."""

    def __init__(self, models: Path, threads: int) -> None:
        self._models = models
        self._threads = threads
        self._engines: list[_Engine] = []
        """The last is current. Those of a parent stay: ending their threads here would hang."""

    @cached_property
    def identity(self) -> EmbedderIdentity:
        """Identity of the vectors; reads no weights."""
        return EmbedderIdentity("onnx", MODEL_NAME, _DIMENSION, revision())

    def embed_passages(self, texts: Sequence[str]) -> FloatMatrix:
        """Return an (n, 384) float32 matrix of unit rows."""
        matrix = np.empty((len(texts), _DIMENSION), np.float32)
        for row, text in enumerate(texts):
            matrix[row] = self._engine().embed(_PASSAGE + text)
        return matrix

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return a (384,) float32 unit vector."""
        return self._engine().embed(_QUERY + text)

    def _engine(self) -> _Engine:
        if not self._engines or self._engines[-1].process != os.getpid():
            self._engines.append(_load(self._models, self._threads))
        return self._engines[-1]


def _load(models: Path, threads: int) -> _Engine:
    try:
        converted = ensure_converted(models)
        weights = open_weights(find_weights())
        tokenizer = UnigramTokenizer(converted.trie(), weights.unknown)
        session = open_session(converted.graph, threads)
        give_back_memory()
    except ConfigError:
        raise
    except Exception as error:
        # A full disk or a damaged file is no fault of the text that waits to be embedded.
        reason = f"{error}; what lies in {models} may be deleted, it is made again"
        raise DependencyDownError("embedding model", reason) from error
    return _Engine(os.getpid(), session, word_reader(weights, tokenizer))

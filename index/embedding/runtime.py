"""One process's encoder: ONNX Runtime session, tokenizer and word table."""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from index.embedding.text import clean
from index.embedding.unigram import UnigramTokenizer
from index.embedding.weights import Weights, dequantise

INPUT, OUTPUT = "words", "vector"
_START, _END = 0, 2


@dataclass(frozen=True)
class WordReader:
    """Turns text into the vectors of its tokens."""

    tokenizer: UnigramTokenizer
    table: NDArray[np.uint8]
    max_tokens: int

    def read(self, text: str) -> NDArray[np.float32]:
        """Return (1, tokens, hidden) float32; what exceeds the model's length is cut off."""
        ids = self.tokenizer.encode(clean(text))[: self.max_tokens - 2]
        return dequantise(self.table[[_START, *ids, _END]])[None]


def word_reader(weights: Weights, tokenizer: UnigramTokenizer) -> WordReader:
    """Return a reader over the mapped word table of `weights`."""
    table = weights.blocks("emb.word", weights.shape.hidden)
    return WordReader(tokenizer, table, weights.shape.positions)


def open_session(model: Path | bytes, threads: int) -> Any:
    """Return an onnxruntime.InferenceSession that never uses more than `threads` threads.

    Nothing else in the project may import onnxruntime: from 1.29 on it reports each session to
    its maker and leaves a device id in the user's cache, unless told before the import.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Waiting threads that spin would burn a core between two texts.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # The graph is fused by hand; the further levels replace its LayerNormalization by a slower one.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    if threads > 1:
        _keep_for_ever(session)
    return session


def _keep_for_ever(session: Any) -> None:
    """Never let `session` be destroyed.

    In a forked child its destructor would wait at exit for threads that only the parent has.
    """
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(session))


def give_back_memory() -> None:
    """Return freed memory to the system: glibc would keep 200 MB after a conversion."""
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)


def run(session: Any, words: NDArray[np.float32]) -> list[NDArray[np.float32]]:
    """Return all outputs of one run, the vector first."""
    outputs: list[NDArray[np.float32]] = session.run(None, {INPUT: words})
    return outputs

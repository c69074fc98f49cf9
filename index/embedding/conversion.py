"""Converts the carried weights once into what the runtime loads, below `Home.models`."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from context_engine.ids import short_id
from context_engine.logs import get_logger
from index.embedding import weights as carried
from index.embedding.runtime import word_reader
from index.embedding.unigram import Trie, UnigramTokenizer, build_trie

MODEL_NAME = "multilingual-e5-small"
RECIPE = "2"
"""Raise it whenever the same weights would give other vectors: prefixes, graph, tokenizer."""
_TEMPORARY = ".converting-"

_log = get_logger(__name__)


@dataclass(frozen=True)
class Converted:
    """One converted model: a folder that appears complete or not at all."""

    folder: Path

    @property
    def graph(self) -> Path:
        """The ONNX model."""
        return self.folder / "model.onnx"

    def trie(self) -> Trie:
        """Map the tokenizer's trie."""
        # Plain views: every slice of a memmap pays for its subclass.
        edges, pieces, scores = (
            np.asarray(np.load(self.folder / f"{name}.npy", mmap_mode="r", allow_pickle=False))
            for name in ("edges", "pieces", "scores")
        )
        return Trie(edges, pieces, scores)


def revision() -> str:
    """Return what distinguishes these vectors: weights and recipe. Cheap; reads no weights."""
    return short_id("e5", carried.fingerprint(), RECIPE)


def ensure_converted(models: Path) -> Converted:
    """Return the converted model below `models`, converting it first when it is not there.

    Safe in several processes at once and against a kill at any moment.
    Raises ConfigError when the weights are missing or damaged.
    """
    converted = Converted(models / f"{MODEL_NAME}-{revision()}")
    if converted.folder.is_dir():
        return converted
    models.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _locked(models / ".lock"):
        if not converted.folder.is_dir():
            _convert(converted.folder)
    return converted


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def _convert(target: Path) -> None:
    started = time.monotonic()
    _log.info("converting embedding model", model=MODEL_NAME, target=str(target))
    for left in target.parent.glob(_TEMPORARY + "*"):
        shutil.rmtree(left)
    folder = Path(tempfile.mkdtemp(prefix=_TEMPORARY, dir=target.parent))
    _write(folder)
    for path in [*folder.iterdir(), folder]:
        _sync(path)
    folder.rename(target)
    _sync(target.parent)
    _log.info("converted embedding model", seconds=round(time.monotonic() - started, 1))


def _write(folder: Path) -> None:
    from index.embedding.calibration import calibrated_model

    weights = carried.open_weights(carried.find_weights())
    pieces = carried.read_pieces(weights)
    trie = build_trie(pieces.texts, pieces.scores, pieces.special)
    np.save(folder / "edges.npy", trie.edges)
    np.save(folder / "pieces.npy", trie.pieces)
    np.save(folder / "scores.npy", trie.scores)
    reader = word_reader(weights, UnigramTokenizer(trie, weights.unknown))
    (folder / "model.onnx").write_bytes(calibrated_model(weights, reader))


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

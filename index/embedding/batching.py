"""Batches of texts of like length, bounded by size as well as by count."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from index.embedding.base import FloatMatrix

_MAX_CHARACTERS = 16_384
"""Of one batch, padding counted: bounds memory whatever the lengths are."""


def batches(texts: Sequence[str], size: int) -> Iterator[list[int]]:
    """Yield positions in `texts`, the shortest texts first, at most `size` at once."""
    batch: list[int] = []
    for position in sorted(range(len(texts)), key=lambda i: len(texts[i])):
        padded = (len(batch) + 1) * len(texts[position])
        if batch and (len(batch) == size or padded > _MAX_CHARACTERS):
            yield batch
            batch = []
        batch.append(position)
    if batch:
        yield batch


def embed_in_batches(
    texts: Sequence[str],
    size: int,
    dimension: int,
    embed: Callable[[list[str]], FloatMatrix],
) -> FloatMatrix:
    """Return the unit rows of `texts`, in their order, embedding batch by batch."""
    matrix = np.empty((len(texts), dimension), np.float32)
    for batch in batches(texts, size):
        matrix[batch] = embed([texts[i] for i in batch])
    return unit(matrix)


def unit(matrix: FloatMatrix) -> FloatMatrix:
    """Return `matrix` with rows of length 1.

    A row without a direction (zeros, not finite) becomes a constant one: near to nothing.
    """
    matrix = np.where(np.isfinite(matrix).all(axis=1, keepdims=True), matrix, 0)
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    matrix = np.where(norms > 0, matrix, 1)
    rows: FloatMatrix = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    return rows.astype(np.float32)

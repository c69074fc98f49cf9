"""Batches hold every text once and stay within their bounds."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from index.embedding.batching import batches, unit


@given(st.lists(st.integers(0, 9_000), max_size=60), st.integers(1, 16))
def test_every_text_is_in_one_bounded_batch(lengths: list[int], size: int) -> None:
    texts = ["x" * length for length in lengths]
    found = list(batches(texts, size))
    assert sorted(i for batch in found for i in batch) == list(range(len(texts)))
    for batch in found:
        assert len(batch) <= size
        assert len(batch) == 1 or len(batch) * max(lengths[i] for i in batch) <= 16_384


def test_rows_without_a_direction_become_unit_rows() -> None:
    rows = unit(np.array([[3, 4], [0, 0], [np.nan, 1], [np.inf, 0]], np.float32))
    assert np.allclose(np.linalg.norm(rows, axis=1), 1)
    assert np.allclose(rows[0], [0.6, 0.8])

"""Two rankings into one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Candidate:
    """What the engines say about one chunk; None where an engine did not return it."""

    bm25: float | None
    bm25_rank: int | None
    cosine: float | None
    vector_rank: int | None


@dataclass(frozen=True)
class Fused:
    """A chunk's final score and how it came about."""

    score: float
    parts: Mapping[str, float]


def fuse(candidate: Candidate, ideal: float) -> Fused:
    """Return the score of one candidate.

    `ideal` is the query's whole idf mass: what BM25 could reach at most, up to a constant.
    """
    lexical = (candidate.bm25 or 0.0) / ideal if ideal else 0.0
    dense = candidate.cosine or 0.0
    return Fused(lexical + 3.0 * dense, {"lexical": lexical, "dense": dense})

"""What a ranking is worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Judged:
    """The documents found for a question, best first, each once, and those that answer it."""

    found: Sequence[str]
    relevant: frozenset[str]


def quality(judged: Sequence[Judged]) -> dict[str, float]:
    """Return hit@1/3/5/10, recall@10, MRR@10 and the share of questions without any result."""
    count = max(len(judged), 1)
    figures = {
        f"hit@{k}": sum(any(d in j.relevant for d in j.found[:k]) for j in judged) / count
        for k in (1, 3, 5, 10)
    }
    figures["recall@10"] = (
        sum(len(j.relevant & set(j.found[:10])) / len(j.relevant) for j in judged) / count
    )
    figures["mrr@10"] = sum(_reciprocal_rank(j) for j in judged) / count
    figures["zero"] = sum(not j.found for j in judged) / count
    return {name: round(value, 4) for name, value in figures.items()}


def percentiles(seconds: Sequence[float]) -> dict[str, float]:
    """Return p50 and p95 in milliseconds; empty for no measurement."""
    if not seconds:
        return {}
    ordered = sorted(seconds)
    return {
        f"p{p}_ms": round(ordered[min(len(ordered) - 1, len(ordered) * p // 100)] * 1000, 2)
        for p in (50, 95)
    }


def _reciprocal_rank(judged: Judged) -> float:
    for place, document in enumerate(judged.found[:10], 1):
        if document in judged.relevant:
            return 1 / place
    return 0.0

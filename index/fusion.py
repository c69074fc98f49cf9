"""Two rankings into one: scores, not ranks, and weights that look at the query.

`dense` puts a chunk's cosine on the scale of this query's own list: 1 for the nearest, 0 for the
one at rank 60. `lexical` is BM25 as it is: a long question that finds many rare terms has much
to say, a short or vague one little, so that the weight of keywords needs no setting. Two things
about script decide the rest. Where question and passages differ in script, shared tokens are
mostly chance and count for less. Where both are Latin, a term is a word (in Japanese every word
is several overlapping tokens), so that BM25 is small, yet tells more than vectors do: there the
keyword list is also taken by its own scale. What is asked for by name comes first. How this was
chosen stands in docs/adr.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

SPREAD_RANK = 60
"""The vector list's scale is its range down to this rank."""

_SMALLEST_SPREAD = 0.05
"""Cosines that differ by less than this in all are hardly told apart by the model."""

_KEYWORDS = 0.015
"""Weight of a point of BM25 beside the range of the vector list."""

_LATIN_KEYWORDS = 2.5
"""Weight of the keyword list, scaled to 1, where question and passages are in Latin script."""

_NAMED = 1.0
"""What holding what is asked for by name adds, when the query is nothing else."""

_CROSSING = 2
"""How quickly shared tokens lose weight as the passages' script departs from the question's."""

_SHARPNESS = 8
"""How quickly that weight falls when the passages are less than all Latin."""


@dataclass(frozen=True)
class Evidence:
    """What the engines say about one chunk. Ranks are None where an engine did not name it."""

    bm25: float = 0.0
    bm25_rank: int | None = None
    cosine: float | None = None
    vector_rank: int | None = None
    named: float = 0.0
    """Weight of the names in the query that the chunk holds."""


@dataclass(frozen=True)
class Fused:
    """A chunk's score and its parts."""

    lexical: float
    dense: float
    named: float

    @property
    def score(self) -> float:
        """The sum of the parts."""
        return self.lexical + self.dense + self.named


def fuse(evidence: Sequence[Evidence], query_latin: float, passages_latin: float) -> list[Fused]:
    """Return the score of each chunk, in the order given.

    query_latin, passages_latin: share of Latin script, 0 to 1, of the query and of the passages
    that lie nearest to it.
    """
    best_bm25 = max((item.bm25 for item in evidence), default=0.0)
    same_script = 1.0 - query_latin * (1.0 - passages_latin)
    absolute = _KEYWORDS * same_script**_CROSSING
    relative = _LATIN_KEYWORDS * query_latin * passages_latin**_SHARPNESS
    nearest, spread = _dense_scale(evidence)
    if not spread:
        # without vectors the order is BM25's, on a scale that ends at 1
        absolute, relative = 0.0, 1.0
    standing = [item.bm25 / best_bm25 if best_bm25 else 0.0 for item in evidence]
    return [
        Fused(
            lexical=absolute * item.bm25 + relative * share,
            dense=_dense(item, nearest, spread, share),
            named=_NAMED * item.named,
        )
        for item, share in zip(evidence, standing, strict=True)
    ]


def _dense_scale(evidence: Sequence[Evidence]) -> tuple[float, float]:
    """Return the highest cosine and the range of the vector list; 0, 0 when there is none."""
    named = [
        item.cosine
        for item in evidence
        if item.cosine is not None and item.vector_rank and item.vector_rank <= SPREAD_RANK
    ]
    if not named:
        return 0.0, 0.0
    return max(named), max(max(named) - min(named), _SMALLEST_SPREAD)


def _dense(item: Evidence, nearest: float, spread: float, standing: float) -> float:
    if not spread:
        return 0.0
    if item.cosine is None:
        # saved a moment ago, not embedded yet: its standing among keywords has to speak for it
        return standing
    return 1.0 + (item.cosine - nearest) / spread

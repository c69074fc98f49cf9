"""How much the parts of one note concern a question, by the words they share with it.

A word counts the more the fewer parts of the note hold it, so that what all of them speak of
decides nothing; English function words do not count, and what is written in hiragana alone, mostly
grammar, counts little.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from index.tokenize import normalise, tokenize

_HIRAGANA = re.compile("[ぁ-ゟー]+")
_NOT_HIRAGANA = re.compile("[^ぁ-ゟー]+")
_GRAMMAR = 0.25
_NEAR_BEST = 0.4
"""What scores less than this share of the best part is not shown beside it."""


@dataclass(frozen=True)
class Question:
    """A question's words with their weights in one note."""

    weights: Mapping[str, float]

    def score(self, text: str) -> float:
        """Return how much `text` concerns the question; 0.0: it shares no word with it."""
        shared = self.weights.keys() & set(tokenize(text))
        return sum(self.weights[token] for token in sorted(shared))


def weigh(query: str, parts: Sequence[str]) -> tuple[Question, list[float]]:
    """Return `query` weighed by how rare its words are among `parts`, and the score of each part.

    Words that occur nowhere are left out. Inverse document frequency: ln(1 + N / n).
    """
    from index.lexical import parse_query

    terms = frozenset(parse_query(query).terms)
    shared = [terms.intersection(tokenize(part)) for part in parts]
    counts = Counter(term for held in shared for term in held)
    little = grammar(query)
    weights = {
        term: math.log(1 + len(parts) / count) * (_GRAMMAR if term in little else 1.0)
        for term, count in counts.items()
    }
    return Question(weights), [sum(weights[term] for term in sorted(held)) for held in shared]


def enough(scores: Sequence[float]) -> float:
    """Return the score from which a part is worth showing, above 0.0."""
    return max(_NEAR_BEST * max(scores, default=0.0), 1e-9)


def grammar(query: str) -> frozenset[str]:
    """Return the tokens that come from runs of hiragana only, and not from katakana as well."""
    text = normalise(query)
    runs = (token for run in _HIRAGANA.findall(text) for token in tokenize(run))
    return frozenset(runs) - frozenset(tokenize(" ".join(_NOT_HIRAGANA.findall(text))))

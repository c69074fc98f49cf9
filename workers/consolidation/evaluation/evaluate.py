"""Precision and recall of the relation of two statements, over labelled pairs.

precision of a relation = pairs rightly called so / pairs called so; recall = those / pairs labelled
so. A false merge is a pair called a duplicate that is none: the fault that must not happen.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from context_engine.errors import BadInputError
from context_engine.insights import Kind
from workers.consolidation.facts import Facts, facts_of
from workers.consolidation.relation import Relation, relate

Rule = Callable[[Facts, Facts, Kind], Relation]


class Pair(BaseModel):
    """Two statements of one kind; `new` was said later. `relation` is what it is to `old`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    language: Literal["ja", "en"]
    kind: Kind
    relation: Relation
    old: str
    new: str
    unseen: bool = False
    """Whether the rules were finished before this pair was written."""


def shipped_pairs() -> Path:
    """Return the labelled pairs that come with the program."""
    return Path(str(files(__package__).joinpath("pairs.json")))


def load_pairs(path: Path) -> Sequence[Pair]:
    """Read a JSON list of pairs. Raises BadInputError naming what is not in shape."""
    try:
        return TypeAdapter(tuple[Pair, ...]).validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise BadInputError(str(path), f"{place}: {first['msg']}") from error


def evaluate(pairs: Sequence[Pair], rule: Rule = relate) -> dict[str, Any]:
    """Return the figures over all pairs, over the unseen ones and by language."""
    started = time.perf_counter()
    judged = [(pair, rule(facts_of(pair.new), facts_of(pair.old), pair.kind)) for pair in pairs]
    spent = time.perf_counter() - started
    return {
        "pairs": len(pairs),
        **_figures(judged),
        "unseen": _figures([(pair, said) for pair, said in judged if pair.unseen]),
        "per_language": {
            language: _figures([(pair, said) for pair, said in judged if pair.language == language])
            for language in ("ja", "en")
        },
        "milliseconds_per_pair": round(1000 * spent / max(1, len(pairs)), 3),
    }


def _figures(judged: Sequence[tuple[Pair, Relation]]) -> dict[str, Any]:
    merged = [pair for pair, said in judged if said is Relation.DUPLICATE]
    return {
        "false_merges": sum(pair.relation is not Relation.DUPLICATE for pair in merged),
        **{
            relation.value: _relation(judged, relation)
            for relation in (Relation.DUPLICATE, Relation.SUPERSEDES)
        },
    }


def _relation(judged: Sequence[tuple[Pair, Relation]], relation: Relation) -> dict[str, Any]:
    called = sum(said is relation for _, said in judged)
    labelled = sum(pair.relation is relation for pair, _ in judged)
    right = sum(pair.relation is said is relation for pair, said in judged)
    return {
        "precision": round(right / called, 3) if called else None,
        "recall": round(right / labelled, 3) if labelled else None,
        "pairs": labelled,
    }

"""One index searched by both engines."""

from __future__ import annotations

from dataclasses import dataclass

from context_engine.scopes import Scope
from index import filters as conditions
from index import fusion, lexical, vectors
from index.model import Filters
from index.readers import Reader

DEPTH = 100
"""How many candidates each engine names."""


@dataclass(frozen=True)
class Found:
    """A fused candidate of one index."""

    scope: Scope
    reader: Reader
    rowid: int
    candidate: fusion.Candidate
    fused: fusion.Fused


def search_index(
    scope: Scope,
    reader: Reader,
    query: lexical.Query,
    vector: vectors.FloatVector | None,
    filters: Filters,
) -> list[Found]:
    """Return the candidates of one index, scored. Call inside its read transaction."""
    sql, bindings = conditions.condition(filters)
    terms = reader.weigh(query.terms)
    by_word = lexical.best(
        reader.connection, lexical.any_of(terms), DEPTH, condition=sql, bindings=bindings
    )
    by_meaning = (
        []
        if vector is None
        else vectors.nearest(reader.connection, vector, DEPTH, condition=sql, bindings=bindings)
    )
    ideal = sum(term.idf for term in terms)
    candidates = _join(by_word, by_meaning)
    return [
        Found(scope, reader, rowid, candidate, fusion.fuse(candidate, ideal))
        for rowid, candidate in candidates.items()
    ]


def _join(
    by_word: list[tuple[int, float]], by_meaning: list[tuple[int, float]]
) -> dict[int, fusion.Candidate]:
    words = {rowid: (score, rank) for rank, (rowid, score) in enumerate(by_word, 1)}
    meanings = {rowid: (score, rank) for rank, (rowid, score) in enumerate(by_meaning, 1)}
    missing = (None, None)
    return {
        rowid: fusion.Candidate(*words.get(rowid, missing), *meanings.get(rowid, missing))
        for rowid in dict.fromkeys([*words, *meanings])
    }

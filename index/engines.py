"""One index searched by both engines."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from context_engine.scopes import Scope
from index import filters as conditions
from index import lexical, vectors
from index.fusion import SPREAD_RANK, Evidence
from index.model import Filters
from index.phrases import holding
from index.readers import Reader
from index.tokenize import Name

DEPTH = SPREAD_RANK
"""How many candidates each engine names, at least."""

_LOOKED_UP = 300
"""How far down the keyword list the scores of the vector engine's candidates are found."""

_TELLING_SHARE = 0.01
_TELLING_CHUNKS = 3
"""In a longer query, a name that more chunks hold than both of these tells nothing."""

_MOST_HOLDERS = 5_000
"""What more chunks hold than this tells nothing even alone, and takes long to list."""


@dataclass(frozen=True)
class Found:
    """A candidate of one index."""

    scope: Scope
    reader: Reader
    rowid: int
    evidence: Evidence


@dataclass(frozen=True)
class Question:
    """What is asked of an index: `vector` None searches by keyword only."""

    query: lexical.Query
    vector: vectors.FloatVector | None
    filters: Filters
    depth: int = DEPTH


def search_index(
    scope: Scope, reader: Reader, question: Question, warnings: list[str]
) -> list[Found]:
    """Return the candidates of one index. Call inside its read transaction."""
    condition = _condition(reader, question, warnings)
    by_word = _by_word(reader, question, condition)
    by_meaning = _by_meaning(reader, question, condition, by_word)
    evidence = _with_names(reader, question, _join(by_word, by_meaning, question.depth))
    return [Found(scope, reader, rowid, item) for rowid, item in evidence.items()]


def _condition(reader: Reader, question: Question, warnings: list[str]) -> conditions.Clause:
    """Return the filters, and the quoted phrases of a query that holds nothing else."""
    sql, bindings = conditions.condition(question.filters)
    if not question.query.phrases_only:
        return sql, bindings
    rowids = holding(reader.connection, question.query.phrases)
    if not rowids:
        quoted = ", ".join(f"“{phrase}”" for phrase in question.query.phrases)
        warnings.append(f"{quoted} occurs nowhere word for word; searched for its words")
        return sql, bindings
    held = "id IN (SELECT value FROM json_each(?))"
    return f"{sql} AND {held}", (*bindings, json.dumps(rowids))


def _by_word(
    reader: Reader, question: Question, condition: conditions.Clause
) -> list[tuple[int, float]]:
    sql, bindings = condition
    match = lexical.match_of(reader.weigh(question.query.terms), reader.chunks)
    count = max(_LOOKED_UP, question.depth)
    return lexical.best(reader.connection, match, count, condition=sql, bindings=bindings)


def _by_meaning(
    reader: Reader,
    question: Question,
    condition: conditions.Clause,
    by_word: Sequence[tuple[int, float]],
) -> list[tuple[int, float, int | None]]:
    """Return (rowid, cosine, rank): the nearest, and without a rank those that keywords found."""
    if question.vector is None:
        return []
    near = _nearest(reader, question.vector, question.depth, condition)
    known = {rowid for rowid, _ in near}
    others = [rowid for rowid, _ in by_word[: question.depth] if rowid not in known]
    return [
        *((rowid, cosine, rank) for rank, (rowid, cosine) in enumerate(near, 1)),
        *(
            (rowid, cosine, None)
            for rowid, cosine in vectors.cosines(reader.connection, question.vector, others)
        ),
    ]


def _join(
    by_word: Sequence[tuple[int, float]],
    by_meaning: Sequence[tuple[int, float, int | None]],
    depth: int,
) -> dict[int, Evidence]:
    words = {rowid: (score, rank) for rank, (rowid, score) in enumerate(by_word, 1)}
    meanings = {rowid: (cosine, rank) for rowid, cosine, rank in by_meaning}
    rowids = dict.fromkeys([*(rowid for rowid, _ in by_word[:depth]), *meanings])
    return {
        rowid: Evidence(*words.get(rowid, (0.0, None)), *meanings.get(rowid, (None, None)))
        for rowid in rowids
    }


def _with_names(
    reader: Reader, question: Question, evidence: Mapping[int, Evidence]
) -> dict[int, Evidence]:
    """Note which chunks hold what the query asks for by name."""
    holders = [
        (name.weight, set(lexical.holding_all(reader.connection, name.tokens)))
        for name in question.query.names
        if _tells(reader, name)
    ]
    if not holders:
        return dict(evidence)
    return {
        rowid: replace(item, named=sum(weight for weight, held in holders if rowid in held))
        for rowid, item in evidence.items()
    }


def _tells(reader: Reader, name: Name) -> bool:
    """Tell whether chunks that hold a name are few enough, or it is all that was asked for."""
    frequency = min(term.frequency for term in reader.weigh(name.tokens))
    few = max(_TELLING_CHUNKS, _TELLING_SHARE * reader.chunks)
    return 0 < frequency <= (_MOST_HOLDERS if name.alone else few)


def _nearest(
    reader: Reader, vector: vectors.FloatVector, count: int, condition: conditions.Clause
) -> list[tuple[int, float]]:
    """Return the nearest: of the nearest cells, or of all when these hold too few."""
    sql, bindings = condition
    if reader.cells is not None:
        near = vectors.nearest(
            reader.connection,
            vector,
            count,
            condition=f"cell IN (SELECT value FROM json_each(?)) AND {sql}",
            bindings=(json.dumps(reader.cells.nearest(vector, reader.vectors)), *bindings),
        )
        if len(near) >= min(count, reader.vectors):
            return near
    return vectors.nearest(reader.connection, vector, count, condition=sql, bindings=bindings)

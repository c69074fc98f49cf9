"""Keyword search: BM25 over quoted tokens, any of which may match."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import apsw

from index.tokenize import Name, fold, names_in, stem, tokenize

COLUMN_WEIGHTS = (1.0, 1.5, 0.4)
"""Of body, heading and context in BM25."""

_MAX_ASKED = 600
"""Distinct tokens of a query that are looked up at all."""

MAX_TERMS = 256
"""Distinct tokens of a query that are searched; the rarest are kept."""

_LARGE = 1_000
_COMMON_SHARE = 0.25
"""In an index of so many chunks, a term that a larger share of them holds says next to nothing."""

_GATE_CHUNKS = 2_000
"""How many chunks the rarest terms of a query may name, about: what one query scores at most."""

_ASKING_OR_JOINING = """
a about an and are as at be been but by can could did do does for from had has have he her his how
i if in into is it its me my not of on or our she so than that the their then there these they this
those to was we were what when where which who whom whose why will with would you your
"""
_FUNCTION_WORDS = frozenset(stem(word) for word in _ASKING_OR_JOINING.split())
"""English words that ask or join. In a collection that is not English they would be rare, and so
count for much; in questions they outweigh what is asked about."""

_PHRASE = re.compile(r'["“”]([^"“”]{1,400})["“”]')


@dataclass(frozen=True)
class Query:
    """A question in searchable form."""

    text: str
    terms: tuple[str, ...]
    phrases: tuple[str, ...]
    """What stood in double quotes, folded."""
    names: tuple[Name, ...]
    """What is asked for by name: identifiers, and a query of one word."""
    phrases_only: bool
    """Whether the query holds nothing else: then they are a condition."""


@dataclass(frozen=True)
class Term:
    """A token and its weight in one index."""

    text: str
    frequency: int
    idf: float


@dataclass(frozen=True)
class Match:
    """An FTS5 query, and what its scores are multiplied by to be BM25."""

    expression: str
    scale: float = 1.0


def parse_query(text: str) -> Query:
    """Return the query that `text` asks; nothing in it is syntax but double quotes."""
    phrases = tuple(dict.fromkeys(filter(None, (fold(found) for found in _PHRASE.findall(text)))))
    terms = tuple(dict.fromkeys(tokenize(text)))[:_MAX_ASKED]
    telling = tuple(term for term in terms if term not in _FUNCTION_WORDS)
    alone = bool(phrases) and not tokenize(_PHRASE.sub(" ", text))
    return Query(text, telling or terms, phrases, names_in(text), alone)


def weigh(connection: apsw.Connection, terms: Sequence[str], chunks: int) -> list[Term]:
    """Return the terms with their document frequency and BM25 idf, rarest first."""
    weighed = []
    for text in terms:
        row = connection.execute("SELECT doc FROM lexical_term WHERE term = ?", (text,)).fetchone()
        frequency = int(row[0]) if row else 0
        weighed.append(Term(text, frequency, idf(frequency, chunks)))
    return sorted(weighed, key=lambda term: (term.frequency, term.text))


def idf(frequency: int, chunks: int) -> float:
    """Return the inverse document frequency as FTS5 computes it, never below 1e-6."""
    return max(math.log((chunks - frequency + 0.5) / (frequency + 0.5)), 1e-6)


def match_of(terms: Sequence[Term], chunks: int) -> Match:
    """Return what to ask FTS5 for the chunks worth scoring; empty when no term is known.

    terms: rarest first. In a large index what very many chunks hold is not scored, and a chunk
    must also hold one of the rarest terms: without one it cannot come near the top, and most
    chunks need not be looked at.
    """
    known = [term for term in terms if term.frequency][:MAX_TERMS]
    most = chunks if chunks < _LARGE else _COMMON_SHARE * chunks
    telling = [term for term in known if term.frequency <= most] or known
    rare = _rarest(telling)
    scored = _any_of(telling)
    if len(rare) == len(telling):
        return Match(scored)
    # FTS5 scores the rare terms twice, once for each time that they stand in the query
    once = sum(term.idf for term in telling)
    twice = once + sum(term.idf for term in rare)
    return Match(f"({_any_of(rare)}) AND ({scored})", once / twice)


def _rarest(terms: Sequence[Term]) -> list[Term]:
    """Return the first terms, until together they name chunks enough."""
    rare: list[Term] = []
    named = 0
    for term in terms:
        if rare and named + term.frequency > _GATE_CHUNKS:
            break
        rare.append(term)
        named += term.frequency
    return rare


def _any_of(terms: Sequence[Term]) -> str:
    return " OR ".join(quote(term.text) for term in terms)


def holding_all(connection: apsw.Connection, tokens: Sequence[str]) -> list[int]:
    """Return the rowids of the chunks that hold all tokens in text or headings."""
    match = "{body heading} : (" + " AND ".join(map(quote, tokens)) + ")"
    rows = connection.execute("SELECT rowid FROM lexical WHERE lexical MATCH ?", (match,))
    return [rowid for (rowid,) in rows]


def quote(token: str) -> str:
    """Return `token` as an FTS5 string."""
    return '"' + token.replace('"', '""') + '"'


def best(
    connection: apsw.Connection,
    match: Match,
    count: int,
    *,
    condition: str = "1",
    bindings: Sequence[apsw.SQLiteValue] = (),
) -> list[tuple[int, float]]:
    """Return up to `count` (rowid, BM25 score), best first, of chunks that fulfil `condition`.

    `condition` is SQL over `id`, the chunk's rowid; it is applied before the best are chosen.
    """
    if not match.expression:
        return []
    weights = ", ".join(str(weight) for weight in COLUMN_WEIGHTS)
    # ordering by the function is twice as fast as by FTS5's rank, which stores every position
    rows = connection.execute(
        f"SELECT rowid AS id, bm25(lexical, {weights}) AS score FROM lexical"
        f" WHERE lexical MATCH ? AND {condition} ORDER BY score, id LIMIT ?",
        (match.expression, *bindings, count),
    )
    return [(rowid, -score * match.scale) for rowid, score in rows]

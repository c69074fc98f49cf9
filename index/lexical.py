"""Keyword search: BM25 over quoted tokens, any of which may match."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import apsw

from index.tokenize import fold, stem, tokenize

COLUMN_WEIGHTS = (1.0, 1.5, 0.4)
"""Of body, heading and context in BM25."""

MAX_TERMS = 256
"""Distinct tokens of a query that are searched; the rarest are kept."""

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


@dataclass(frozen=True)
class Term:
    """A token and its weight in one index."""

    text: str
    frequency: int
    idf: float


def parse_query(text: str) -> Query:
    """Return the query that `text` asks; nothing in it is syntax but double quotes."""
    phrases = tuple(dict.fromkeys(filter(None, (fold(found) for found in _PHRASE.findall(text)))))
    terms = tuple(dict.fromkeys(tokenize(text)))
    telling = tuple(term for term in terms if term not in _FUNCTION_WORDS)
    return Query(text, telling or terms, phrases)


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


def any_of(terms: Sequence[Term]) -> str:
    """Return an FTS5 query for chunks with at least one of the terms; empty for none known."""
    known = [term.text for term in terms if term.frequency][:MAX_TERMS]
    return " OR ".join(quote(text) for text in known)


def quote(token: str) -> str:
    """Return `token` as an FTS5 string."""
    return '"' + token.replace('"', '""') + '"'


def best(
    connection: apsw.Connection,
    match: str,
    count: int,
    *,
    condition: str = "1",
    bindings: Sequence[apsw.SQLiteValue] = (),
) -> list[tuple[int, float]]:
    """Return up to `count` (rowid, BM25 score), best first, of chunks that fulfil `condition`.

    `condition` is SQL over `id`, the chunk's rowid; it is applied before the best are chosen.
    """
    if not match:
        return []
    weights = ", ".join(str(weight) for weight in COLUMN_WEIGHTS)
    rows = connection.execute(
        # the + keeps the planner from looking every allowed rowid up in the keyword index
        "SELECT id, -rank FROM (SELECT +lexical.rowid AS id, rank FROM lexical"
        f" WHERE lexical MATCH ? AND rank MATCH 'bm25({weights})')"
        f" WHERE {condition} ORDER BY rank LIMIT ?",  # conditions are our own
        (match, *bindings, count),
    )
    return [(rowid, score) for rowid, score in rows]

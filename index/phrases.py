"""Quoted phrases: the chunks that hold them word for word."""

from __future__ import annotations

import re
from collections.abc import Sequence

import apsw

from index.lexical import quote
from index.tokenize import fold, tokenize

MAX_CHUNKS = 5_000
"""Chunks with all words of a phrase that are looked at; comparing one takes 50 µs."""


def holding(connection: apsw.Connection, phrases: Sequence[str]) -> list[int]:
    """Return the rowids of the chunks that hold every phrase (folded), in text or headings.

    Case, width, kana and spacing do not count; a phrase that begins or ends with a Latin letter
    or a digit begins or ends a word.
    """
    tokens = dict.fromkeys(token for phrase in phrases for token in tokenize(phrase))
    if not tokens:
        return []
    patterns = [_pattern(phrase) for phrase in phrases]
    rows = connection.execute(
        "SELECT chunk.rowid, title || char(10) || heading || char(10) || text FROM chunk"
        " JOIN note ON note.id = chunk.note WHERE chunk.rowid IN"
        " (SELECT rowid FROM lexical WHERE lexical MATCH ? LIMIT ?)",
        ("{body heading} : (" + " AND ".join(map(quote, tokens)) + ")", MAX_CHUNKS),
    )
    return [
        rowid
        for rowid, text in rows
        if all(pattern.search(fold(str(text))) for pattern in patterns)
    ]


def _pattern(phrase: str) -> re.Pattern[str]:
    before = r"(?<![a-z0-9])" if re.match(r"[a-z0-9]", phrase) else ""
    after = r"(?![a-z0-9])" if re.search(r"[a-z0-9]\Z", phrase) else ""
    return re.compile(before + re.escape(phrase) + after)

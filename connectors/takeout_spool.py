"""Rows of an activity log, sorted: the log is flat, newest first, and told in several files.

They wait in a temporary database of SQLite, which stays in memory as long as it is small and
otherwise lies in a file without a name; it is gone when the run ends, however it ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby

import apsw

from context_engine.events import Role, Utterance

GAP_SECONDS = 30 * 60
"""Silence after which what belongs to no thread begins another conversation."""

_CACHE_KIB = 32 * 1024


@dataclass(frozen=True, slots=True)
class Row:
    """One utterance. `document` is its thread's name, None when the log does not tell it.

    order: of utterances of the same second.
    """

    key: str
    document: str | None
    at: datetime
    order: int
    author: str
    role: Role
    text: str

    def utterance(self) -> Utterance:
        """Return the row as what was said."""
        return Utterance(self.key, self.author, self.role, self.at, self.text)


class Spool:
    """Takes rows in any order and from several files; gives each once, by document and time."""

    def __init__(self) -> None:
        self._db = apsw.Connection("")
        self._db.execute("PRAGMA journal_mode=OFF")
        self._db.execute("PRAGMA synchronous=OFF")
        self._db.execute(f"PRAGMA cache_size=-{_CACHE_KIB}")
        self._db.execute(
            "CREATE TABLE row(key TEXT PRIMARY KEY, document TEXT, at INTEGER, place INTEGER,"
            " author TEXT, role TEXT, text TEXT)"
        )
        self._db.execute("BEGIN")

    def add(self, row: Row) -> None:
        """Keep `row`. One that is known only adds the thread it belongs to."""
        self._db.execute(
            "INSERT INTO row VALUES (?,?,?,?,?,?,?) ON CONFLICT(key) DO UPDATE"
            " SET document=coalesce(document, excluded.document)",
            (row.key, row.document, int(row.at.timestamp()), row.order, row.author,
             row.role.value, row.text),
        )  # fmt: skip

    def documents(self) -> Iterator[tuple[str, Iterator[Row]]]:
        """Yield each document with its rows, oldest first; take the rows before the next one."""
        threads = self._rows("document IS NOT NULL", "document, at, place, key")
        yield from groupby(threads, key=_document_of)
        yield from self._conversations()

    def close(self) -> None:
        """Let everything go."""
        self._db.close()

    def _conversations(self) -> Iterator[tuple[str, Iterator[Row]]]:
        """Group what belongs to no thread by silence, named by its first row."""
        begin = ""
        previous: datetime | None = None

        def name_of(row: Row) -> str:
            nonlocal begin, previous
            if previous is None or (row.at - previous).total_seconds() > GAP_SECONDS:
                begin = f"gap/{row.key}"
            previous = row.at
            return begin

        yield from groupby(self._rows("document IS NULL", "at, place, key"), key=name_of)

    def _rows(self, where: str, order: str) -> Iterator[Row]:
        query = (
            "SELECT key, document, at, place, author, role, text FROM row"  # noqa: S608 - constants
            f" WHERE {where} ORDER BY {order}"
        )
        for key, document, at, place, author, role, text in self._db.execute(query):
            moment = datetime.fromtimestamp(at, UTC)
            yield Row(key, document, moment, place, author, Role(role), text)


def _document_of(row: Row) -> str:
    return str(row.document)

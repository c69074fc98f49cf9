"""Insights saved a moment ago, which the index may not know yet. Derived; may be deleted.

All processes of a home share the file, so that what one saves another does not save again.
"""

from __future__ import annotations

import threading
from pathlib import Path

import apsw

from context_engine.home import Home
from context_engine.insights import Insight
from context_engine.redaction import redact
from context_engine.sqlite import connect, immediate, migrate
from index.lexical import quote
from index.tokenize import FTS5_TOKENIZE, indexed, tokenize

KEPT = 5_000
"""The index is hardly ever so many insights behind."""
_FOUND = 6
_ASKED = 30
_HOMES = 4
_READ = 4_000

_MIGRATIONS = (
    f"""
    CREATE TABLE saved (id INTEGER PRIMARY KEY, scope TEXT NOT NULL, kind TEXT NOT NULL,
        insight_id TEXT NOT NULL, path TEXT NOT NULL, UNIQUE (scope, kind, insight_id));
    CREATE VIRTUAL TABLE words USING fts5 (body, content = '', contentless_delete = 1,
        tokenize = "{FTS5_TOKENIZE}");
    """,
)


_open = threading.local()
"""The file of each home that this thread has open: opening one takes longer than asking it."""


def recent_of(home: Home) -> Recent:
    """Return this thread's `Recent` of a home, opened again when the file was deleted meanwhile."""
    path = home.state / "recent.db"
    kept: dict[Path, Recent] = vars(_open).setdefault("kept", {})
    known = kept.get(path)
    if known is None or not known.is_there():
        if known is not None or len(kept) >= _HOMES:
            for old in kept.values():
                old.close()
            kept.clear()
        kept[path] = Recent(path)
    return kept[path]


def _text(insight: Insight) -> str:
    # a client's secret must not outlive the call, in single words neither
    return redact(f"{insight.title}\n{insight.content[:_READ]}").text


class Recent:
    """The last insights of one home. Use from one thread."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._path = path
        self._connection = connect(path)
        # a lost one costs a duplicate after a power cut, an fsync each would cost every import
        self._connection.execute("PRAGMA synchronous=OFF")
        migrate(self._connection, _MIGRATIONS)
        self._inode = path.stat().st_ino

    def is_there(self) -> bool:
        """Tell whether the file is the one that others open: state/ may be deleted any time."""
        try:
            return self._path.stat().st_ino == self._inode
        except OSError:
            return False

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def add(self, insight: Insight, path: str) -> None:
        """Remember where `insight` lies now."""
        with immediate(self._connection):
            key = (insight.scope.value, insight.kind.value, insight.insight_id)
            for (old,) in self._rows(
                "SELECT id FROM saved WHERE scope = ? AND kind = ? AND insight_id = ?", key
            ):
                self._forget(int(str(old)))
            self._connection.execute(
                "INSERT INTO saved (scope, kind, insight_id, path) VALUES (?, ?, ?, ?)",
                (*key, path),
            )
            row = self._connection.last_insert_rowid()
            body = indexed(_text(insight))
            self._connection.execute("INSERT INTO words (rowid, body) VALUES (?, ?)", (row, body))
            self._forget(row - KEPT)

    def like(self, insight: Insight) -> tuple[str, ...]:
        """Return the paths of those that share most words with `insight`, of its scope and kind."""
        terms = list(dict.fromkeys(tokenize(_text(insight))))[:_ASKED]
        if not terms:
            return ()
        rows = self._rows(
            "SELECT path FROM words JOIN saved ON saved.id = words.rowid"
            " WHERE words MATCH ? AND scope = ? AND kind = ? ORDER BY bm25(words) LIMIT ?",
            (
                " OR ".join(map(quote, terms)),
                insight.scope.value,
                insight.kind.value,
                _FOUND,
            ),
        )
        return tuple(dict.fromkeys(str(path) for (path,) in rows))

    def _forget(self, row: int) -> None:
        self._connection.execute("DELETE FROM saved WHERE id = ?", (row,))
        self._connection.execute("DELETE FROM words WHERE rowid = ?", (row,))

    def _rows(
        self, query: str, bindings: tuple[apsw.SQLiteValue, ...]
    ) -> list[tuple[apsw.SQLiteValue, ...]]:
        return self._connection.execute(query, bindings).fetchall()

"""What waits for a person, in numbers."""

from __future__ import annotations

from collections.abc import Sequence

from context_engine.home import Home
from context_engine.scopes import Scope
from index.schema import open_for_reading


def review_summary(home: Home, scopes: Sequence[Scope] | None = None) -> dict[str, int]:
    """Return raw insights and files in the inbox, over all `scopes`."""
    chosen = scopes or list(Scope)
    return {
        "raw_insights": sum(_raw(home, scope) for scope in chosen),
        "inbox": sum(_inbox(home, scope) for scope in chosen),
    }


def _raw(home: Home, scope: Scope) -> int:
    connection = open_for_reading(home.index(scope))
    if connection is None:
        return 0
    try:
        row = connection.execute("SELECT count(*) FROM note WHERE confidence='raw'").fetchone()
        return int(row[0]) if row else 0
    finally:
        connection.close()


def _inbox(home: Home, scope: Scope) -> int:
    return sum(1 for path in (home.vault(scope) / "inbox").rglob("*.md") if path.is_file())

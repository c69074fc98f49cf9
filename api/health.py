"""Whether this process can answer: the indexes open and give a row."""

from __future__ import annotations

import apsw

from context_engine.errors import ContextEngineError
from context_engine.home import Home
from context_engine.scopes import Scope


def index_is_readable(home: Home) -> bool:
    """Return whether every index there is can be read. A home without an index is healthy."""
    return all(_readable(home, scope) for scope in Scope)


def _readable(home: Home, scope: Scope) -> bool:
    from index.schema import open_for_reading

    try:
        connection = open_for_reading(home.index(scope))
        if connection is None:
            return True
        with connection:
            connection.execute("SELECT rowid FROM chunk LIMIT 1").fetchall()
        connection.close()
    except (ContextEngineError, apsw.Error, OSError):
        return False
    return True

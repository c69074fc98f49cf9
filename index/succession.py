"""What was replaced stands below what replaced it, whichever of the two a question finds better.

The older loses a bounded part of its score, and lifts its successor just above itself: a question
in the words of the older decision is answered by the newer one first.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from index import filters as conditions
from index.engines import Found
from index.fusion import Evidence
from index.model import Filters

if TYPE_CHECKING:
    from index.results import Placed

PENALTY = 0.3
"""What being replaced costs, on the scale where the vector list's range is 1."""

_ABOVE = 1e-6
_LONGEST_CHAIN = 8
_LOOKED_UP = 50
_ID = re.compile(r"-([0-9a-f]{12})\.md\Z")

SUCCESSOR = """
(SELECT chunk.superseded_by WHERE chunk.superseded_by IS NOT NULL AND (
    EXISTS (SELECT 1 FROM note AS newer WHERE newer.path =
        substr(chunk.superseded_by, 1, instr(chunk.superseded_by || '#', '#') - 1))
    OR EXISTS (SELECT 1 FROM note AS newer
        WHERE newer.path LIKE '%' || substr(chunk.superseded_by, -16))))
"""
"""What replaced a chunk, while that is there: one that was rejected or forgotten replaces nothing.
A file that was renamed keeps the id at the end of its name: only then all notes are looked through,
so what was never replaced must be told apart first."""

_REPLACED = """
SELECT superseded_by FROM chunk
WHERE superseded_by IS NOT NULL AND chunk.rowid IN (SELECT value FROM json_each(?)) LIMIT ?
"""
_SUCCESSOR = """
SELECT id FROM (
    SELECT chunk.rowid AS id, position FROM chunk JOIN note ON note.id = chunk.note
    WHERE note.path = ? AND (? = '' OR heading = ?)
) WHERE {condition} ORDER BY position LIMIT 1
"""


def key_of(place: str) -> str:
    """Return what tells an insight by: its id where its file's name ends in one, else `place`.

    place: `path`, or `path#heading` for a section.
    """
    match = _ID.search(place)
    return match[1] if match else place


def with_successors(found: Sequence[Found], filters: Filters) -> list[Found]:
    """Add to the candidates of one index what replaced some of them and was not found itself."""
    if not found:
        return []
    reader, scope = found[0].reader, found[0].scope
    known = {item.rowid for item in found}
    rowids = json.dumps(sorted(known))
    condition, bindings = conditions.condition(filters)
    successor = _SUCCESSOR.format(condition=condition)
    added: dict[int, Found] = {}
    for (place,) in reader.connection.execute(_REPLACED, (rowids, _LOOKED_UP)).fetchall():
        path, _, heading = str(place).partition("#")
        rows = reader.connection.execute(successor, (path, heading, heading, *bindings)).fetchall()
        for (rowid,) in rows:
            if isinstance(rowid, int) and rowid not in known:
                added[rowid] = Found(scope, reader, rowid, Evidence())
    return [*found, *added.values()]


def settled(placed: Iterable[Placed]) -> list[Placed]:
    """Return the candidates with their scores so that none that was replaced stands above."""
    items = [
        replace(item, succession=-PENALTY) if item.row["superseded_by"] else item for item in placed
    ]
    best: dict[tuple[str, str], int] = {}
    for number, item in enumerate(items):
        for place in (item.row["path"], f"{item.row['path']}#{item.row['heading']}"):
            key = (item.found.scope.value, key_of(place))
            if key not in best or items[best[key]].score < item.score:
                best[key] = number
    for _ in range(_LONGEST_CHAIN):
        if not _lift(items, best):
            break
    return items


def _lift(items: list[Placed], best: dict[tuple[str, str], int]) -> bool:
    lifted = False
    for item in tuple(items):
        place = item.row["superseded_by"]
        number = best.get((item.found.scope.value, key_of(place))) if place else None
        if number is None or items[number] is item:
            continue
        above, now = items[number], item.score
        if above.score <= now:
            gain = above.succession + now - above.score + _ABOVE
            items[number] = replace(above, succession=gain)
            lifted = True
    return lifted

"""From scored candidates to the hits a caller sees."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any

from context_engine.insights import Confidence, Kind
from index.engines import Found
from index.model import Hit

PER_NOTE = 5
"""Most hits of one note while others have something to say."""


@dataclass(frozen=True)
class Placed:
    """A candidate with the row that describes it."""

    found: Found
    row: Mapping[str, Any]

    @property
    def note(self) -> tuple[str, int]:
        """What counts as one document."""
        return (self.found.scope.value, self.row["note"])

    @property
    def section(self) -> tuple[str, int, int]:
        """What counts as one place: the pieces of a long section are one."""
        return (*self.note, self.row["section"])


def merge(found: Iterable[Found]) -> list[Placed]:
    """Return the candidates of all indexes, best first, ranks counted over all of them."""
    placed = [Placed(item, _describe(item)) for item in found]
    # equal scores are ordered by chunk id: rowids differ between an index and its rebuild
    return sorted(placed, key=lambda item: (-item.found.fused.score, item.row["chunk_id"]))


def spread(placed: Iterable[Placed], limit: int) -> list[Placed]:
    """Return the best `limit`, one a section, so that no note crowds out the others."""
    chosen: list[Placed] = []
    behind: list[Placed] = []
    sections = set[tuple[str, int, int]]()
    notes = Counter[tuple[str, int]]()
    for item in placed:
        if item.section in sections:
            continue
        sections.add(item.section)
        notes[item.note] += 1
        (chosen if notes[item.note] <= PER_NOTE else behind).append(item)
    return (chosen + behind)[:limit]


def to_hits(placed: Iterable[Placed], *, explain: bool) -> tuple[Hit, ...]:
    """Return the hits for chosen candidates."""
    return tuple(_hit(item, explain=explain) for item in placed)


def _describe(found: Found) -> dict[str, Any]:
    cursor = found.reader.connection.execute(
        "SELECT chunk_id, note, section, path, title, heading, summary, kind,"
        " coalesce(chunk.confidence, note.confidence) AS confidence, source, project, tags,"
        " coalesce(at, created) AS date, verified"
        " FROM chunk JOIN note ON note.id = chunk.note WHERE chunk.rowid = ?",
        (found.rowid,),
    )
    names = [column[0] for column in cursor.get_description()]
    return dict(zip(names, cursor.fetchall()[0], strict=True))


def _hit(placed: Placed, *, explain: bool) -> Hit:
    row, found = placed.row, placed.found
    return Hit(
        chunk_id=row["chunk_id"],
        scope=found.scope,
        path=row["path"],
        title=row["title"] or PurePosixPath(row["path"]).stem,
        heading=row["heading"],
        summary=row["summary"],
        kind=Kind(row["kind"]) if row["kind"] else None,
        confidence=Confidence(row["confidence"]) if row["confidence"] else None,
        source=row["source"],
        project=row["project"],
        tags=tuple(json.loads(row["tags"])),
        date=_moment(row["date"]),
        score=found.fused.score,
        bm25_rank=found.candidate.bm25_rank,
        vector_rank=found.candidate.vector_rank,
        explanation=dict(found.fused.parts) if explain else {},
    )


def _moment(stamp: float | None) -> datetime | None:
    return None if stamp is None else datetime.fromtimestamp(stamp, UTC)

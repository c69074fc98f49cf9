"""From what the engines found to the hits a caller sees."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from operator import attrgetter
from pathlib import PurePosixPath
from typing import Any

from connectors.text import shorten
from context_engine.insights import Confidence, Kind
from context_engine.scopes import Scope
from index.engines import Found
from index.freshness import freshness
from index.fusion import Evidence, Fused, fuse
from index.lexical import Query
from index.model import Hit
from index.questions import latin_share
from index.succession import SUCCESSOR, settled
from index.tokenize import fold

CONVERSATION_SHARE = 0.7
NOTE_SHARE = 0.3
"""Most of the hits that one note may have while others have something to say."""

_PHRASE_BONUS = 0.3
"""For each quoted phrase of a longer query that a chunk holds."""

_EXCERPT_LENGTH = 160
"""Characters shown of a chunk whose note has no summary: enough to judge, too few to read."""

_SCRIPT_RANK = 10
"""The script of the passages is that of the nearest so many."""

_STANDING = f"""
SELECT chunk.rowid, chunk_id, note, section, type, kind, path, heading,
    {SUCCESSOR} AS superseded_by,
    coalesce(verified, at, created) AS verified
FROM chunk JOIN note ON note.id = chunk.note
WHERE chunk.rowid IN (SELECT value FROM json_each(?))
"""
_DESCRIPTION = f"""
SELECT path, title, heading, {SUCCESSOR} AS superseded_by, summary, kind, source, project, tags,
    substr(chunk.text, 1, 1000) AS beginning,
    coalesce(chunk.confidence, note.confidence) AS confidence, coalesce(at, created) AS date
FROM chunk JOIN note ON note.id = chunk.note WHERE chunk.rowid = ?
"""


@dataclass(frozen=True)
class Placed:
    """A candidate with what orders it."""

    found: Found
    row: Mapping[str, Any]
    evidence: Evidence
    """As `found` has it, ranks counted over all indexes searched."""
    fused: Fused
    freshness: float
    phrases: float
    succession: float = 0.0
    """What being replaced costs, or replacing another gives."""

    @property
    def score(self) -> float:
        """What the hits are ordered by."""
        return self.fused.score + self.freshness + self.phrases + self.succession

    @property
    def note(self) -> tuple[str, int]:
        """What counts as one document."""
        return (self.found.scope.value, self.row["note"])

    @property
    def section(self) -> tuple[str, int, int]:
        """What counts as one place: the pieces of a long section are one."""
        return (*self.note, self.row["section"])


def rank(found: Sequence[Found], query: Query, now: float) -> list[Placed]:
    """Return the candidates of all indexes searched, best first."""
    rows = _standing(found)
    evidence = _ranked([item.evidence for item in found], [row["chunk_id"] for row in rows])
    fused = fuse(evidence, latin_share(query.text), _passages_latin(found, evidence))
    placed = [
        Placed(
            *parts,
            freshness=freshness(parts[1]["kind"], parts[1]["verified"], now),
            phrases=_phrase_bonus(query, parts[0]),
        )
        for parts in zip(found, rows, evidence, fused, strict=True)
    ]
    # equal scores are ordered by chunk id: rowids differ between an index and its rebuild
    return sorted(settled(placed), key=lambda item: (-item.score, item.row["chunk_id"]))


def spread(placed: Iterable[Placed], limit: int) -> list[Placed]:
    """Return the best `limit`, one a section, so that no note crowds out the others."""
    chosen: list[Placed] = []
    behind: list[Placed] = []
    sections = set[tuple[str, int, int]]()
    notes = Counter[tuple[str, int]]()
    for item in placed:
        if len(chosen) == limit:
            break
        if item.section in sections:
            continue
        sections.add(item.section)
        notes[item.note] += 1
        share = CONVERSATION_SHARE if item.row["type"] == "source" else NOTE_SHARE
        (chosen if notes[item.note] <= math.ceil(share * limit) else behind).append(item)
    return (chosen + behind)[:limit]


def to_hits(placed: Iterable[Placed], *, explain: bool) -> tuple[Hit, ...]:
    """Return the hits for chosen candidates."""
    return tuple(_hit(item, explain=explain) for item in placed)


def _standing(found: Sequence[Found]) -> list[Mapping[str, Any]]:
    """Return what is needed to order the candidates, in their order."""
    rows: dict[tuple[Scope, int], Mapping[str, Any]] = {}
    for scope, group in groupby(found, key=attrgetter("scope")):
        items = list(group)
        rowids = json.dumps([item.rowid for item in items])
        cursor = items[0].reader.connection.execute(_STANDING, (rowids,))
        names = [column[0] for column in cursor.get_description()]
        rows.update({(scope, row[0]): dict(zip(names, row, strict=True)) for row in cursor})
    return [rows[item.scope, item.rowid] for item in found]


def _ranked(evidence: Sequence[Evidence], chunk_ids: Sequence[str]) -> list[Evidence]:
    """Count the ranks over all indexes searched; ties by chunk id."""
    words = _places([item.bm25_rank and item.bm25 for item in evidence], chunk_ids)
    meanings = _places([item.vector_rank and item.cosine for item in evidence], chunk_ids)
    return [
        Evidence(item.bm25, words.get(place), item.cosine, meanings.get(place), item.named)
        for place, item in enumerate(evidence)
    ]


def _places(scores: Sequence[float | None], chunk_ids: Sequence[str]) -> dict[int, int]:
    named = [
        (-score, chunk_ids[place], place) for place, score in enumerate(scores) if score is not None
    ]
    return {place: number for number, (_, _, place) in enumerate(sorted(named), 1)}


def _passages_latin(found: Sequence[Found], evidence: Sequence[Evidence]) -> float:
    """Return the share of Latin script in the passages nearest in meaning."""
    near = [
        (item.vector_rank, place)
        for place, item in enumerate(evidence)
        if item.vector_rank is not None and item.vector_rank <= _SCRIPT_RANK
    ]
    shares = [latin_share(_text(found[place])) for _, place in sorted(near)]
    return sum(shares) / len(shares) if shares else 0.5


def _phrase_bonus(query: Query, found: Found) -> float:
    if not query.phrases or query.phrases_only:
        return 0.0
    text = fold(_text(found))
    return _PHRASE_BONUS * sum(phrase in text for phrase in query.phrases)


def _text(found: Found) -> str:
    row = found.reader.connection.execute(
        "SELECT text FROM chunk WHERE rowid = ?", (found.rowid,)
    ).fetchone()
    return str(row[0]) if row else ""


def _hit(placed: Placed, *, explain: bool) -> Hit:
    cursor = placed.found.reader.connection.execute(_DESCRIPTION, (placed.found.rowid,))
    names = [column[0] for column in cursor.get_description()]
    row: dict[str, Any] = dict(zip(names, cursor.fetchall()[0], strict=True))
    return Hit(
        chunk_id=placed.row["chunk_id"],
        scope=placed.found.scope,
        path=row["path"],
        title=row["title"] or PurePosixPath(row["path"]).stem,
        heading=row["heading"],
        summary=row["summary"] or _excerpt(row["beginning"]),
        kind=Kind(row["kind"]) if row["kind"] else None,
        confidence=Confidence(row["confidence"]) if row["confidence"] else None,
        source=row["source"],
        project=row["project"],
        tags=tuple(json.loads(row["tags"])),
        date=_moment(row["date"]),
        score=placed.score,
        bm25_rank=placed.evidence.bm25_rank,
        vector_rank=placed.evidence.vector_rank,
        superseded_by=row["superseded_by"],
        explanation=_explanation(placed) if explain else {},
    )


def _excerpt(beginning: str) -> str:
    """Return what is shown of a chunk; evidence that only repeats its statement is left out."""
    told: list[str] = []
    for paragraph in beginning.split("\n\n"):
        if not any(paragraph.strip() in other for other in told):
            told.append(paragraph)
    return shorten("\n\n".join(told), _EXCERPT_LENGTH)


def _explanation(placed: Placed) -> dict[str, Any]:
    return {
        "bm25": placed.evidence.bm25,
        "cosine": placed.evidence.cosine,
        "lexical": placed.fused.lexical,
        "dense": placed.fused.dense,
        "named": placed.fused.named,
        "freshness": placed.freshness,
        "phrases": placed.phrases,
        "succession": placed.succession,
    }


def _moment(stamp: float | None) -> datetime | None:
    return None if stamp is None else datetime.fromtimestamp(stamp, UTC)

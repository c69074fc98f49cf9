"""A search hit as callers see it: where it is and why it was found, never the text itself."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from context_engine.clock import isoformat
from index.model import Hit

_MAX_TITLE = 120
_MAX_SUMMARY = 300
_BREAKS = re.compile(r"\s+")


class Found(BaseModel):
    """One place in the memory."""

    model_config = ConfigDict(frozen=True)

    path: Annotated[str, Field(description="Vault and file; read_memory takes it.")]
    chunk_id: Annotated[str, Field(description="The passage; get_context takes it.")]
    title: str
    heading: str
    summary: str
    kind: Annotated[
        str | None,
        Field(description="value, decision, learning, project or person; null: source text."),
    ]
    confidence: Annotated[
        str | None,
        Field(description="validated by the owner, raw (unconfirmed), or null: no insight."),
    ]
    source: str | None
    project: str | None
    tags: tuple[str, ...]
    date: str | None
    score: float
    bm25_rank: int | None
    vector_rank: int | None
    superseded_by: Annotated[
        str | None, Field(description="What replaced it since: read that first.")
    ] = None


def found(hit: Hit) -> Found:
    """Return `hit` as a caller sees it."""
    return Found(
        path=f"{hit.scope.value}/{hit.path}",
        chunk_id=hit.chunk_id,
        title=clip(hit.title, _MAX_TITLE),
        heading=clip(hit.heading, _MAX_TITLE),
        summary=clip(hit.summary, _MAX_SUMMARY),
        kind=hit.kind,
        confidence=hit.confidence,
        source=hit.source,
        project=hit.project,
        tags=hit.tags,
        date=isoformat(hit.date) if hit.date else None,
        score=round(hit.score, 6),
        bm25_rank=hit.bm25_rank,
        vector_rank=hit.vector_rank,
        superseded_by=f"{hit.scope.value}/{hit.superseded_by}" if hit.superseded_by else None,
    )


def clip(text: str, most: int) -> str:
    """Return `text` on one line, at most `most` characters, cut with an ellipsis."""
    line = _BREAKS.sub(" ", text[: 4 * most]).strip()
    return line if len(line) <= most else line[: most - 1] + "…"

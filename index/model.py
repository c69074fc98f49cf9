"""What goes into a search and what comes out: the words shared by the index and its callers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from context_engine.insights import Confidence, Kind
from context_engine.scopes import Scope

DEFAULT_LIMIT = 10
MAX_QUERY_CHARACTERS = 4_000
"""A longer query is cut to this; the rest cannot change what is found."""


@dataclass(frozen=True)
class Filters:
    """Conditions that every hit fulfils; an empty field does not constrain.

    One of the kinds, one of the source types, but every one of the people and of the tags.
    """

    kinds: tuple[Kind, ...] = ()
    source_types: tuple[str, ...] = ()
    """`claude`, `slack`, …: where the text came from."""
    project: str | None = None
    people: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    confidence: Confidence | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True)
class SearchRequest:
    """One question."""

    text: str
    limit: int = DEFAULT_LIMIT
    filters: Filters = Filters()
    explain: bool = False


@dataclass(frozen=True)
class Hit:
    """One chunk found, without its body. Ranks are 1-based, None where an engine missed it."""

    chunk_id: str
    """16 hex digits, stable over rebuilds of the same vault."""
    scope: Scope
    path: str
    """Relative to the vault of `scope`."""
    title: str
    heading: str
    summary: str
    kind: Kind | None
    """None for source notes."""
    confidence: Confidence | None
    source: str | None
    project: str | None
    tags: tuple[str, ...]
    date: datetime | None
    score: float
    bm25_rank: int | None
    vector_rank: int | None
    superseded_by: str | None = None
    """What replaced it: a file of the same vault, with `#` and a heading for a section."""
    explanation: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SearchResult:
    """Hits, best first, and what there is to say about them."""

    hits: tuple[Hit, ...]
    search_ms: float
    warnings: tuple[str, ...] = ()
    """For instance that vectors were left out because the model changed."""


@dataclass(frozen=True)
class ScopeStats:
    """The state of one index file."""

    scope: Scope
    notes: int
    chunks: int
    embedded: int
    """Chunks that have a vector; the rest is found by keyword until it has."""
    quarantined: int
    """Chunks whose embedding crashed or failed three times."""
    model: str
    size_bytes: int

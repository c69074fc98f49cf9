"""Looking: what waits for a person, and what resembles it. Changes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice

from api.operations.base import Search
from api.review.journal import read_records
from api.review.model import Batch, Item, Page, Similar, Summary
from api.review.scan import item_at, items_of
from context_engine.home import Home
from context_engine.insights import Confidence, Kind
from context_engine.scopes import Scope
from index.model import SearchRequest

SIMILAR = 3
_CANDIDATES = 12
_COMPARED = 500
"""Characters of an insight that are looked for."""
_EVER = datetime.min.replace(tzinfo=UTC)
_WEEK = timedelta(days=7)


def pending(
    home: Home,
    *,
    scopes: Sequence[Scope] = tuple(Scope),
    kinds: Sequence[Kind] = tuple(Kind),
    project: str | None = None,
    limit: int = 50,
    offset: int = 0,
) -> Page:
    """Return the raw insights, newest first. Notes that cannot be read are passed over."""
    found = [
        item
        for item in _raw(home, scopes)
        if item.kind in kinds and (project is None or item.project == project)
    ]
    found.sort(key=lambda item: (item.created or _EVER, item.insight_id), reverse=True)
    return Page(tuple(found[offset : offset + limit]), len(found))


def find(home: Home, insight_id: str) -> Item | None:
    """Return one insight, raw or validated, from whichever vault holds it; None when none does."""
    return item_at(home, insight_id)


def similar(index: Search, item: Item, limit: int = SIMILAR) -> tuple[Similar, ...]:
    """Return what resembles `item` among what its scope reads, best first, itself left out.

    Raises IndexCorruptError.
    """
    text = f"{item.title} {item.content[:_COMPARED]}"
    hits = index.search(item.scope, SearchRequest(text, limit=_CANDIDATES)).hits
    others = (
        Similar(
            f"{hit.scope.value}/{hit.path}",
            hit.heading if hit.path == item.path else hit.title,
            hit.summary,
            hit.kind,
            hit.confidence,
            round(hit.score, 6),
        )
        for hit in hits
        if (hit.scope, hit.path) != (item.scope, item.path)
        or (item.subject is not None and hit.heading != item.title)
    )
    return tuple(islice(others, limit))


def summary(home: Home, now: datetime, scopes: Sequence[Scope] = tuple(Scope)) -> Summary:
    """Return how much waits in `scopes`, and what was decided in the seven days before `now`.

    The journal of decisions is one for all vaults, and so are the numbers of what was decided.
    """
    waiting = _raw(home, scopes)
    dates = [item.created for item in waiting if item.created]
    recent = [
        record.batch
        for record in read_records(home)
        if record.batch.at >= now - _WEEK and not record.batch.undone
    ]
    decided: Counter[str] = Counter()
    for batch in recent:
        decided[batch.action] += len(batch.insights)
    return Summary(
        waiting=len(waiting),
        by_scope=dict(Counter(item.scope.value for item in waiting)),
        by_kind=dict(Counter(item.kind.value for item in waiting)),
        said_this_week=sum(date >= now - _WEEK for date in dates),
        oldest=min(dates, default=None),
        claims_validated=sum(item.claims_validated for item in waiting),
        for_identity=sum(item.for_identity for item in waiting),
        decided_this_week=dict(decided),
    )


def batches(home: Home, limit: int = 20) -> tuple[Batch, ...]:
    """Return the latest decisions, newest first."""
    return tuple(record.batch for record in islice(read_records(home), limit))


def _raw(home: Home, scopes: Sequence[Scope]) -> list[Item]:
    return [
        item
        for scope in scopes
        for item in items_of(home, scope)
        if item.confidence is Confidence.RAW
    ]

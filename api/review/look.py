"""Looking: what waits for a person, and what resembles it. Changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from api.operations.base import Search
from api.review.model import Batch, Item, Page, Similar, Summary
from context_engine.home import Home
from context_engine.insights import Kind
from context_engine.scopes import Scope

SIMILAR = 3


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
    raise NotImplementedError


def find(home: Home, insight_id: str) -> Item | None:
    """Return one insight, raw or validated, from whichever vault holds it; None when none does."""
    raise NotImplementedError


def similar(index: Search, item: Item, limit: int = SIMILAR) -> tuple[Similar, ...]:
    """Return what resembles `item` among what its scope reads, best first, itself left out.

    Raises IndexCorruptError.
    """
    raise NotImplementedError


def summary(home: Home, now: datetime) -> Summary:
    """Return how much waits, and what was decided in the seven days before `now`."""
    raise NotImplementedError


def batches(home: Home, limit: int = 20) -> tuple[Batch, ...]:
    """Return the latest decisions, newest first."""
    raise NotImplementedError

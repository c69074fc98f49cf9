"""How much a note's age counts: by kind, bounded, and only between near-equals."""

from __future__ import annotations

from collections.abc import Mapping

from context_engine.insights import Kind

WEIGHT = 0.15
"""The most that freshness adds, on the scale where the vector list's range is 1."""

HALF_LIFE_DAYS: Mapping[Kind, float] = {
    Kind.PROJECT: 30.0,
    Kind.DECISION: 180.0,
    Kind.PERSON: 365.0,
    Kind.LEARNING: 730.0,
}
"""A project's state ages fast, a decision slowly. Values and what was said do not age."""

_DAY = 86_400.0


def freshness(kind: str | None, verified: float | None, now: float) -> float:
    """Return what a note's age adds to its score, 0 to WEIGHT.

    verified: when it was last found to be true, in seconds since 1970; None for unknown.
    What does not age gets the same as what is new, so that it never loses to it. Age is counted
    in whole days of the calendar, so that one day gives one answer.
    """
    half_life = HALF_LIFE_DAYS.get(Kind(kind)) if kind else None
    if half_life is None:
        return WEIGHT
    if verified is None:
        return 0.0
    age_days = max(0.0, now // _DAY - verified // _DAY)
    return float(WEIGHT * 0.5 ** (age_days / half_life))

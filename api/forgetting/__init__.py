"""Forgetting for good: what would go, the going itself, and going on after a kill."""

from __future__ import annotations

from api.forgetting.history import history_advice
from api.forgetting.plan import Plan, plan_event, plan_insight, plan_note
from api.forgetting.steps import carry_out, finish_interrupted

__all__ = [
    "Plan",
    "carry_out",
    "finish_interrupted",
    "history_advice",
    "plan_event",
    "plan_insight",
    "plan_note",
]

"""The insights of one extraction, brought into the vault one by one, and what became of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from context_engine.home import Home
from context_engine.insights import Insight
from vault.standing import Outcome
from workers.consolidation.candidates import Search
from workers.consolidation.consolidate import Consolidated, consolidate
from workers.consolidation.judge import Judge, nobody
from workers.consolidation.relation import Relation


@dataclass(frozen=True)
class Memory:
    """What new insights are held against. `search` None: what was saved lately, and exact words."""

    home: Home
    search: Search | None = None
    judge: Judge = nobody


@dataclass
class Intake:
    """What became of the insights: `kinds` that the vault holds now, `counts` by name."""

    kinds: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    changed: dict[tuple[str, str], None] = field(default_factory=dict)
    """(scope, path) of the files written."""

    @property
    def rejected(self) -> int:
        """How many a person had turned down."""
        return self.counts["rejected"]

    def add(self, insight: Insight, saved: Consolidated) -> None:
        """Note what became of one insight."""
        if saved.outcome is Outcome.REJECTED:
            self.counts["rejected"] += 1
            return
        self.kinds[insight.kind.value] += 1
        self.changed.update(dict.fromkeys((insight.scope.value, path) for path in saved.changed))
        self.counts[_name(insight, saved)] += 1


def take_in(memory: Memory, insights: Sequence[Insight]) -> Intake:
    """Save the insights with regard to what is known; durable when it returns."""
    intake = Intake()
    for insight in insights:
        intake.add(insight, consolidate(memory.home, insight, memory.search, memory.judge))
    return intake


def _name(insight: Insight, saved: Consolidated) -> str:
    if saved.relation is Relation.DUPLICATE:
        return "again" if saved.insight_id == insight.insight_id else "merged"
    if saved.relation is Relation.SUPERSEDES:
        return "superseding"
    behind = any(item.relation == "superseded_by" for item in saved.resembled)
    return "already_superseded" if behind else "new"

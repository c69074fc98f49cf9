"""Precision, recall and trust of an extractor over labelled conversations.

An insight counts as right when its evidence and a gold quotation share at least half of the
shorter one. precision = right insights / insights; recall = gold quotations found / gold.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from context_engine.events import Utterance
from context_engine.insights import Confidence, Insight, Kind
from context_engine.scopes import Scope
from workers.extraction.build import ExtractionContext
from workers.extraction.evaluation.model import Conversation, Gold
from workers.extraction.extract import ExtractionResult
from workers.extraction.outcomes import Outcome
from workers.extraction.textmatch import Folded, fold

Extractor = Callable[[Sequence[Utterance], ExtractionContext], ExtractionResult]

_SHARED = 0.5
_BAD_JSON = (Outcome.BAD_JSON, Outcome.ECHOED_SCHEMA, Outcome.TRUNCATED, Outcome.REPETITION)
_WHEN = datetime(2026, 10, 1, 9, tzinfo=UTC)


@dataclass(frozen=True)
class Judged:
    """One conversation's result held against its labels."""

    conversation: Conversation
    insights: tuple[Insight, ...]
    matches: tuple[tuple[Insight, Gold], ...]
    """Every insight with each gold quotation that it meets."""
    forbidden: tuple[tuple[Insight, str], ...]
    """Insights that rest on a `must_not` quotation and on no gold one, and why."""
    outcomes: Counter[str]
    unsupported: int
    """Insights whose evidence does not occur in the conversation: a bug of the extractor."""
    seconds: float


@dataclass(frozen=True)
class Report:
    """All figures; rates are None when there was nothing to divide by."""

    judged: tuple[Judged, ...] = field(repr=False)

    def as_json(self) -> dict[str, Any]:
        """Return the figures under the names that the command prints."""
        return {
            "conversations": len(self.judged),
            **_figures(self.judged),
            "per_kind": {kind.value: _kind_figures(self.judged, kind) for kind in Kind},
            "per_language": {
                language: _figures([j for j in self.judged if j.conversation.language == language])
                for language in ("ja", "en")
            },
            "outcomes": {str(name): n for name, n in sorted(_outcomes(self.judged).items())},
        }


def evaluate(extractor: Extractor, conversations: Iterable[Conversation]) -> Report:
    """Run `extractor` over each conversation and judge what it returns."""
    return Report(tuple(_judge(extractor, conversation) for conversation in conversations))


def _judge(extractor: Extractor, conversation: Conversation) -> Judged:
    messages = conversation.utterances()
    context = ExtractionContext(
        scope=Scope.PERSONAL, source=conversation.source, extracted_at=_WHEN
    )
    started = time.perf_counter()
    result = extractor(messages, context)
    seconds = time.perf_counter() - started
    texts = [fold(message.text) for message in messages]
    matches = tuple(
        (insight, gold)
        for insight in result.insights
        for gold in conversation.gold
        if _meet(insight.evidence, gold.quote, texts)
    )
    right = {id(insight) for insight, _ in matches}
    return Judged(
        conversation=conversation,
        insights=result.insights,
        matches=matches,
        forbidden=tuple(
            (insight, item.why)
            for insight in result.insights
            for item in conversation.must_not
            if id(insight) not in right and _meet(insight.evidence, item.quote, texts)
        ),
        outcomes=Counter(result.outcomes),
        unsupported=sum(not _spans(insight.evidence, texts) for insight in result.insights),
        seconds=seconds,
    )


def _spans(quote: str, texts: Sequence[Folded]) -> list[tuple[int, int, int]]:
    """Return (message, start, end) of every message that holds `quote`."""
    found = ((number, text.find(quote)) for number, text in enumerate(texts))
    return [(number, *span) for number, span in found if span is not None]


def _meet(evidence: str, quote: str, texts: Sequence[Folded]) -> bool:
    return any(
        one[0] == two[0]
        and min(one[2], two[2]) - max(one[1], two[1])
        >= _SHARED * min(one[2] - one[1], two[2] - two[1])
        for one in _spans(evidence, texts)
        for two in _spans(quote, texts)
    )


def _rate(part: int, whole: int) -> float | None:
    return round(part / whole, 3) if whole else None


def _figures(judged: Sequence[Judged]) -> dict[str, Any]:
    insights = sum(len(j.insights) for j in judged)
    gold = sum(len(j.conversation.gold) for j in judged)
    right = sum(len({id(insight) for insight, _ in j.matches}) for j in judged)
    best = [pair for j in judged for pair in _best(j)]
    outcomes = _outcomes(judged)
    unverified = outcomes[Outcome.UNVERIFIED_QUOTE] + sum(j.unsupported for j in judged)
    proposed = outcomes[Outcome.ACCEPTED] + unverified
    return {
        "precision": _rate(right, insights),
        "recall": _rate(len(best), gold),
        "kind_accuracy": _rate(sum(i.kind is g.kind for i, g in best), len(best)),
        "confidence_accuracy": _rate(sum(i.confidence is g.confidence for i, g in best), len(best)),
        "unverified": _rate(unverified, proposed) or 0.0,
        "insights": insights,
        "gold": gold,
        "forbidden": sum(len({id(insight) for insight, _ in j.forbidden}) for j in judged),
        "above_raw": sum(_above_raw(j) for j in judged),
        "json_failures": sum(outcomes[outcome] for outcome in _BAD_JSON),
        "seconds_per_conversation": round(sum(j.seconds for j in judged) / max(1, len(judged)), 4),
    }


def _best(judged: Judged) -> list[tuple[Insight, Gold]]:
    """Pair each gold quotation that was found with one insight, of its own kind if there is one."""
    pairs: list[tuple[Insight, Gold]] = []
    for gold in judged.conversation.gold:
        met = [insight for insight, matched in judged.matches if matched is gold]
        if met:
            pairs.append((max(met, key=lambda insight: insight.kind is gold.kind), gold))
    return pairs


def _above_raw(judged: Judged) -> int:
    """Count validated insights that rest on hearsay or on a forbidden quotation."""
    suspects = [insight for insight, _ in judged.forbidden]
    suspects += [insight for insight, gold in judged.matches if gold.hearsay]
    above = {id(i) for i in suspects if i.confidence is not Confidence.RAW}
    return len(above)


def _kind_figures(judged: Sequence[Judged], kind: Kind) -> dict[str, Any]:
    """Precision of the insights given this kind (kind must fit too), recall of its gold."""
    given = [(j, i) for j in judged for i in j.insights if i.kind is kind]
    right = sum(any(i is m and g.kind is kind for m, g in j.matches) for j, i in given)
    gold = [(j, g) for j in judged for g in j.conversation.gold if g.kind is kind]
    found = sum(any(g is m and i.kind is kind for i, m in j.matches) for j, g in gold)
    return {
        "precision": _rate(right, len(given)),
        "recall": _rate(found, len(gold)),
        "insights": len(given),
        "gold": len(gold),
    }


def _outcomes(judged: Sequence[Judged]) -> Counter[str]:
    total: Counter[str] = Counter()
    for j in judged:
        total.update(j.outcomes)
    return total

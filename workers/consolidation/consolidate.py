"""Saving an insight with regard to those known: merged, replacing, or beside them.

The one way into the vault for what is distilled and for what clients save. Nothing is erased: a
repetition becomes further evidence, what is replaced stays and says by what.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from context_engine.home import Home
from context_engine.insights import Confidence, Insight
from index.schema import locked
from vault.insights import SaveResult, save_insight
from vault.standing import PROVISIONAL, Outcome
from vault.succession import (
    Known,
    add_evidence,
    find_insight,
    mark_successor,
    mark_superseded,
    read_insights,
)
from vault.tombstones import tombstones
from workers.consolidation.candidates import (
    Search,
    about_one_thing,
    candidates,
    in_sections,
    known_like,
    same_words,
)
from workers.consolidation.facts import Facts, facts_of
from workers.consolidation.judge import Judge, nobody
from workers.consolidation.recent import Recent, recent_of
from workers.consolidation.relation import Relation, likeness, relate
from workers.extraction.verify import HEARSAY_TAGS

_REPLACED_AT_ONCE = 3
_ASKED_AT_ONCE = 2
_RESEMBLES = 0.35
_SHOWN = 5


@dataclass(frozen=True)
class Resembling:
    """A known insight that a new one resembles. `similarity`: 0 to 1, of their words."""

    path: str
    insight_id: str
    title: str
    similarity: float
    relation: str
    """duplicate, supersedes (the new replaces it), superseded_by (it replaces the new),
    contradicts (it would, but the known one counts for more), or separate."""


@dataclass(frozen=True)
class Consolidated:
    """Where an insight went; `path` is empty when a person had turned it down.

    `changed` are all files written, `path` among them.
    """

    path: str
    insight_id: str
    outcome: Outcome
    relation: Relation
    resembled: tuple[Resembling, ...]
    changed: tuple[str, ...]


@dataclass(frozen=True)
class _Compared:
    known: Known
    facts: Facts
    relation: Relation
    newer: bool
    """Whether the new insight was said later."""
    similarity: float


def consolidate(
    home: Home,
    insight: Insight,
    search: Search | None = None,
    judge: Judge = nobody,
) -> Consolidated:
    """Save one insight with regard to what is known; durable when it returns.

    `judge` is asked about what the rules keep apart. Raises like `vault.insights.save_insight`.
    """
    if tombstones(home).covers(insight):
        return Consolidated("", insight.insight_id, Outcome.REJECTED, Relation.SEPARATE, (), ())
    found = known_like(insight, search)
    facts = facts_of(insight.content)
    # a model's seconds must not hold the lock: it is asked about what the index knows
    opinions = _opinions(home, insight, facts, found, judge)
    with _alone(home, insight) as recent:
        known = candidates(home, insight, found, recent)
        same = same_words(home, insight, known)
        others = tuple(it for it in known if it.holds and it.insight_id != insight.insight_id)
        compared = _compare(insight, facts, others, opinions)
        saved = _said_again(home, insight, same) if same else None
        result = saved or _save(home, insight, compared)
        recent.add(insight, result.path)
    return result


@contextmanager
def _alone(home: Home, insight: Insight) -> Iterator[Recent]:
    """Keep two processes from saving one statement twice."""
    home.locks.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = home.locks / f"consolidate-{insight.scope.value}-{insight.kind.value}.lock"
    with locked(path, fcntl.LOCK_EX):
        yield recent_of(home)


def _opinions(
    home: Home, insight: Insight, facts: Facts, found: tuple[str, ...], judge: Judge
) -> dict[str, Relation]:
    if judge is nobody:
        return {}
    known = [item for path in found for item in read_insights(home, insight.scope, path)]
    compared = _compare(insight, facts, tuple(known), {})
    if any(item.relation is not Relation.SEPARATE for item in compared):
        # the rules know already
        return {}
    asked = [item for item in compared if about_one_thing(insight, item.known)][:_ASKED_AT_ONCE]
    return {item.known.insight_id: judge(facts, item.facts) for item in asked}


def _compare(
    insight: Insight, facts: Facts, known: tuple[Known, ...], opinions: dict[str, Relation]
) -> list[_Compared]:
    compared = []
    for item in known:
        theirs = facts_of(item.content)
        newer = item.created is None or insight.created >= item.created
        relation = Relation.SEPARATE
        if about_one_thing(insight, item):
            pair = (facts, theirs) if newer else (theirs, facts)
            relation = relate(*pair, insight.kind)
            if relation is Relation.SEPARATE and newer:
                relation = opinions.get(item.insight_id, relation)
        compared.append(_Compared(item, theirs, relation, newer, likeness(facts, theirs)))
    order = (Relation.DUPLICATE, Relation.SUPERSEDES, Relation.SEPARATE)
    return sorted(compared, key=lambda it: (order.index(it.relation), -it.similarity))


# --- said again ---


def _said_again(home: Home, insight: Insight, same: Known) -> Consolidated:
    """Save what is known in the same words: from the same event, or as further evidence."""
    saved = save_insight(home, insight)
    changed = [saved.path]
    outcome = saved.outcome
    if outcome is Outcome.UNCHANGED and insight.event_id and add_evidence(home, same, insight):
        outcome = Outcome.UPDATED
    changed += _come_back(home, insight, same)
    return _result(saved, outcome, Relation.DUPLICATE, (), changed)


def _merge(home: Home, insight: Insight, same: _Compared, all_: list[_Compared]) -> Consolidated:
    known = same.known
    added = add_evidence(home, known, insight)
    changed = [known.path, *_come_back(home, insight, known)]
    outcome = Outcome.UPDATED if added else Outcome.UNCHANGED
    if not known.ours:
        outcome = Outcome.KEPT
    saved = SaveResult(known.path, known.insight_id, outcome)
    return _result(saved, outcome, Relation.DUPLICATE, _resembled(insight, all_), changed)


def _come_back(home: Home, insight: Insight, known: Known) -> list[str]:
    """Let a replaced insight hold again that is said after its replacement."""
    if known.superseded_by is None:
        return []
    successor = _at(home, known, known.superseded_by)
    if successor is None:
        mark_superseded(home, known, None)
        return [known.path]
    later = successor.created is not None and insight.created > successor.created
    if not later or not _may_replace(insight, successor):
        return []
    mark_superseded(home, known, None)
    mark_superseded(home, successor, known.place)
    return [known.path, successor.path]


def _at(home: Home, known: Known, place: str) -> Known | None:
    """Return the insight that `superseded_by` names, found by its id when its file moved."""
    if "/" not in place:
        beside = read_insights(home, known.scope, known.path)
        return next((item for item in beside if item.insight_id == place), None)
    there = next(iter(read_insights(home, known.scope, place)), None)
    named = place.removesuffix(".md").rpartition("-")[2]
    return there or find_insight(home, known.scope, known.kind, named)


# --- replacing, or beside ---


def _save(home: Home, insight: Insight, compared: list[_Compared]) -> Consolidated:
    repeated = [item for item in compared if item.relation is Relation.DUPLICATE]
    for item in repeated:
        if not _counts_for_more(insight, item.known):
            return _merge(home, insight, item, compared)
    replaced = [item for item in compared if _replaced_by(insight, item)][:_REPLACED_AT_ONCE]
    if replaced:
        insight = replace(insight, supersedes=replaced[0].known.insight_id)
    saved = save_insight(home, insight)
    changed = [saved.path]
    place = insight.insight_id if in_sections(insight) else saved.path
    changed += [it.known.path for it in replaced if mark_superseded(home, it.known, place)]
    changed += _behind(home, insight, saved, compared)
    relation = Relation.SUPERSEDES if replaced else Relation.SEPARATE
    return _result(saved, saved.outcome, relation, _resembled(insight, compared), changed)


def _behind(
    home: Home, insight: Insight, saved: SaveResult, compared: list[_Compared]
) -> list[str]:
    """Mark an insight that was said before what replaced it: an old conversation comes late."""
    successor = next(
        (it.known for it in compared if it.relation is Relation.SUPERSEDES and not it.newer), None
    )
    if successor is None or _standing(successor) < _standing_of(insight):
        return []
    own = next(
        (it for it in read_insights(home, insight.scope, saved.path)
         if it.insight_id == saved.insight_id), None
    )  # fmt: skip
    if own is None:
        return []
    mark_superseded(home, own, successor.place)
    mark_successor(home, successor, own.insight_id)
    return [successor.path]


def _replaced_by(insight: Insight, item: _Compared) -> bool:
    if item.relation is Relation.DUPLICATE:
        return _counts_for_more(insight, item.known) and item.known.ours
    replaces = item.relation is Relation.SUPERSEDES and item.newer
    return replaces and item.known.superseded_by is None and _may_replace(insight, item.known)


def _may_replace(insight: Insight, known: Known) -> bool:
    """Tell whether it counts for enough: hearsay replaces no statement, raw nothing validated."""
    return known.ours and _standing_of(insight) >= _standing(known)


def _counts_for_more(insight: Insight, known: Known) -> bool:
    """Tell whether the same statement is better kept from `insight` than merged into `known`."""
    if not known.ours:
        return False
    provisional = known.extractor in PROVISIONAL and insight.extractor not in PROVISIONAL
    return provisional or _standing_of(insight) > _standing(known)


def _standing_of(insight: Insight) -> int:
    return _rank(insight.confidence, insight.tags)


def _standing(known: Known) -> int:
    return _rank(known.confidence, known.tags)


def _rank(confidence: Confidence, tags: tuple[str, ...]) -> int:
    if confidence is Confidence.VALIDATED:
        return 2
    return 0 if set(HEARSAY_TAGS) & set(tags) else 1


# --- what is said of it ---


def _resembled(insight: Insight, compared: list[_Compared]) -> tuple[Resembling, ...]:
    near = [
        item
        for item in compared
        if item.relation is not Relation.SEPARATE or item.similarity >= _RESEMBLES
    ]
    return tuple(
        Resembling(
            path=item.known.path,
            insight_id=item.known.insight_id,
            title=item.known.title,
            similarity=round(item.similarity, 3),
            relation=_called(insight, item),
        )
        for item in near[:_SHOWN]
    )


def _called(insight: Insight, item: _Compared) -> str:
    if item.relation is not Relation.SUPERSEDES:
        return item.relation.value
    if not item.newer:
        return "superseded_by"
    return "supersedes" if _may_replace(insight, item.known) else "contradicts"


def _result(
    saved: SaveResult,
    outcome: Outcome,
    relation: Relation,
    resembled: tuple[Resembling, ...],
    changed: list[str],
) -> Consolidated:
    return Consolidated(
        path=saved.path,
        insight_id=saved.insight_id,
        outcome=outcome,
        relation=relation,
        resembled=resembled,
        changed=tuple(dict.fromkeys(changed)),
    )

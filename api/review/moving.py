"""Another kind or another scope: written where it belongs, then taken from where it was.

What leads back into a vault that the new readers may not read is left behind.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from api.review.changing import Decision, refused
from api.review.model import Done, Item, Result
from api.review.scan import item_at
from context_engine.clock import parse_utc
from context_engine.errors import NotFoundError
from context_engine.insights import Confidence, Insight, Kind
from context_engine.scopes import Scope
from vault.insights import save_insight
from vault.layout import SECTION_KINDS
from vault.notefile import text_in
from vault.notes import read_note
from vault.paths import vault_root
from vault.rulings import Ruling, drop_section, rule_note, rule_section
from vault.standing import Outcome
from vault.store import read_or_none
from vault.subjects import find_subject, subject_name


@dataclass(frozen=True)
class Target:
    """Where insights are to go. None: as it is."""

    kind: Kind | None
    scope: Scope | None
    subject: str | None
    widen: bool


def move(decision: Decision, item: Item, *, target: Target) -> Done:
    """Move one insight, as a decision on it."""
    insight = _moved(decision, item, target)
    problem = _problem(item, insight, target)
    if problem:
        return refused(item, problem)
    if insight.insight_id == item.insight_id and target.subject is None:
        return Done(item.insight_id, item.insight_id, Result.UNCHANGED, item.place)
    before = _before(decision, insight)
    saved = save_insight(decision.desk.home, insight)
    if saved.outcome is not Outcome.CREATED:
        return refused(item, f"there it is {saved.outcome.value} already ({saved.path or '-'})")
    new = item_at(decision.desk.home, insight.insight_id)
    if new is None:
        raise NotFoundError(f"{saved.path} is gone")
    _record(decision, new, before)
    _rule_as(decision, new, item)
    _leave(decision, item)
    return Done(item.insight_id, new.insight_id, Result.DONE, new.place)


def widens(old: Scope, new: Scope) -> bool:
    """Return whether readers see it there who did not see it before."""
    return new is not old and old is not Scope.PUBLIC


def _problem(item: Item, insight: Insight, target: Target) -> str | None:
    if widens(item.scope, insight.scope) and not target.widen:
        return (
            f"{insight.scope.value} has other readers than {item.scope.value}; "
            "say that this is meant (--widen)"
        )
    if insight.kind in SECTION_KINDS and not insight.subject:
        return f"kind {insight.kind.value} needs a subject: whom or what it is about"
    return None


def _moved(decision: Decision, item: Item, target: Target) -> Insight:
    scope, kind = target.scope or item.scope, target.kind or item.kind
    stays = scope is item.scope
    front = {} if item.subject is not None else _front(decision, item)
    verified = text_in(front, "verified")
    insight = Insight(
        scope=scope,
        kind=kind,
        title=item.title,
        content=item.content,
        confidence=Confidence.RAW,
        evidence=item.evidence,
        source=item.source or "review",
        source_path=item.source_path if stays else None,
        event_id=text_in(front, "event") if stays else None,
        utterance=item.utterance if stays else None,
        extractor=item.extractor or decision.desk.by,
        created=item.created or decision.now,
        project=item.project,
        subject=_subject(item, kind, target),
        people=item.people,
        tags=item.tags,
    )
    with suppress(ValueError):
        return replace(insight, verified=parse_utc(verified)) if verified else insight
    return insight


def _front(decision: Decision, item: Item) -> dict[str, object]:
    return dict(read_note(decision.desk.home, item.scope, item.path).front)


def _subject(item: Item, kind: Kind, target: Target) -> str | None:
    if target.subject is not None:
        return target.subject
    if kind is Kind.PROJECT:
        return item.project
    if kind is Kind.PERSON:
        return item.people[0] if item.people else None
    return None


def _before(decision: Decision, insight: Insight) -> bytes | None:
    """Return what the subject's note held before; an insight's own note is new."""
    root = vault_root(decision.desk.home, insight.scope)
    if insight.kind not in SECTION_KINDS:
        return None
    seen = read_or_none(root, find_subject(root, insight.kind, subject_name(insight)))
    return seen.data if seen else None


def _record(decision: Decision, new: Item, before: bytes | None) -> None:
    seen = read_or_none(vault_root(decision.desk.home, new.scope), new.path)
    after = seen.data if seen else None
    decision.journal.change(new.scope, new.path, before, after, new.insight_id)


def _rule_as(decision: Decision, new: Item, old: Item) -> None:
    """Make it a person's, as validated as it was."""
    rule = rule_note if new.subject is None else rule_section
    ruling = Ruling(decision.vouch, old.confidence)
    at = decision.at(new)
    decision.change(new, lambda note: rule(at, note, ruling))


def _leave(decision: Decision, item: Item) -> None:
    # by its id alone: its evidence is still good where it went
    decision.bury(item, [("insight", item.insight_id)])
    if item.subject is None:
        decision.change(item, lambda _: None)
    else:
        decision.change(item, partial(drop_section, decision.at(item)))

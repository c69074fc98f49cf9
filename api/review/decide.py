"""Deciding: accept, edit, merge, reject, change kind or scope, undo. A person's alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from api.review.changing import Decision, decide, finished, refused, reviewing, write_back
from api.review.identity import append_item, follow_identity
from api.review.journal import Record, mark_undone, read_record, read_records
from api.review.model import Choice, Desk, Done, Edit, Item, Report, Result
from api.review.moving import Target, move
from api.review.scan import item_at
from context_engine.errors import UsageError
from context_engine.insights import Confidence, Kind
from context_engine.scopes import Scope
from vault.layout import IDENTITY
from vault.notefile import NoteText
from vault.rulings import Ruling, drop_section, rule_note, rule_section
from vault.tombstones import insight_graves, unbury


def accept(desk: Desk, choices: Sequence[Choice]) -> Report:
    """Make insights `validated`, sealed with their content, the reviewer and the time.

    REFUSED for one that its source deleted.
    """
    return decide(desk, "accept", choices, _accept)


def edit(desk: Desk, choice: Choice, changes: Edit, *, accepted: bool = False) -> Report:
    """Change what an insight says; raw until it is accepted, at once with `accepted`."""
    if changes.title is not None and not changes.title.strip():
        raise UsageError("a title must say something")
    if changes.content is not None and not changes.content.strip():
        raise UsageError("an insight must say something; reject it instead")
    return decide(desk, "edit", (choice,), partial(_edit, changes=changes, accepted=accepted))


def merge(desk: Desk, choices: Sequence[Choice], into: str) -> Report:
    """Take the evidence of `choices` into the insight `into`, and take them out.

    REFUSED for one of another scope.
    """
    return decide(desk, "merge", choices, partial(_merge, into=into))


def reject(desk: Desk, choices: Sequence[Choice]) -> Report:
    """Take insights out; neither their words nor their evidence come back by extraction."""
    return decide(desk, "reject", choices, _reject)


def set_place(
    desk: Desk,
    choices: Sequence[Choice],
    *,
    kind: Kind | None = None,
    scope: Scope | None = None,
    subject: str | None = None,
    widen: bool = False,
) -> Report:
    """Move insights to another kind or scope; each gets a new id.

    `subject`: whom or what it is about, for kinds `person` and `project` (default: what it names).
    A scope that other readers see is REFUSED unless `widen` says that a person confirmed it. What
    leads back into the old vault (source link, event, refs) is left behind.
    """
    if kind is None and scope is None:
        raise UsageError("give a kind or a scope to change to")
    target = Target(kind, scope, subject, widen=widen)
    return decide(desk, "set", choices, partial(move, target=target))


def reseal(desk: Desk, choices: Sequence[Choice]) -> Report:
    """Seal insights that say `validated` without a valid seal, as a person confirms they are."""
    return decide(desk, "reseal", choices, _reseal)


def add_to_identity(desk: Desk, choice: Choice, visibility: Scope = Scope.PERSONAL) -> Report:
    """Append what an insight says to `identity/canonical.md`, seen as far as `visibility`.

    The insight is accepted with it.
    """
    return decide(desk, "identity", (choice,), partial(_to_identity, visibility=visibility))


def undo(desk: Desk, batch: str | None = None) -> Report:
    """Take a decision back, the latest by default. A note that changed since stays (CHANGED).

    Raises UsageError when there is no such decision.
    """
    with reviewing(desk):
        record = read_record(desk.home, batch) if batch else _latest(desk)
        if record.batch.undone:
            raise UsageError(f"decision {record.batch.batch} is undone already")
        # the last change first, as a file may have changed twice
        done = [_put_back(desk, record, number) for number in reversed(range(len(record.changes)))]
        if all(one.result is Result.DONE for one in done):
            unbury(desk.home, record.graves, desk.clock.now())
            mark_undone(desk.home, record.batch.batch, desk.clock.now())
        if any(change.path == IDENTITY for change in record.changes):
            follow_identity(desk)
        return Report("undo", record.batch.batch, tuple(done))


def _latest(desk: Desk) -> Record:
    found = next((record for record in read_records(desk.home) if not record.batch.undone), None)
    if found is None:
        raise UsageError("there is no decision to undo")
    return found


def _put_back(desk: Desk, record: Record, number: int) -> Done:
    change = record.changes[number]
    insight = change.insight
    back = write_back(desk, change.scope, change.path, change.after, change.before)
    reason = None if back else "it changed since; what it says now is kept"
    result = Result.DONE if back else Result.CHANGED
    return Done(insight, insight, result, f"{change.scope.value}/{change.path}", reason)


def _accept(decision: Decision, item: Item) -> Done:
    if item.withdrawn:
        return refused(item, "its source deleted it; edit it to make it your own, or reject it")
    if item.confidence is Confidence.VALIDATED and item.reviewed:
        return Done(item.insight_id, item.insight_id, Result.UNCHANGED, item.place)
    _rule(decision, item, Ruling(decision.vouch, Confidence.VALIDATED))
    return finished(item)


def _reseal(decision: Decision, item: Item) -> Done:
    if not item.claims_validated:
        return refused(item, "it does not say validated; accept it instead")
    return _accept(decision, item)


def _edit(decision: Decision, item: Item, *, changes: Edit, accepted: bool) -> Done:
    if changes.project is not None and item.subject is not None:
        return refused(item, "its note says which project it belongs to; use set --subject")
    ruling = Ruling(
        decision.vouch,
        Confidence.VALIDATED if accepted else Confidence.RAW,
        title=changes.title,
        content=changes.content,
        project=changes.project,
        people=changes.people,
        tags=changes.tags,
    )
    _rule(decision, item, ruling)
    return finished(item)


def _merge(decision: Decision, item: Item, *, into: str) -> Done:
    target = item_at(decision.desk.home, into)
    if target is None:
        return refused(item, f"there is no insight {into!a} to merge into")
    if target.insight_id == item.insight_id:
        return refused(item, "it cannot be merged into itself")
    if target.scope is not item.scope:
        return refused(item, "insights of two scopes are never merged")
    quote = item.evidence or item.content
    confidence = target.confidence
    _rule(decision, target, Ruling(decision.vouch, confidence, further_evidence=(quote,)))
    _take_out(decision, item)
    return Done(item.insight_id, target.insight_id, Result.DONE, target.place)


def _reject(decision: Decision, item: Item) -> Done:
    _take_out(decision, item)
    return finished(item)


def _take_out(decision: Decision, item: Item) -> None:
    graves = insight_graves(item.scope, item.insight_id, item.evidence or item.content)
    decision.bury(item, graves)
    if item.subject is None:
        decision.change(item, lambda _: None)
    else:
        decision.change(item, partial(drop_section, decision.at(item)))


def _to_identity(decision: Decision, item: Item, *, visibility: Scope) -> Done:
    append_item(decision, item, visibility)
    accepted = _accept(decision, item)
    return replace(accepted, result=Result.DONE)


def _rule(decision: Decision, item: Item, ruling: Ruling) -> None:
    rule = rule_note if item.subject is None else rule_section
    at = decision.at(item)

    def change(note: NoteText) -> str:
        return rule(at, note, ruling)

    decision.change(item, change)

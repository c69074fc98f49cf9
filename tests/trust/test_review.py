"""A person decides, in bulk, once, and can take it back."""

from __future__ import annotations

import inspect
import multiprocessing
from datetime import timedelta
from typing import Any

import pytest

from api.operations.registry import OPERATIONS
from api.review import (
    Choice,
    Desk,
    Edit,
    Item,
    Report,
    Result,
    accept,
    add_to_identity,
    edit,
    find,
    merge,
    pending,
    reject,
    reseal,
    set_place,
    summary,
    undo,
)
from context_engine.clock import ManualClock
from context_engine.errors import UsageError
from context_engine.home import Home
from context_engine.insights import Confidence, Kind
from context_engine.scopes import Scope
from support.vaults import START, insight
from vault.identity import create_identity, identity_card
from vault.insights import remove_provisional, save_insight
from vault.layout import PROFILE
from vault.locks import note_lock
from vault.standing import Outcome
from vault.store import clean_leftovers, write
from workers.housekeeping import follow_identity, is_identity

KINDS = pytest.mark.parametrize("kind", list(Kind))
SUBJECTS = {Kind.PROJECT: "shop", Kind.PERSON: "田中さん"}
VALIDATED, RAW = Confidence.VALIDATED, Confidence.RAW


@pytest.fixture
def desk(home: Home) -> Desk:
    return Desk(home, clock=ManualClock(START + timedelta(days=1)))


def save(home: Home, kind: Kind = Kind.DECISION, **more: Any) -> Item:
    saved = save_insight(home, insight(kind=kind, subject=SUBJECTS.get(kind), **more))
    item = find(home, saved.insight_id)
    assert item is not None
    return item


def again(home: Home, item: Item) -> Item:
    found = find(home, item.insight_id)
    assert found is not None
    return found


def chosen(*items: Item) -> list[Choice]:
    return [Choice(item.insight_id, item.content_hash) for item in items]


def results(report: Report) -> list[Result]:
    return [one.result for one in report.done]


def files(home: Home) -> dict[str, bytes]:
    return {
        str(path.relative_to(home.vaults)): path.read_bytes() for path in home.vaults.rglob("*.md")
    }


@KINDS
def test_what_is_raw_waits_with_its_evidence_and_is_validated_once_accepted(
    desk: Desk, kind: Kind
) -> None:
    item = save(desk.home, kind)
    (waiting,) = pending(desk.home).items
    assert waiting == item
    assert item.evidence == "Valkeyにしよう。ライセンスが理由。"
    assert item.content == "キューはValkeyにする。ライセンスが理由。"
    assert results(accept(desk, chosen(item))) == [Result.DONE]
    assert again(desk.home, item).confidence is VALIDATED
    assert pending(desk.home).total == 0
    assert results(accept(desk, [Choice(item.insight_id)])) == [Result.UNCHANGED]


@KINDS
def test_what_was_accepted_stays_whatever_is_extracted_later(desk: Desk, kind: Kind) -> None:
    item = save(desk.home, kind)
    accept(desk, chosen(item))
    before = files(desk.home)
    later = insight(kind=kind, subject=SUBJECTS.get(kind), extractor="ollama:x", content="別")
    assert save_insight(desk.home, later).outcome is Outcome.KEPT
    assert remove_provisional(desk.home, Scope.WORK, "e" * 32) == ()
    assert files(desk.home) == before


@KINDS
def test_a_tools_edit_after_the_acceptance_falls_back_to_raw(desk: Desk, kind: Kind) -> None:
    item = save(desk.home, kind)
    accept(desk, chosen(item))
    file = desk.home.vault(Scope.WORK) / item.path
    file.write_text(file.read_text().replace("ライセンスが理由。\n", "費用が理由。\n", 1))
    assert again(desk.home, item).confidence is RAW
    assert pending(desk.home).items[0].claims_validated


def test_text_that_changed_since_it_was_shown_is_not_accepted(desk: Desk) -> None:
    item = save(desk.home)
    file = desk.home.vault(Scope.WORK) / item.path
    file.write_text(file.read_text().replace("ライセンスが理由。\n", "費用が理由。\n", 1))
    assert results(accept(desk, chosen(item))) == [Result.CHANGED]
    assert again(desk.home, item).confidence is RAW


@KINDS
def test_text_that_a_tool_puts_there_at_the_moment_of_decision_is_not_sealed(
    desk: Desk, kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = save(desk.home, kind)
    file = desk.home.vault(Scope.WORK) / item.path

    def swapped(*arguments: Any) -> Any:
        file.write_text(file.read_text().replace("ライセンスが理由。\n", "費用が理由。\n", 1))
        return note_lock(*arguments)

    monkeypatch.setattr("api.review.changing.note_lock", swapped)
    assert results(accept(desk, chosen(item))) == [Result.REFUSED]
    assert again(desk.home, item).confidence is RAW


@KINDS
def test_undo_puts_every_byte_back(desk: Desk, kind: Kind) -> None:
    items = [save(desk.home, kind, evidence=f"証拠{n}") for n in range(3)]
    before = files(desk.home)
    for decide in (accept, reject):
        report = decide(desk, chosen(*items))
        assert report.ok
        assert files(desk.home) != before
        assert undo(Desk(desk.home), report.batch).ok
        assert files(desk.home) == before


@KINDS
def test_a_rejected_insight_does_not_come_back_by_extraction_but_by_undo(
    desk: Desk, kind: Kind
) -> None:
    item = save(desk.home, kind)
    given = insight(kind=kind, subject=SUBJECTS.get(kind))
    report = reject(desk, chosen(item))
    assert files(desk.home) == {}
    assert save_insight(desk.home, given).outcome is Outcome.REJECTED
    other = insight(kind=Kind.LEARNING if kind is Kind.VALUE else Kind.VALUE)
    assert save_insight(desk.home, other).outcome is Outcome.REJECTED
    assert files(desk.home) == {}
    undo(desk, report.batch)
    assert save_insight(desk.home, given).outcome is Outcome.UNCHANGED


def test_tombstones_say_nothing_and_outlive_state(desk: Desk) -> None:
    item = save(desk.home)
    reject(desk, chosen(item))
    stone = (desk.home.keys / "tombstones").read_text()
    assert item.insight_id not in stone
    desk.home.state.rename(desk.home.root / "gone")
    desk.home.create()
    assert save_insight(desk.home, insight()).outcome is Outcome.REJECTED


def test_a_note_that_somebody_changed_after_the_decision_is_not_undone(desk: Desk) -> None:
    item = save(desk.home)
    report = accept(desk, chosen(item))
    file = desk.home.vault(Scope.WORK) / item.path
    file.write_text(changed := file.read_text() + "\n追記\n")
    assert results(undo(desk, report.batch)) == [Result.CHANGED]
    assert file.read_text() == changed
    with pytest.raises(UsageError):
        undo(desk, "nothing")


@KINDS
def test_an_edit_changes_the_words_and_validates_only_on_request(desk: Desk, kind: Kind) -> None:
    item = save(desk.home, kind)
    edit(desk, chosen(item)[0], Edit(title="新しい題", content="新しい内容。理由も。"))
    now = again(desk.home, item)
    assert (now.title, now.content) == ("新しい題", "新しい内容。理由も。")
    assert (now.evidence, now.confidence) == (item.evidence, RAW)
    edit(desk, chosen(now)[0], Edit(tags=("キュー",)), accepted=True)
    assert again(desk.home, item).tags == ("キュー",)
    assert again(desk.home, item).confidence is VALIDATED


@pytest.mark.parametrize("words", ["# 題\n\n<img src=x>", "---\nconfidence: validated", "> 引用"])
def test_hostile_words_in_an_edit_stay_words(desk: Desk, words: str) -> None:
    item = save(desk.home)
    edit(desk, chosen(item)[0], Edit(content=words))
    text = (desk.home.vault(Scope.WORK) / item.path).read_text()
    assert "<img" not in text.partition("\n---\n")[2].replace("\\<", "")
    assert again(desk.home, item).confidence is RAW


@KINDS
def test_merging_keeps_the_evidence_and_the_confidence_of_the_one_that_stays(
    desk: Desk, kind: Kind
) -> None:
    stays, goes = save(desk.home, kind), save(desk.home, kind, evidence="もう一つの証拠。")
    accept(desk, chosen(stays))
    report = merge(desk, chosen(goes), stays.insight_id)
    assert report.ok
    merged = again(desk.home, stays)
    assert merged.evidence == f"{stays.evidence}\n\nもう一つの証拠。"
    assert merged.confidence is VALIDATED
    assert find(desk.home, goes.insight_id) is None
    assert undo(desk, report.batch).ok
    assert again(desk.home, goes) == goes


def test_a_decision_that_was_killed_half_way_is_undone_as_far_as_it_went(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = [save(desk.home, evidence=f"証拠{n}") for n in range(2)]
    before = files(desk.home)
    written: list[str] = []

    def dying(*arguments: Any) -> None:
        if written:
            raise KeyboardInterrupt
        written.append(arguments[1])
        write(*arguments)

    monkeypatch.setattr("api.review.changing.write", dying)
    with pytest.raises(KeyboardInterrupt):
        accept(desk, chosen(*items))
    monkeypatch.undo()
    assert len(pending(desk.home).items) == 1
    assert undo(desk).ok
    assert files(desk.home) == before


def test_insights_of_two_scopes_are_never_merged(desk: Desk) -> None:
    work, personal = save(desk.home), save(desk.home, scope=Scope.PERSONAL)
    assert results(merge(desk, chosen(personal), work.insight_id)) == [Result.REFUSED]


def test_a_new_kind_keeps_what_is_said_and_how_far_it_is_believed(desk: Desk) -> None:
    item = save(desk.home, source_path="sources/claude/2026/11/x.md", project="shop")
    accept(desk, chosen(item))
    report = set_place(desk, [Choice(item.insight_id)], kind=Kind.PROJECT)
    assert report.ok
    moved = find(desk.home, report.done[0].insight_id)
    assert moved is not None
    assert (moved.kind, moved.path, moved.confidence) == (
        Kind.PROJECT,
        "projects/shop.md",
        VALIDATED,
    )
    assert (moved.evidence, moved.source_path) == (item.evidence, item.source_path)
    assert save_insight(desk.home, insight()).outcome is Outcome.REJECTED
    before = {place: data for place, data in files(desk.home).items() if "decision" in place}
    assert before == {}
    assert undo(desk, report.batch).ok
    assert list(files(desk.home)) == [f"work/{item.path}"]


@pytest.mark.parametrize(
    ("old", "new"),
    [(Scope.PERSONAL, Scope.WORK), (Scope.WORK, Scope.PUBLIC), (Scope.WORK, Scope.PERSONAL)],
)
def test_other_readers_need_a_persons_word(desk: Desk, old: Scope, new: Scope) -> None:
    item = save(desk.home, scope=old, source_path="sources/claude/2026/11/x.md")
    before = files(desk.home)
    assert results(set_place(desk, chosen(item), scope=new)) == [Result.REFUSED]
    assert files(desk.home) == before
    report = set_place(desk, chosen(item), scope=new, widen=True)
    moved = find(desk.home, report.done[0].insight_id)
    assert moved is not None
    assert (moved.scope, moved.confidence, moved.source_path) == (new, RAW, None)
    (place,) = files(desk.home)
    text = (desk.home.vaults / place).read_text()
    assert place.startswith(new.value)
    assert "sources/" not in text
    assert "e" * 32 not in text


def test_from_public_to_a_narrower_scope_nothing_is_asked(desk: Desk) -> None:
    item = save(desk.home, scope=Scope.PUBLIC)
    assert set_place(desk, chosen(item), scope=Scope.WORK).ok


def test_what_said_validated_before_seals_is_sealed_only_by_a_person(desk: Desk) -> None:
    item = save(desk.home, confidence=VALIDATED)
    (desk.home.keys / "seal.key").unlink()
    assert pending(desk.home).items[0].claims_validated
    assert summary(desk.home, START).claims_validated == 1
    raw = save(desk.home, evidence="別")
    report = reseal(desk, [Choice(item.insight_id), Choice(raw.insight_id)])
    assert results(report) == [Result.DONE, Result.REFUSED]
    assert again(desk.home, item).confidence is VALIDATED


def test_a_value_becomes_part_of_the_identity_as_far_as_the_owner_says(desk: Desk) -> None:
    item = save(desk.home, Kind.VALUE, content="PRは小さく {public} <!-- x -->。")
    assert item.for_identity
    report = add_to_identity(desk, chosen(item)[0], Scope.WORK)
    assert report.ok
    assert "PRは小さく" in identity_card(desk.home, Scope.WORK)
    assert "PRは小さく" not in identity_card(desk.home, Scope.PUBLIC)
    assert again(desk.home, item).confidence is VALIDATED
    undo(desk, report.batch)
    assert "PRは小さく" not in identity_card(desk.home, Scope.WORK)


def test_a_profile_that_a_tool_wrote_is_generated_anew_while_the_engine_runs(home: Home) -> None:
    create_identity(home)
    profile = home.vault(Scope.WORK) / PROFILE
    profile.parent.mkdir(parents=True, exist_ok=True)
    profile.write_text("---\ntype: profile\n---\n# Profile\n\n- obeys whoever asks\n")
    assert is_identity(Scope.WORK, PROFILE)
    assert not is_identity(Scope.PERSONAL, PROFILE)
    follow_identity(home)
    assert "obeys" not in identity_card(home, Scope.WORK)


def test_no_operation_of_the_api_can_decide() -> None:
    """Whatever a client may call ends in the table of operations."""
    for name, operation in OPERATIONS.items():
        assert not {"accept", "validate", "reject", "forget", "reseal", "undo"} & set(
            name.split("_")
        )
        source = inspect.getsource(inspect.getmodule(operation.run) or operation.run)
        assert "api.review" not in source
        assert "api.forgetting" not in source
        assert "confidence" not in operation.request.model_fields or not operation.writes


def test_hearsay_is_not_offered_for_the_identity(desk: Desk) -> None:
    assert not save(desk.home, Kind.VALUE, tags=("hearsay",)).for_identity


def test_the_summary_says_how_much_waits_and_was_decided(desk: Desk) -> None:
    items = [save(desk.home, evidence=f"{n}") for n in range(4)]
    accept(desk, chosen(*items[:2]))
    undo(desk, reject(desk, chosen(items[2])).batch)
    found = summary(desk.home, START + timedelta(days=2))
    assert (found.waiting, found.by_kind, found.by_scope) == (2, {"decision": 2}, {"work": 2})
    assert found.decided_this_week == {"accept": 2}
    assert found.oldest == START


def _accept_all(home: Home) -> list[str]:
    desk = Desk(home)
    ids = [item.insight_id for item in pending(home).items]
    report = accept(desk, [Choice(one) for one in ids])
    return [one.result.value for one in report.done]


def test_two_reviewers_at_once_decide_each_insight_once(home: Home) -> None:
    for number in range(6):
        save(home, Kind.PERSON if number % 2 else Kind.VALUE, evidence=f"証拠{number}")
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        found = [one for half in pool.map(_accept_all, [home, home]) for one in half]
    assert found.count("done") == 6
    assert set(found) <= {"done", "unchanged"}
    assert pending(home).total == 0
    assert clean_leftovers(home, min_age_seconds=0) == 0

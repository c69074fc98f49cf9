"""A unit sends each message again exactly when it changed, and keeps it where it lies."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

from connectors.base import EVENT_LIMIT, PART_LIMIT
from connectors.pieces import PartCounter
from connectors.revisions import FOR_GOOD, UNITS, Unit, Units
from context_engine.clock import ManualClock
from context_engine.events import MOVED, REMOVED, Checkpoint, Role, SourceDocument, Utterance
from context_engine.scopes import Scope
from support.transcripts import MemoryLedger

AT = datetime(2026, 11, 2, tzinfo=UTC)
DAY = SourceDocument("slack", "day", Scope.WORK, "Day", ())
THREAD = SourceDocument("slack", "thread", Scope.WORK, "Thread", ())


def said(native_id: str, text: str = "hello", role: Role = Role.OTHER) -> Utterance:
    return Utterance(native_id, "kim", role, AT, text)


def state_of(unit: Unit) -> dict[str, object]:
    (state,) = [dict(item.state) for item in unit.items() if isinstance(item, Checkpoint)]
    return dict(json.loads(json.dumps(state)))


def events(unit: Unit) -> list[SourceDocument]:
    return [item for item in unit.items() if isinstance(item, SourceDocument)]


def after(*utterances: Utterance, document: SourceDocument = DAY) -> dict[str, object]:
    unit = Unit("k", None)
    for utterance in utterances:
        unit.add(document, utterance, PartCounter())
    return state_of(unit)


def test_what_did_not_change_yields_neither_event_nor_checkpoint() -> None:
    unit = Unit("k", after(said("1"), said("2")))
    for name in "12":
        unit.add(DAY, said(name), PartCounter())
    assert list(unit.items()) == []


def test_a_change_of_words_or_role_is_news_and_a_change_of_name_is_not() -> None:
    state = after(said("1"), said("2"), said("3"))
    unit = Unit("k", state)
    unit.add(DAY, said("1", "bye"), PartCounter())
    unit.add(DAY, said("2", role=Role.OWNER), PartCounter())
    unit.add(DAY, replace(said("3"), author="Kim"), PartCounter())
    (event,) = events(unit)
    assert [u.native_id for u in event.utterances] == ["1", "2"]


def test_a_message_stays_in_its_part_however_the_text_before_it_grows() -> None:
    counter, unit = PartCounter(), Unit("k", None)
    unit.add(DAY, said("1", "a" * (PART_LIMIT - 10)), counter)
    unit.add(DAY, said("2", "b" * 20), counter)
    assert [event.part for event in events(unit)] == [1, 2]
    later = Unit("k", unit.state())
    later.add(DAY, said("1", "a"), PartCounter())
    later.add(DAY, said("2", "c"), PartCounter())
    assert [(e.part, e.utterances[0].native_id) for e in events(later)] == [(1, "1"), (2, "2")]


def test_long_messages_come_in_pieces_that_fit_an_event() -> None:
    unit = Unit("k", None)
    unit.add(DAY, said("1", "a" * (2 * EVENT_LIMIT + 1)), PartCounter())
    assert [e.utterances[0].native_id for e in events(unit)] == ["1", "1~2", "1~3"]


def test_a_message_that_moves_leaves_a_notice_where_it_was() -> None:
    unit = Unit("k", after(said("1")))
    unit.add(THREAD, said("1"), PartCounter())
    moved = {e.native_id: [u.text for u in e.utterances] for e in events(unit)}
    assert moved == {"thread": ["hello"], "day": [MOVED]}
    again = Unit("k", unit.state())
    again.add(THREAD, said("1"), PartCounter())
    assert list(again.items()) == []


def test_what_is_missing_is_withdrawn_once_and_may_come_back() -> None:
    unit = Unit("k", after(said("1"), said("2")))
    unit.add(DAY, said("1"), PartCounter())
    unit.withdraw_missing(DAY)
    (event,) = events(unit)
    assert [(u.native_id, u.text) for u in event.utterances] == [("2", REMOVED)]
    again = Unit("k", unit.state())
    again.add(DAY, said("1"), PartCounter())
    again.withdraw_missing(DAY)
    assert list(again.items()) == []
    back = Unit("k", again.state())
    back.add(DAY, said("2"), PartCounter())
    assert [u.text for e in events(back) for u in e.utterances] == ["hello"]


def test_a_new_title_alone_sends_the_last_message_as_another_event() -> None:
    first = Unit("k", None)
    first.add(DAY, said("1"), PartCounter())
    (before,) = events(first)
    unit = Unit("k", first.state())
    unit.add(replace(DAY, title="Renamed"), said("1"), PartCounter())
    (event,) = events(unit)
    assert event.title == "Renamed"
    assert event.event_id != before.event_id


def test_a_state_that_another_version_wrote_counts_as_none() -> None:
    for state in ({"version": 0}, {"version": 1, "messages": 5}, {"version": 1}, {}):
        unit = Unit("k", state)
        unit.add(DAY, said("1"), PartCounter())
        assert len(events(unit)) == 1


def test_units_of_a_run_remember_what_is_not_committed_yet() -> None:
    units = Units(MemoryLedger())
    unit = units.open("k")
    unit.add(DAY, said("1"), PartCounter())
    assert len(list(units.close(unit))) == 2
    for number in range(UNITS - 1):
        list(units.close(units.open(f"other {number}")))
    unit = units.open("k")
    unit.add(DAY, said("1"), PartCounter())
    assert list(units.close(unit)) == []


def test_what_changes_and_changes_back_is_an_event_of_its_own_each_time() -> None:
    clock = ManualClock(AT)
    state, ids, revisions = None, [], []
    for text in ("A", "B", "A", "B"):
        unit = Unit("k", state, clock)
        unit.add(DAY, said("1", text), PartCounter())
        (event,) = events(unit)
        ids.append(event.event_id)
        revisions.append(event.revision)
        state = unit.state()
    assert len(set(ids)) == 4
    assert revisions == [0, *(int(AT.timestamp() * 1000) + n for n in range(3))]


def test_a_clock_that_was_set_back_makes_no_change_an_old_one() -> None:
    clock = ManualClock(AT)
    unit = Unit("k", after(said("1")), clock)
    unit.add(DAY, said("1", "B"), PartCounter())
    (later,) = events(unit)
    clock.advance(-3_600)
    unit = Unit("k", unit.state(), clock)
    unit.add(DAY, said("1", "C"), PartCounter())
    assert events(unit)[0].revision > later.revision


def test_an_older_state_by_the_source_s_own_count_changes_nothing() -> None:
    unit = Unit("k", None)
    unit.add(DAY, said("1", "new"), PartCounter(), edited=20)
    state = state_of(unit)
    for text, edited in (("first", 0), ("old", 10), ("new", 20)):
        unit = Unit("k", state)
        unit.add(DAY, said("1", text), PartCounter(), edited=edited)
        assert list(unit.items()) == []
    unit = Unit("k", state)
    unit.withdraw(DAY, "1", edited=FOR_GOOD)
    assert [u.withdrawn for u in events(unit)[0].utterances] == [True]
    again = Unit("k", unit.state())
    again.add(DAY, said("1", "new"), PartCounter(), edited=20)
    assert list(again.items()) == []


def test_a_deleted_document_is_said_once_and_comes_back_with_any_message() -> None:
    state = after(said("1"), said("2"))
    unit = Unit("k", state)
    unit.withdraw_document(DAY)
    unit.withdraw_document(THREAD)
    (gone,) = events(unit)
    assert (gone.native_id, gone.withdrawn, gone.title) == ("day", True, "")
    again = Unit("k", unit.state())
    again.withdraw_document(DAY)
    assert list(again.items()) == []
    back = Unit("k", unit.state())
    back.add(DAY, said("1"), PartCounter())
    (event,) = events(back)
    assert ([u.text for u in event.utterances], event.withdrawn) == (["hello"], False)
    assert event.revision > gone.revision
    assert "gone" not in back.state()

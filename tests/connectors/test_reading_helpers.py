"""Small helpers that every connector uses."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.base import PART_LIMIT
from connectors.pieces import PartCounter, Unseen, split_utterance
from connectors.places import file_ref, project_name
from connectors.registry import SOURCES, load
from connectors.text import clean_text, first_sentence, parse_time, shorten, split_text
from context_engine.clock import ManualClock
from context_engine.errors import UsageError
from context_engine.events import Ref, Role, Utterance
from support.transcripts import MemoryLedger


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_every_source_in_the_table_keeps_the_contract(name: str) -> None:
    connector = load(name)
    assert connector.name == name
    assert connector.accepts
    assert "\n" not in connector.accepts
    assert all(path.parts for path in connector.default_paths)


def test_a_source_that_does_not_exist_is_answered_with_those_that_do() -> None:
    with pytest.raises(UsageError, match=r"no source 'gopher'; known sources: .*claude"):
        load("gopher")


@pytest.mark.parametrize(
    ("cwd", "project"),
    [
        ("/home/aki/work/shop", "shop"),
        ("/home/aki/work/shop/", "shop"),
        ("/home/aki/work/shop/.claude/worktrees/agent-1", "shop"),
        ("/home/aki/work/shop/.worktrees/feature", "shop"),
        ("/home/aki/仕事/店", "店"),
        ("/home/aki/work/app", "app"),
        ("C:\\Users\\aki\\shop", "shop"),
        ("e:\\Workspace\\src\\log", "log"),
        ("/repo", "repo"),
        ("/home/aki", None),
        ("/Users/aki", None),
        ("C:\\Users\\aki", None),
        ("C:\\", None),
        ("/", None),
        ("/root", None),
        ("/app", None),
        ("", None),
        (None, None),
    ],
)
def test_a_working_directory_names_its_project(cwd: str | None, project: str | None) -> None:
    assert project_name(cwd) == project


@pytest.mark.parametrize(
    ("cwd", "file", "path"),
    [
        ("/w/shop", "/w/shop/src/a.py", "src/a.py"),
        ("/w/shop", "/w/shopping/a.py", "/w/shopping/a.py"),
        ("/w/shop", "/w/shop/./a.py", "a.py"),
        ("/w/shop", "a.py", "a.py"),
        ("/", "/a.py", "a.py"),
        ("C:\\w\\shop", "C:\\w\\shop\\src\\a.py", "src/a.py"),
        ("/w/shop", "C:\\w\\shop\\a.py", "C:/w/shop/a.py"),
    ],
)
def test_a_file_is_named_relative_to_its_repository(cwd: str, file: str, path: str) -> None:
    assert file_ref(cwd, file) == Ref(cwd, path)


@given(st.text(max_size=400), st.integers(min_value=1, max_value=60))
def test_pieces_of_a_text_are_bounded_and_are_the_text(text: str, limit: int) -> None:
    pieces = list(split_text(text, limit))
    assert "".join(pieces) == text
    assert all(len(piece) <= limit for piece in pieces)


@given(st.text(max_size=1000), st.integers(min_value=2, max_value=90))
def test_a_shortened_text_is_one_line_within_its_limit(text: str, limit: int) -> None:
    line = shorten(text, limit)
    assert len(line) <= limit
    assert len(line.splitlines()) <= 1


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("## Why is it slow? It was fast.", "Why is it slow?"),
        ("\n\n---\n> 決済キューが遅い。先週は速かった。", "決済キューが遅い。先週は速かった。"),
        ("決済キューの処理がとても遅い。先週は速かった。", "決済キューの処理がとても遅い。"),
        ("v1.2.3 is broken on macOS. Please help.", "v1.2.3 is broken on macOS."),
        (
            "word " * 40,
            "word word word word word word word word word word word word word word word…",
        ),
        ("```\n\n***", ""),
        ("", ""),
    ],
)
def test_a_title_is_the_first_sentence_with_words(text: str, title: str) -> None:
    assert first_sentence(text) == title


@given(st.text(max_size=200))
def test_cleaned_text_is_clean_already(text: str) -> None:
    cleaned = clean_text(text)
    assert clean_text(cleaned) == cleaned
    cleaned.encode()
    assert "\r" not in cleaned


def test_times_are_understood_in_every_form_and_absurd_ones_refused() -> None:
    clock = ManualClock(datetime(2026, 12, 1, tzinfo=UTC))
    nine = datetime(2026, 11, 2, 9, tzinfo=UTC)
    stamp = nine.timestamp()
    for value in ("2026-11-02T09:00:00Z", "2026-11-02T18:00:00+09:00", stamp, stamp * 1000):
        assert parse_time(value, clock) == nine
    absurd: list[object] = ["1999-12-31", "2026-12-03", "soon", "", None, True, [], -1e30]
    for moment in (*absurd, float("nan")):
        assert parse_time(moment, clock) is None


@given(st.lists(st.integers(min_value=1, max_value=PART_LIMIT), max_size=30))
def test_parts_are_bounded_and_come_in_order(lengths: list[int]) -> None:
    counter = PartCounter()
    sizes: dict[int, int] = {}
    for length in lengths:
        part = counter.place(length)
        sizes[part] = sizes.get(part, 0) + length
    assert list(sizes) == list(range(1, len(sizes) + 1))
    assert all(size <= PART_LIMIT for size in sizes.values())


def test_a_message_that_fits_stays_whole_and_a_long_one_is_numbered() -> None:
    message = Utterance("id", "aki", Role.OWNER, None, "one\ntwo\nthree\n")
    assert list(split_utterance(message, 14)) == [message]
    assert [piece.native_id for piece in split_utterance(message, 6)] == ["id", "id~2", "id~3"]


def test_what_is_claimed_or_committed_does_not_pass_again() -> None:
    ledger = MemoryLedger()
    unseen = Unseen(ledger)
    assert [unseen.claim(name) for name in ("a", "b", "a")] == [True, True, False]
    messages = [Utterance(name, "aki", Role.OWNER, None, name) for name in ("a", "b")]
    ledger.ids.add("a")
    assert [item.native_id for item in unseen.new(messages)] == ["b"]
    assert unseen.new([]) == ()
    assert ledger.asked == 1

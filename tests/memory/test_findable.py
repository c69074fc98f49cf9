"""A note that its own summary does not find gets a better one, once, and it is counted."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from context_engine.home import Home
from context_engine.insights import Insight
from context_engine.scopes import Scope
from index.search import Searcher
from index.writer import IndexWriter
from support.vaults import START, insight
from vault.insights import save_insight
from vault.notes import Note, read_note
from workers.findable import FOUND, IMPROVED, NOT_FOUND, check_summary


def told(number: int, text: str, **more: Any) -> Insight:
    return insight(
        title=f"覚え書き{number}",
        content=text,
        evidence=text,
        event_id=f"{number:032x}",
        created=START + timedelta(minutes=number),
        **more,
    )


def saved(home: Home, number: int, text: str) -> str:
    path = save_insight(home, told(number, text)).path
    with IndexWriter(home, Scope.WORK, None) as writer:
        writer.scan()
    return path


def look(home: Home, path: str) -> str | None:
    return check_summary(home, Scope.WORK, path, Searcher(home, None))


def note(home: Home, path: str) -> Note:
    return read_note(home, Scope.WORK, path)


@pytest.fixture
def crowded(home: Home) -> Home:
    for number in range(8):
        save_insight(home, told(number, f"了解。件{number}。"))
    return home


def test_a_note_that_its_summary_finds_is_left_alone(crowded: Home) -> None:
    path = saved(crowded, 50, "キューはValkeyにする。")
    before = note(crowded, path).digest
    assert look(crowded, path) == FOUND
    assert note(crowded, path).digest == before


def test_one_that_it_does_not_find_is_given_a_telling_one_and_found(crowded: Home) -> None:
    long = "了解。索引のないstatus列のせいでPostgresが遅かった。列に索引を足して直した。" * 3
    path = saved(crowded, 51, long)
    assert note(crowded, path).summary == "了解。"
    assert look(crowded, path) == IMPROVED
    better = note(crowded, path)
    assert "Postgres" in better.summary
    assert better.text.untouched
    with IndexWriter(crowded, Scope.WORK, None) as writer:
        writer.index_note(path)
    assert look(crowded, path) == FOUND


def test_what_cannot_be_told_apart_is_counted_and_not_tried_again(home: Home) -> None:
    paths = []
    for number in range(6):
        text = f"了解。{'同じ話' * 30}"
        given = told(number, text + "。" * number)
        paths.append(save_insight(home, given).path)
        file = home.vault(Scope.WORK) / paths[-1]
        file.write_text(file.read_text().replace(f"覚え書き{number}", "同じ題"))
    with IndexWriter(home, Scope.WORK, None) as writer:
        writer.scan()
    told_ = [look(home, path) for path in paths]
    # a person's edit of the title keeps each as it is
    assert set(told_) == {FOUND, NOT_FOUND}


def test_a_note_that_is_gone_or_none_of_ours_is_passed_over(home: Home) -> None:
    home.create()
    (home.vault(Scope.WORK) / "plain.md").write_text("# Plain\n\ntext\n")
    assert look(home, "plain.md") is None
    assert look(home, "knowledge/decision/gone-0123456789ab.md") is None

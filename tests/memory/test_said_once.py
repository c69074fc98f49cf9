"""What a section of a project's note says is shown once, however often the note has it."""

from __future__ import annotations

import pytest

from api.cli.query import print_hit
from api.hook.bookend import recall_text
from api.operations.found import found
from api.operations.recall import RecallAnswer
from context_engine.home import Home
from context_engine.insights import Kind
from context_engine.scopes import Scope
from context_engine.text import says_again
from index.model import SearchRequest
from index.search import Searcher
from support.notes import index_all
from support.vaults import insight
from vault.insights import save_insight

SENTENCE = "期限は12月15日。"


def test_a_statement_that_is_its_own_evidence_is_shown_once(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    told = insight(
        kind=Kind.PROJECT, subject="Aurora", title=SENTENCE, content=SENTENCE, evidence=SENTENCE
    )
    save_insight(home, told)
    index_all(home, None, Scope.WORK)
    (hit,) = Searcher(home, None).search(Scope.WORK, SearchRequest("期限")).hits
    assert (hit.title, hit.heading, hit.summary) == ("Aurora", SENTENCE, SENTENCE)
    print_hit(1, hit)
    assert capsys.readouterr().out.count("期限は12月15日") == 1
    answer = RecallAnswer(instruction="read first", notes=(found(hit),))
    assert recall_text(answer).count("期限は12月15日") == 1


def test_a_title_without_its_full_stop_says_the_same() -> None:
    assert says_again("期限は12月15日。", "Aurora", "期限は12月15日")
    assert says_again("")
    assert not says_again("期限は12月16日。", "期限は12月15日")

"""Insights follow the messages they came from: changed, deleted, restored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from context_engine.events import MOVED, SourceDocument
from context_engine.home import Home
from context_engine.insights import Confidence, Kind
from context_engine.scopes import Scope
from context_engine.settings import load_settings
from index.model import SearchRequest
from index.search import Searcher
from support.notes import index_all
from support.vaults import START, conversation, insight, said
from vault.entries import Entry
from vault.insights import save_insight
from vault.marks import Standing
from vault.notes import Note, read_note
from vault.sources import write_source
from workers import extract
from workers.extraction.extract import extract_with_cues
from workers.outbox_model import Job
from workers.standing import follow_insights

SAID = "キューはValkeyにしよう。理由はライセンス。"
QUOTE = "キューはValkeyにしよう。"
MODEL = "ollama:qwen"
LATER = int(START.timestamp() * 1000) + 5_000
KINDS = pytest.mark.parametrize("kind", [Kind.DECISION, Kind.PROJECT])


def give(home: Home, kind: Kind = Kind.DECISION, extractor: str = MODEL) -> str:
    """Write the message and an insight drawn from it; return where the insight lies."""
    write_source(home, conversation(said(0, SAID), said(1, "ほかの話")))
    drawn = insight(
        kind=kind, extractor=extractor, evidence=QUOTE, utterance=said(0, "").marker,
        confidence=Confidence.VALIDATED, verified=START, subject="shop",
    )  # fmt: skip
    return save_insight(home, drawn).path


def happen(home: Home, *text: str, **more: Any) -> tuple[str, ...]:
    said_now = [said(0, words) for words in text]
    return follow(home, conversation(*said_now, **({"revision": LATER} | more)))


def follow(home: Home, document: SourceDocument) -> tuple[str, ...]:
    return follow_insights(home, document, write_source(home, document))


def standing(home: Home, path: str) -> Standing:
    found = there(home, path)
    return found.standing


def there(home: Home, path: str) -> Note | Entry:
    note = read_note(home, Scope.WORK, path)
    return note.entries[0] if note.entries else note


@KINDS
def test_what_a_model_drew_from_words_that_changed_is_stale_until_they_return(
    home: Home, kind: Kind
) -> None:
    path = give(home, kind)
    assert happen(home, "キューはRedisのままにしよう。") == (path,)
    assert standing(home, path) is Standing.STALE
    assert there(home, path).confidence is Confidence.RAW
    assert happen(home, SAID, revision=LATER + 1) == (path,)
    assert standing(home, path) is Standing.HOLDS
    assert there(home, path).confidence is Confidence.VALIDATED


@KINDS
def test_an_edit_elsewhere_in_the_message_leaves_its_insight_alone(home: Home, kind: Kind) -> None:
    path = give(home, kind)
    before = (home.vault(Scope.WORK) / path).read_bytes()
    assert happen(home, f"追記。キューは Valkey にしよう。 {MOVED}") == ()
    assert happen(home, MOVED, revision=LATER + 1) == ()
    assert (home.vault(Scope.WORK) / path).read_bytes() == before


def withdraw(home: Home) -> tuple[str, ...]:
    gone = replace(said(0, ""), withdrawn=True)
    return follow(home, conversation(gone, revision=LATER))


@KINDS
@pytest.mark.parametrize("change", [lambda home: happen(home, "別の話"), withdraw])
def test_what_rules_drew_goes_with_the_words(
    home: Home, kind: Kind, change: Callable[[Home], object]
) -> None:
    path = give(home, kind, "cues")
    change(home)
    assert not (home.vault(Scope.WORK) / path).exists()


@KINDS
def test_what_was_drawn_from_a_deleted_message_is_not_found_any_more(
    home: Home, kind: Kind
) -> None:
    path = give(home, kind)
    index_all(home, None)
    assert found(home) == {path, source_path(home)}
    assert withdraw(home) == (path,)
    index_all(home, None)
    assert standing(home, path) is Standing.WITHDRAWN
    assert found(home) == set()


@KINDS
@pytest.mark.parametrize("extractor", ["cues", MODEL])
def test_a_deleted_document_takes_its_insights_out_of_sight_and_back(
    home: Home, kind: Kind, extractor: str
) -> None:
    path = give(home, kind, extractor)
    assert happen(home, withdrawn=True) == (path,)
    assert happen(home, withdrawn=True) == ()
    index_all(home, None)
    assert found(home) == set()
    assert SAID in read_note(home, Scope.WORK, source_path(home)).body
    happen(home, SAID, revision=LATER + 2_000)
    index_all(home, None)
    assert found(home) == {path, source_path(home)}


@pytest.mark.parametrize(
    "change", [("title: ", "title: 私の"), ("confidence:", "reviewed: true\nconfidence:")]
)
def test_what_a_person_edited_or_reviewed_stays_as_it_is(
    home: Home, change: tuple[str, str]
) -> None:
    path = give(home)
    file = home.vault(Scope.WORK) / path
    file.write_text(file.read_text().replace(*change))
    before = file.read_bytes()
    assert withdraw(home) == ()
    assert file.read_bytes() == before


def test_what_was_drawn_while_its_source_changed_is_checked_when_it_is_saved(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = source_path(home)
    write_source(home, conversation(said(0, SAID)))

    def slowly(*given: Any) -> Any:
        found = extract_with_cues(*given)
        assert found.insights
        write_source(home, conversation(said(0, "別の話"), revision=LATER))
        return found

    monkeypatch.setattr(extract, "extract_with_cues", slowly)
    monkeypatch.setenv("CE_HOME", str(home.root))
    monkeypatch.setenv("CE_LLM__MODE", "cues")
    arguments = {"scope": "work", "path": path, "markers": [said(0, "").marker]}
    job = Job(1, "extract", "extract:1", "1" * 32, arguments, 1, 1)
    extract.extract_work(load_settings())(job, None)
    assert list((home.vault(Scope.WORK) / "knowledge").rglob("*.md")) == []


def source_path(home: Home) -> str:
    return write_source(home, conversation()).path


def found(home: Home) -> set[str]:
    request = SearchRequest("Valkey キュー ライセンス", limit=10)
    hits = Searcher(home, None).search(Scope.WORK, request).hits
    return {hit.path for hit in hits if "Valkey" in hit.summary}

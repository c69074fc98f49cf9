"""What is said twice is one note, what is newer replaces, and nothing is ever lost."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from context_engine.events import Ref
from context_engine.home import Home
from context_engine.insights import Confidence, Insight, Kind
from context_engine.scopes import Scope
from index.model import SearchRequest
from index.search import Searcher
from index.writer import IndexWriter
from support.vaults import START, insight
from vault.insights import remove_provisional
from vault.notes import Note, read_note
from vault.standing import Outcome
from workers.consolidation.consolidate import Consolidated, consolidate
from workers.consolidation.facts import Facts
from workers.consolidation.relation import Relation

FIRST = "キューはRabbitMQにする。"
NEWER = "キューはRabbitMQをやめてValkeyにする。"


def told(text: str, day: int = 0, **more: Any) -> Insight:
    given: dict[str, Any] = {
        "title": text.rstrip("。."),
        "content": text,
        "evidence": text,
        "event_id": f"{day + 1:032x}",
        "utterance": f"{day + 1:016x}",
        "created": START + timedelta(days=day),
        "owner_said": True,
    }
    return insight(**(given | more))


def note(home: Home, path: str) -> Note:
    return read_note(home, Scope.WORK, path)


def files(home: Home) -> list[str]:
    root = home.vault(Scope.WORK)
    return sorted(str(path.relative_to(root)) for path in root.rglob("*.md"))


def follow(home: Home) -> None:
    with IndexWriter(home, Scope.WORK, None) as writer:
        writer.scan()


def test_the_same_in_other_words_becomes_evidence_and_renews_the_note(home: Home) -> None:
    first = consolidate(home, told(FIRST))
    again = consolidate(home, told("キューはRabbitMQに決めた。", 3))
    assert (again.path, again.outcome, again.relation) == (
        first.path,
        Outcome.UPDATED,
        Relation.DUPLICATE,
    )
    assert files(home) == [first.path]
    kept = note(home, first.path)
    assert [item["quote"] for item in kept.front["evidence"]] == ["キューはRabbitMQに決めた。"]
    assert kept.verified == START + timedelta(days=3)
    assert kept.text.untouched
    assert again.resembled[0].relation == "duplicate"


def test_saying_it_again_twice_is_counted_once(home: Home) -> None:
    consolidate(home, told(FIRST))
    again = told("キューはRabbitMQに決めた。", 3)
    path = consolidate(home, again).path
    before = (home.vault(Scope.WORK) / path).read_bytes()
    assert consolidate(home, again).outcome is Outcome.UNCHANGED
    assert (home.vault(Scope.WORK) / path).read_bytes() == before


def test_the_same_words_of_another_day_are_evidence_too(home: Home) -> None:
    first = consolidate(home, told(FIRST))
    again = consolidate(home, told(FIRST, 5))
    assert again.path == first.path
    assert len(note(home, first.path).front["evidence"]) == 1
    assert note(home, first.path).verified == START + timedelta(days=5)


def test_hearsay_does_not_renew_a_note(home: Home) -> None:
    first = consolidate(home, told(FIRST))
    consolidate(home, told(FIRST, 5, owner_said=False))
    assert note(home, first.path).verified is None


def test_a_newer_state_replaces_the_older_which_stays_and_says_by_what(home: Home) -> None:
    first = consolidate(home, told(FIRST))
    newer = consolidate(home, told(NEWER, 3))
    assert newer.relation is Relation.SUPERSEDES
    assert newer.resembled[0].relation == "supersedes"
    assert set(newer.changed) == {first.path, newer.path}
    old = note(home, first.path)
    assert old.front["superseded_by"] == newer.path
    assert FIRST in old.body
    assert note(home, newer.path).front["supersedes"] == first.insight_id


def test_an_old_conversation_that_is_read_late_replaces_nothing(home: Home) -> None:
    newer = consolidate(home, told(NEWER, 3))
    late = consolidate(home, told(FIRST))
    assert late.relation is Relation.SEPARATE
    assert late.resembled[0].relation == "superseded_by"
    assert note(home, late.path).front["superseded_by"] == newer.path
    assert note(home, newer.path).front["supersedes"] == late.insight_id
    assert note(home, newer.path).front.get("superseded_by") is None


@pytest.mark.parametrize("words", [FIRST, "キューはRabbitMQに決めた。"])
def test_what_is_decided_again_holds_again(home: Home, words: str) -> None:
    first = consolidate(home, told(FIRST))
    newer = consolidate(home, told(NEWER, 3))
    back = consolidate(home, told(words, 6))
    assert back.path == first.path
    assert note(home, first.path).front.get("superseded_by") is None
    assert note(home, newer.path).front["superseded_by"] == first.path


def test_the_index_that_has_not_followed_yet_makes_no_duplicate(home: Home) -> None:
    class Blind:
        def search(self, scope: Scope, request: SearchRequest) -> Any:
            return Searcher(home, None).search(scope, request)

    for day, text in enumerate(("PRは300行以下にする。", "プルリクは三百行以下にする。")):
        consolidate(home, told(text, day, kind=Kind.VALUE), Blind())
    assert len(files(home)) == 1


def test_the_index_finds_what_was_saved_long_ago(home: Home) -> None:
    first = consolidate(home, told(FIRST))
    follow(home)
    (home.state / "recent.db").unlink()
    again = consolidate(home, told("キューはRabbitMQに決めた。", 3), Searcher(home, None))
    assert again.path == first.path


def test_a_note_that_a_person_edited_stays_as_it_is(home: Home) -> None:
    first = consolidate(home, told(FIRST))
    file = home.vault(Scope.WORK) / first.path
    file.write_text(file.read_text().replace(FIRST, f"{FIRST} 絶対に。", 1))
    edited = file.read_bytes()
    same = consolidate(home, told(FIRST, 2))
    newer = consolidate(home, told(NEWER, 3))
    assert (same.path, same.outcome) == (first.path, Outcome.KEPT)
    assert newer.relation is Relation.SEPARATE
    assert newer.resembled[0].relation in {"contradicts", "separate"}
    assert file.read_bytes() == edited


def test_hearsay_and_raw_text_never_replace_what_counts_for_more(home: Home) -> None:
    sure = consolidate(
        home,
        told(FIRST, confidence=Confidence.VALIDATED, verified=START, extractor="ollama:m"),
    )
    claim = consolidate(home, told(NEWER, 3, extractor="ollama:m"))
    assert claim.relation is Relation.SEPARATE
    assert claim.resembled[0].relation == "contradicts"
    kept = note(home, sure.path)
    assert kept.front.get("superseded_by") is None
    assert kept.confidence is Confidence.VALIDATED


def test_evidence_and_replacement_leave_a_validated_note_validated(home: Home) -> None:
    given: dict[str, Any] = {"confidence": Confidence.VALIDATED, "extractor": "ollama:m"}
    first = consolidate(home, told(FIRST, verified=START, **given))
    consolidate(home, told("キューはRabbitMQに決めた。", 1, extractor="ollama:m"))
    consolidate(home, told(NEWER, 3, verified=START + timedelta(days=3), **given))
    kept = note(home, first.path)
    assert kept.front["superseded_by"]
    assert kept.confidence is Confidence.VALIDATED


def test_what_a_model_or_client_says_is_not_hidden_in_what_rules_wrote(home: Home) -> None:
    rules = consolidate(home, told(FIRST))
    client = consolidate(
        home,
        told("キューはRabbitMQに決めた。", 1, extractor="client:claude", event_id=None),
    )
    assert client.path != rules.path
    assert note(home, rules.path).front["superseded_by"] == client.path
    remove_provisional(home, Scope.WORK, f"{1:032x}")
    assert files(home) == [client.path]


def test_rules_note_goes_when_all_that_it_rests_on_was_distilled_again(home: Home) -> None:
    path = consolidate(home, told(FIRST)).path
    consolidate(home, told("キューはRabbitMQに決めた。", 1))
    assert remove_provisional(home, Scope.WORK, f"{1:032x}") == (path,)
    assert note(home, path).front["event"] == f"{2:032x}"
    assert remove_provisional(home, Scope.WORK, f"{2:032x}") == (path,)
    assert files(home) == []


def test_sections_of_a_project_are_merged_and_replaced_in_their_note(home: Home) -> None:
    def state(text: str, day: int) -> Consolidated:
        return consolidate(home, told(text, day, kind=Kind.PROJECT, subject="shop"))

    first = state("書き出しは法務の確認待ち。", 0)
    state("書き出しは法務の確認待ちです。", 1)
    done = state("書き出しは法務の確認が完了した。", 4)
    state("書き出しは法務の確認が完了した。", 4)
    assert first.path == done.path == "projects/shop.md"
    body = note(home, first.path).body
    assert body.count("<!-- ce:i=") == 2
    assert f"superseded_by={done.insight_id}" in body
    assert f"supersedes={first.insight_id}" in body
    assert "again=" in body
    assert [entry.edited for entry in note(home, first.path).entries] == [False, False]


def test_two_projects_have_their_own_decisions(home: Home) -> None:
    consolidate(home, told(FIRST, project="shop"))
    consolidate(home, told("キューはRabbitMQに決めた。", 1, project="blog"))
    assert len(files(home)) == 2


def test_two_scopes_and_two_kinds_know_nothing_of_each_other(home: Home) -> None:
    for scope in (Scope.WORK, Scope.PERSONAL):
        for kind in (Kind.DECISION, Kind.VALUE):
            found = consolidate(home, told(FIRST, scope=scope, kind=kind))
            assert found.relation is Relation.SEPARATE
            assert found.resembled == ()


def test_writers_at_once_save_one_statement_once(home: Home) -> None:
    texts = [f"キューはRabbitMQに{end}。" for end in ("する", "した", "しよう", "決めた")]
    threads = [
        threading.Thread(target=consolidate, args=(home, told(text, day)))
        for day, text in enumerate(texts)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (only,) = files(home)
    assert len(note(home, only).front["evidence"]) == 3


def test_an_opinion_is_taken_only_as_far_as_the_index_and_the_dates_go(home: Home) -> None:
    def replaces(new: Facts, old: Facts) -> Relation:
        del new, old
        return Relation.SUPERSEDES

    first = consolidate(home, told("店の検索は全文検索で足りる。", 2, extractor="ollama:m"))
    follow(home)
    late = told("店の検索には意味検索も要る。", 0, extractor="ollama:m")
    assert consolidate(home, late, Searcher(home, None), replaces).relation is Relation.SEPARATE
    newer = told("店の検索には意味検索が要ると分かった。", 3, extractor="ollama:m")
    saved = consolidate(home, newer, Searcher(home, None), replaces)
    assert saved.relation is Relation.SUPERSEDES
    assert note(home, first.path).front["superseded_by"] == saved.path


def test_a_damaged_index_costs_the_comparison_and_not_the_insight(
    home: Home, tmp_path: Path
) -> None:
    home.create()
    home.index(Scope.WORK).write_bytes(b"no database " * 1000)
    saved = consolidate(home, told(FIRST), Searcher(home, None))
    assert note(home, saved.path).title == FIRST.rstrip("。")


def test_a_project_s_note_names_the_files_that_its_insights_touched(home: Home) -> None:
    told_ = told("書き出しは法務の確認待ち。", kind=Kind.PROJECT, subject="shop")
    for number, path in enumerate(("a.py", "b.py")):
        refs = (Ref("/repo", path, None),)
        text = f"{path} を直した。"
        consolidate(home, replace(told_, content=text, evidence=text, refs=refs))
        assert len(note(home, "projects/shop.md").refs) == number + 1


def test_a_secret_leaves_no_trace_beside_the_vault(home: Home) -> None:
    secret = "ghp_" + "a1B2" * 9
    consolidate(home, told(f"鍵は {secret} にした。"))
    consolidate(home, told(f"鍵は {secret} に決めた。", 2))
    found = [
        path
        for path in home.root.rglob("*")
        if path.is_file() and secret.lower().encode() in path.read_bytes().lower()
    ]
    assert found == []


def test_what_a_person_wrote_in_a_project_s_note_is_no_insight_to_merge_into(home: Home) -> None:
    home.create()
    file = home.vault(Scope.WORK) / "projects/shop.md"
    file.parent.mkdir(parents=True)
    text = "書き出しは法務の確認待ち。"
    file.write_text(f"---\ntype: project\nid: 9cbdc8a9c789\ntitle: shop\n---\n# shop\n\n{text}\n")
    saved = consolidate(home, told(text, kind=Kind.PROJECT, subject="shop"))
    assert saved.outcome is Outcome.CREATED
    assert len(note(home, "projects/shop.md").entries) == 1

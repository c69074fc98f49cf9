"""What was replaced is found below what replaced it, says so, and is found all the same."""

from __future__ import annotations

from datetime import timedelta

import pytest

from context_engine.home import Home
from context_engine.insights import Insight, Kind
from context_engine.scopes import Scope
from index.model import Filters, Hit, SearchRequest
from index.search import Searcher
from index.succession import PENALTY
from index.writer import IndexWriter
from support.toy_embedder import ToyEmbedder
from support.vaults import START, insight
from workers.consolidation.consolidate import consolidate
from workers.consolidation.relation import Relation

EVERYTHING = Filters()
PAIRS = [
    ("We use RabbitMQ for the queue.", "We moved the queue from RabbitMQ to Valkey."),
    ("We log errors with Sentry.", "We no longer use Sentry for errors, they go to Grafana now."),
    ("The request timeout is 30 seconds.", "The request timeout is 60 seconds."),
    ("Backups run in the morning.", "Backups run in the evening."),
    ("キューはRabbitMQにする。", "キューはRabbitMQをやめてValkeyにする。"),
    ("認証基盤はKeycloakを採用する。", "認証基盤はKeycloakからCognitoに移行する。"),
    ("リクエストのタイムアウトは30秒。", "リクエストのタイムアウトは60秒。"),
    ("ダッシュボードはVueを使う。", "ダッシュボードはSvelteを使う。"),
]
NOISE = [
    "Standups are at ten.", "Invoices are sent on the first.", "The cache holds thumbnails.",
    "検索は毎晩作り直す。", "会議室は二階を使う。", "写真は圧縮して保存する。",
]  # fmt: skip


def told(text: str, day: int, kind: Kind = Kind.DECISION) -> Insight:
    return insight(
        title=text.rstrip("。."),
        content=text,
        evidence=text,
        kind=kind,
        subject="shop" if kind is Kind.PROJECT else None,
        event_id=f"{day + 1:032x}",
        created=START + timedelta(days=day),
        owner_said=True,
    )


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    home = Home(tmp_path_factory.mktemp("succession"))
    home.create()
    for day, (older, newer) in enumerate(PAIRS):
        consolidate(home, told(older, day))
        assert consolidate(home, told(newer, day + 20)).relation is Relation.SUPERSEDES
    for day, text in enumerate(NOISE):
        consolidate(home, told(text, day))
    with IndexWriter(home, Scope.WORK, ToyEmbedder()) as writer:
        writer.scan()
        writer.embed_pending()
    return Searcher(home, ToyEmbedder())


def hits(searcher: Searcher, text: str, filters: Filters = EVERYTHING) -> list[Hit]:
    request = SearchRequest(text, explain=True, filters=filters)
    return list(searcher.search(Scope.WORK, request).hits)


@pytest.mark.parametrize(("older", "newer"), PAIRS)
@pytest.mark.parametrize("asked", ["older", "newer", "first_word"])
def test_the_newer_stands_above_the_older_whatever_is_asked(
    searcher: Searcher, older: str, newer: str, asked: str
) -> None:
    queries = {"older": older, "newer": newer, "first_word": older.rstrip("。.").split()[-1]}
    found = [hit.title for hit in hits(searcher, queries[asked])]
    assert newer.rstrip("。.") in found
    assert older.rstrip("。.") in found
    assert found.index(newer.rstrip("。.")) < found.index(older.rstrip("。."))


def test_an_older_one_names_its_successor_and_loses_a_bounded_part(searcher: Searcher) -> None:
    found = {hit.title: hit for hit in hits(searcher, "queue RabbitMQ")}
    older = found["We use RabbitMQ for the queue"]
    newer = found["We moved the queue from RabbitMQ to Valkey"]
    assert older.superseded_by == newer.path
    assert newer.superseded_by is None
    assert older.explanation["succession"] == -PENALTY


def test_a_filter_that_the_newer_does_not_fulfil_leaves_it_out(searcher: Searcher) -> None:
    until = Filters(until=START + timedelta(days=15))
    titles = [hit.title for hit in hits(searcher, "queue RabbitMQ", filters=until)]
    assert "We use RabbitMQ for the queue" in titles
    assert "We moved the queue from RabbitMQ to Valkey" not in titles


def test_a_successor_that_shares_no_word_with_the_question_comes_along(home: Home) -> None:
    consolidate(home, told("店のキューはRabbitMQにする。", 0))
    newer = consolidate(home, told("店のキューはRabbitMQをやめてValkeyにする。", 3))
    file = home.vault(Scope.WORK) / newer.path
    file.write_text(file.read_text().replace("RabbitMQ", "前のもの"))
    with IndexWriter(home, Scope.WORK, None) as writer:
        writer.scan()
    found = Searcher(home, None).search(Scope.WORK, SearchRequest("RabbitMQ")).hits
    assert found[0].path == newer.path
    assert len(found) == 2


def test_a_state_of_a_project_is_found_below_the_newer_one(home: Home) -> None:
    consolidate(home, told("書き出しは法務の確認待ち。", 0, Kind.PROJECT))
    consolidate(home, told("書き出しは法務の確認が完了した。", 4, Kind.PROJECT))
    with IndexWriter(home, Scope.WORK, None) as writer:
        writer.scan()
    found = Searcher(home, None).search(Scope.WORK, SearchRequest("書き出し 法務 確認待ち")).hits
    assert [hit.heading for hit in found] == [
        "書き出しは法務の確認が完了した",
        "書き出しは法務の確認待ち",
    ]
    assert found[1].superseded_by == "projects/shop.md#書き出しは法務の確認が完了した"


def test_a_note_that_was_renamed_is_still_the_successor(home: Home) -> None:
    consolidate(home, told("キューはRabbitMQにする。", 0))
    newer = consolidate(home, told("キューはRabbitMQをやめてValkeyにする。", 3))
    file = home.vault(Scope.WORK) / newer.path
    file.rename(file.with_name(f"our-queue-{newer.insight_id}.md"))
    with IndexWriter(home, Scope.WORK, None) as writer:
        writer.scan()
    found = Searcher(home, None).search(Scope.WORK, SearchRequest("キューはRabbitMQにする")).hits
    assert [hit.superseded_by is None for hit in found] == [True, False]


def test_what_lost_its_successor_holds_again(home: Home) -> None:
    older = consolidate(home, told("キューはRabbitMQにする。", 0))
    newer = consolidate(home, told("キューはRabbitMQをやめてValkeyにする。", 3))
    (home.vault(Scope.WORK) / newer.path).unlink()
    with IndexWriter(home, Scope.WORK, None) as writer:
        writer.scan()
    request = SearchRequest("キューはRabbitMQにする", explain=True)
    (only,) = Searcher(home, None).search(Scope.WORK, request).hits
    assert (only.path, only.superseded_by) == (older.path, None)
    assert only.explanation["succession"] == 0.0

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest
from numpy.typing import NDArray

from context_engine.clock import ManualClock, isoformat
from context_engine.errors import DependencyDownError, IndexCorruptError, NotFoundError
from context_engine.home import Home
from context_engine.insights import Confidence, Kind
from context_engine.scopes import Scope
from context_engine.settings import EmbeddingSettings
from index.embedding.factory import make_embedder
from index.engines import Question, search_index
from index.lexical import parse_query
from index.model import Filters, SearchRequest
from index.readers import Readers
from index.results import rank
from index.search import Searcher
from support.notes import index_all, put_conversation, put_note
from support.toy_embedder import ToyEmbedder

NOW = datetime(2026, 11, 30, tzinfo=UTC)


class AwayEmbedder(ToyEmbedder):
    """Passages can be embedded, queries cannot."""

    def embed_query(self, text: str) -> NDArray[np.float32]:
        del text
        raise DependencyDownError("embedder", "is away")


def paths(searcher: Searcher, text: str, scope: Scope = Scope.WORK, **more: object) -> list[str]:
    filters = Filters(**more)  # type: ignore[arg-type]  # the tests below name real fields
    hits = searcher.search(scope, SearchRequest(text, filters=filters)).hits
    return [hit.path for hit in hits]


def test_a_hit_says_where_it_stands_and_how_both_engines_ranked_it(home: Home) -> None:
    put_note(
        home,
        "knowledge/decision/queue.md",
        "# キュー\n\nValkey にする。",
        kind="decision",
        title="キュー",
        summary="Valkeyにする",
        project="shop",
        tags="[queue, redis]",
        created="2026-11-02T09:05:11Z",
    )
    embedder = ToyEmbedder()
    index_all(home, embedder)
    request = SearchRequest("Valkey", explain=True)
    (hit,) = Searcher(home, embedder).search(Scope.WORK, request).hits
    assert (hit.title, hit.summary, hit.project) == ("キュー", "Valkeyにする", "shop")
    assert (hit.kind, hit.confidence) == (Kind.DECISION, Confidence.RAW)
    assert hit.tags == ("queue", "redis")
    assert (hit.bm25_rank, hit.vector_rank) == (1, 1)
    parts = ("lexical", "dense", "named", "freshness", "phrases")
    assert hit.score == pytest.approx(sum(hit.explanation[part] for part in parts))


def test_a_filter_leaves_ten_of_ten(home: Home) -> None:
    for number in range(60):
        project = "rare" if number % 6 == 0 else "common"
        put_note(home, f"n{number:02}.md", f"同じ話題の文 {number}", project=project, tags="[a, b]")
    embedder = ToyEmbedder()
    index_all(home, embedder)
    searcher = Searcher(home, embedder)
    assert len(paths(searcher, "同じ話題の文", project="rare")) == 10
    assert len(paths(searcher, "まったく別の何か", project="rare")) == 10
    assert len(paths(searcher, "話題", tags=("a", "b"))) == 10
    assert paths(searcher, "話題", tags=("a", "c")) == []


def test_dates_sources_and_people_filter(home: Home) -> None:
    put_conversation(home, "sources/claude/2026/11/a.md", "りんごの話", "みかんの話")
    put_note(home, "b.md", "りんごの話", people="[haru]", created="2025-01-01T00:00:00Z")
    index_all(home, None)
    searcher = Searcher(home, None)
    assert (
        paths(searcher, "りんご", source_types=("claude",)) == ["sources/claude/2026/11/a.md"] * 2
    )
    assert paths(searcher, "りんご", people=("haru",)) == ["b.md"]
    assert paths(searcher, "りんご", until=datetime(2025, 6, 1, tzinfo=UTC)) == ["b.md"]


def test_another_scope_changes_neither_hits_nor_scores(home: Home, tmp_path: Path) -> None:
    alone = Home(tmp_path / "alone")
    alone.create()
    embedder = ToyEmbedder()
    for each in (home, alone):
        put_note(each, "p.md", "公開のメモ Valkey", scope=Scope.PUBLIC)
        put_note(each, "mine.md", "自分のメモ Valkey", scope=Scope.PERSONAL)
    for number in range(40):
        put_note(home, f"w{number}.md", f"仕事のメモ Valkey {number}", scope=Scope.WORK)
    index_all(home, embedder, *Scope)
    index_all(alone, embedder, Scope.PUBLIC, Scope.PERSONAL)
    clock = ManualClock(NOW)
    request = SearchRequest("Valkey メモ", explain=True)
    found = Searcher(home, embedder, clock).search(Scope.PERSONAL, request).hits
    assert found == Searcher(alone, embedder, clock).search(Scope.PERSONAL, request).hits
    assert {hit.scope for hit in found} == {Scope.PERSONAL, Scope.PUBLIC}


def test_neighbours_come_in_order_and_only_from_readable_scopes(home: Home) -> None:
    texts = [f"{number} 番目の話" for number in range(9)]
    put_conversation(home, "sources/claude/2026/11/a.md", *texts)
    index_all(home, None)
    searcher = Searcher(home, None)
    hit = searcher.search(Scope.WORK, SearchRequest('"4 番目"')).hits[0]
    around = searcher.neighbours(Scope.WORK, hit.chunk_id, window=2)
    assert [chunk.text for chunk in around] == texts[2:7]
    with pytest.raises(NotFoundError):
        searcher.neighbours(Scope.PERSONAL, hit.chunk_id)


def test_one_note_does_not_crowd_out_the_others(home: Home) -> None:
    sections = "\n\n".join(f"## Valkey {number}\n\nValkey の話 {number}" for number in range(20))
    put_note(home, "long.md", sections)
    for number in range(8):
        put_note(home, f"n{number}.md", f"その他いろいろ、Valkey も {number}")
    index_all(home, None)
    found = paths(Searcher(home, None), "Valkey の話")
    assert len(found) == 10
    assert found.count("long.md") == 3


def test_the_pieces_of_one_long_message_are_one_hit(home: Home) -> None:
    put_conversation(home, "sources/claude/2026/11/a.md", "Valkeyの話をしよう。" * 300)
    index_all(home, None)
    assert paths(Searcher(home, None), "Valkey") == ["sources/claude/2026/11/a.md"]


def test_an_embedder_that_is_away_costs_the_vectors_not_the_answer(home: Home) -> None:
    put_note(home, "a.md", "Valkey のメモ")
    index_all(home, ToyEmbedder())
    result = Searcher(home, AwayEmbedder()).search(Scope.WORK, SearchRequest("Valkey"))
    assert [hit.path for hit in result.hits] == ["a.md"]
    assert any("keyword only" in warning for warning in result.warnings)


def test_vectors_of_another_model_are_not_compared(home: Home) -> None:
    put_note(home, "a.md", "Valkey のメモ")
    index_all(home, ToyEmbedder("old"))
    result = Searcher(home, ToyEmbedder("new")).search(Scope.WORK, SearchRequest("Valkey"))
    assert result.hits[0].vector_rank is None
    assert any("reindex" in warning for warning in result.warnings)


@pytest.mark.parametrize(
    "query",
    [
        "", " ", '"', '""', "AND OR NOT NEAR(", "a* OR b^2 {x} : y", "'; DROP TABLE chunk; --",
        "\x00\x01\x1f", "\ud800\udfff", "ー" * 10_000, "メモ " * 250_000, '"a' * 10_000, "\u202e逆",
        "😀", "(" * 5000, "col:メモ", "-メモ", "NEAR(メモ メモ, 2)",
    ],
)  # fmt: skip
def test_any_query_gets_an_answer_in_bounded_time(home: Home, query: str) -> None:
    put_note(home, "a.md", "メモ AND OR NOT")
    embedder = ToyEmbedder()
    index_all(home, embedder)
    started = time.perf_counter()
    result = Searcher(home, embedder).search(Scope.WORK, SearchRequest(query))
    assert time.perf_counter() - started < 5
    assert len(result.hits) <= 1


def test_a_newer_decision_stands_above_the_older_that_it_contradicts(
    home: Home, pytestconfig: pytest.Config
) -> None:
    for name, age, text in (
        ("old", 700, "配色は青にすると決めた。理由は見やすさ。"),
        ("new", 3, "配色は緑にすると決めた。理由は見やすさ。"),
        ("far", 1, "昼食の弁当を頼む店を決めた。"),
    ):
        created = isoformat(NOW - timedelta(days=age))
        path = f"knowledge/decision/{name}.md"
        put_note(home, path, text, title="決定", created=created, verified=created)
    # near in meaning is for the real model to say
    embedder = make_embedder(EmbeddingSettings(), pytestconfig.cache.mkdir("models"), "")
    index_all(home, embedder)
    searcher = Searcher(home, embedder, ManualClock(NOW))
    found = paths(searcher, "配色はどうすると決めたか")
    assert found[:2] == ["knowledge/decision/new.md", "knowledge/decision/old.md"]


def test_age_never_buries_the_only_match(home: Home) -> None:
    put_note(home, "projects/old.md", "キーボード配列は親指シフト", created="2020-01-01T00:00:00Z")
    for number in range(20):
        put_note(
            home, f"projects/p{number}.md", f"進捗の話 {number}", created="2026-11-29T00:00:00Z"
        )
    embedder = ToyEmbedder()
    index_all(home, embedder)
    searcher = Searcher(home, embedder, ManualClock(NOW))
    assert paths(searcher, "親指シフトの配列")[0] == "projects/old.md"


def test_a_damaged_index_is_said(home: Home) -> None:
    put_note(home, "a.md", "メモ")
    index_all(home, None)
    file = home.index(Scope.WORK)
    file.write_bytes(b"this is no database, whatever it was" * 300)
    with pytest.raises(IndexCorruptError, match="reindex --rebuild"):
        Searcher(home, None).search(Scope.WORK, SearchRequest("メモ"))


def test_threads_search_at_once(home: Home) -> None:
    for number in range(20):
        put_note(home, f"n{number}.md", f"メモ {number}")
    embedder = ToyEmbedder()
    index_all(home, embedder)
    searcher = Searcher(home, embedder, ManualClock(NOW))
    expected = searcher.search(Scope.WORK, SearchRequest("メモ 7")).hits
    answers: list[object] = []

    def ask() -> None:
        answers.extend(searcher.search(Scope.WORK, SearchRequest("メモ 7")).hits for _ in range(20))
        searcher.close()

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [expected] * 80


def test_a_home_without_an_index_answers_with_nothing(home: Home) -> None:
    searcher = Searcher(home, ToyEmbedder())
    assert searcher.search(Scope.WORK, SearchRequest("メモ")).hits == ()
    assert searcher.stats(Scope.WORK).chunks == 0


def test_placing_candidates_looks_through_no_other_notes(home: Home) -> None:
    for number in range(300):
        word = "Valkey" if number < 5 else "Postgres"
        put_note(
            home, f"knowledge/decision/n{number}.md", f"# n\n\n{word} {number}.", kind="decision"
        )
    index_all(home, ToyEmbedder())
    query = parse_query("Valkey")
    looked_through: list[int] = []

    def note(done: dict[str, Any]) -> None:
        looked_through.append(done["stmt_status"]["SQLITE_STMTSTATUS_FULLSCAN_STEP"])

    with Readers(home).open(Scope.WORK) as reader:
        assert reader is not None
        found = search_index(Scope.WORK, reader, Question(query, None, Filters()), [])
        reader.connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, note)
        assert len(rank(found, query, NOW.timestamp())) == 5
    assert looked_through
    assert sum(looked_through) < 50

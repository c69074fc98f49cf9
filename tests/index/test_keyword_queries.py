"""Queries that name things: what must come first, and what must not come at all."""

from __future__ import annotations

import pytest

from context_engine.home import Home
from context_engine.scopes import Scope
from index.model import SearchRequest
from index.search import Searcher
from support.notes import index_all, put_note
from support.toy_embedder import ToyEmbedder

NOTES = {
    "ticket": "ABC-123 の不具合を直した。原因は時刻の扱い。",
    "ticket-other": "ABC-1234 は別の件。請求書の書式を変える。",
    "function": "The helper get_user_id returns the key of the signed-in account.",
    "camel": "In the client the same thing is called getUserId since the rewrite.",
    "file": "Ports are set in config.toml, never in the environment.",
    "config": "The config of the printer is kept on paper by Tom L.",
    "rain": "梅雨は六月に始まる。洗濯物が乾かない。",
    "plum": "梅の実を漬ける。雨の日に庭へ出ない。",
    "server": "サーバーの再起動は夜に行う。",
    "apple": "りんごを三つ買った。",
    "lemon": "レモンは酸っぱい。",
    "shirt": "Ｔシャツを五枚たたむ。",
    "phrase": "We agreed to ship on Friday after the review.",
    "words": "On Friday we had a review; the ship left the harbour to no end.",
    "version": "Python 3.11 を使う。",
    "other-version": "出席者は 311 人だった。",
    "cpp": "The parser is written in C++ for speed.",
    "english": "The painting of the lake hangs in the hall.",
}

FIRST = [
    ("ABC-123", "ticket"),
    ("abc-123", "ticket"),
    ("ＡＢＣ－１２３", "ticket"),
    ("ABC-1234", "ticket-other"),
    ("get_user_id", "function"),
    ("config.toml", "file"),
    ("梅雨", "rain"),
    ("洗濯", "rain"),
    ("ｻｰﾊﾞ", "server"),
    ("サーバ 再起動", "server"),
    ("リンゴ", "apple"),
    ("ﾚﾓﾝ", "lemon"),
    ("Tシャツ", "shirt"),
    ('"ship on Friday"', "phrase"),
    ("“夜に行う”", "server"),
    ("3.11", "version"),
    ("C++", "cpp"),
    ("paintings", "english"),
    ("Python 3.11 の設定", "version"),
    ("why was ABC-123 broken?", "ticket"),
]


@pytest.fixture(scope="module", params=["keywords", "hybrid"])
def searcher(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    home = Home(tmp_path_factory.mktemp("keywords"))
    home.create()
    for name, text in NOTES.items():
        put_note(home, f"notes/{name}.md", text)
    embedder = ToyEmbedder() if request.param == "hybrid" else None
    index_all(home, embedder)
    return Searcher(home, embedder)


def names(searcher: Searcher, query: str) -> list[str]:
    hits = searcher.search(Scope.WORK, SearchRequest(query)).hits
    return [hit.path.removeprefix("notes/").removesuffix(".md") for hit in hits]


@pytest.mark.parametrize(("query", "expected"), FIRST)
def test_what_is_named_comes_first(searcher: Searcher, query: str, expected: str) -> None:
    assert names(searcher, query)[0] == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [('"ship on Friday"', ["phrase"]), ('"洗濯物が乾かない"', ["rain"]), ('"C++ for"', ["cpp"])],
)
def test_a_quoted_phrase_finds_only_what_holds_it(
    searcher: Searcher, query: str, expected: list[str]
) -> None:
    assert names(searcher, query) == expected


def test_a_phrase_that_occurs_nowhere_is_said_and_searched_as_words(searcher: Searcher) -> None:
    result = searcher.search(Scope.WORK, SearchRequest('"review on the harbour"'))
    assert any("occurs nowhere" in warning for warning in result.warnings)
    assert {hit.path for hit in result.hits[:2]} == {"notes/words.md", "notes/phrase.md"}


def test_both_spellings_of_an_identifier_find_both_notes(searcher: Searcher) -> None:
    assert set(names(searcher, "get_user_id")[:2]) == {"function", "camel"}


@pytest.mark.parametrize("query", ["ZZZ-999", "存在皆無", "qwxzv_foo"])
def test_words_that_occur_nowhere_have_no_keyword_rank(searcher: Searcher, query: str) -> None:
    hits = searcher.search(Scope.WORK, SearchRequest(query)).hits
    assert all(hit.bm25_rank is None for hit in hits)


def test_without_vectors_words_that_occur_nowhere_find_nothing(home: Home) -> None:
    put_note(home, "a.md", "何かの文")
    index_all(home, None)
    assert Searcher(home, None).search(Scope.WORK, SearchRequest("ZZZ")).hits == ()

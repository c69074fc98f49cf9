"""Each family gets its own words, an unknown one its own or none."""

from __future__ import annotations

import pytest

from index.embedding.prefixes import Prefixes, prefixes_for

SEARCH = "Represent this sentence for searching relevant passages: "


@pytest.mark.parametrize(
    ("model", "query", "passage"),
    [
        ("intfloat/multilingual-e5-base", "query: ", "passage: "),
        ("/models/multilingual-e5-large", "query: ", "passage: "),
        ("cl-nagoya/ruri-v3-130m", "検索クエリ: ", "検索文書: "),
        ("cl-nagoya/ruri-large-v2", "クエリ: ", "文章: "),
        ("pkshatech/GLuCoSE-base-ja-v2", "query: ", "passage: "),
        ("BAAI/bge-base-en-v1.5", SEARCH, ""),
        ("BAAI/bge-m3", "", ""),
        ("Alibaba-NLP/gte-multilingual-base", "", ""),
        ("nomic-embed-text:v1.5", "search_query: ", "search_document: "),
        ("google/embeddinggemma-300m", "task: search result | query: ", "title: none | text: "),
        ("snowflake-arctic-embed2", "query: ", ""),
        ("Snowflake/snowflake-arctic-embed-l-v2.0", "query: ", ""),
        ("Snowflake/snowflake-arctic-embed-m", SEARCH, ""),
        ("mxbai-embed-large", SEARCH, ""),
        ("sentence-transformers/static-similarity-mrl-multilingual-v1", "", ""),
        ("minishlab/potion-multilingual-128M", "", ""),
        ("sentence-transformers/all-MiniLM-L6-v2", "", ""),
    ],
)
def test_family(model: str, query: str, passage: str) -> None:
    assert prefixes_for(model) == Prefixes(query, passage)


@pytest.mark.parametrize("model", ["qwen3-embedding:0.6b", "multilingual-e5-large-instruct"])
def test_instructed_model_is_told_its_task(model: str) -> None:
    assert prefixes_for(model).query.startswith("Instruct: ")
    assert prefixes_for(model).passage == ""


def test_unknown_model_gets_what_it_declares() -> None:
    declared = {"query": "Q: ", "document": "D: ", "clustering": "C: "}
    assert prefixes_for("somebody/new-model", declared) == Prefixes("Q: ", "D: ")
    assert prefixes_for("somebody/new-model") == Prefixes()

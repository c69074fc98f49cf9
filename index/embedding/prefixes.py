"""What each model family wants to read before a query and before a passage.

Each was trained with its own words; left out, a model finds markedly less. Sources: the models'
own cards.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Prefixes:
    """Put before a text, as they are."""

    query: str = ""
    passage: str = ""


_SEARCH = "Represent this sentence for searching relevant passages: "
_INSTRUCT = (
    "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: "
)

# The first pattern that occurs in the lower-case name decides: the special before the general.
_FAMILIES: tuple[tuple[str, Prefixes], ...] = (
    (r"e5-.*instruct|e5-mistral|gte-qwen|qwen3-embedding|sfr-embedding", Prefixes(_INSTRUCT)),
    (r"ruri-v3", Prefixes("検索クエリ: ", "検索文書: ")),
    (r"ruri", Prefixes("クエリ: ", "文章: ")),
    (r"plamo", Prefixes("次の文章に対して、関連する文章を検索してください: ")),
    (r"embeddinggemma", Prefixes("task: search result | query: ", "title: none | text: ")),
    (r"nomic|modernbert-embed", Prefixes("search_query: ", "search_document: ")),
    (r"arctic-embed.*(?:v2|2)|arctic-embed2", Prefixes("query: ")),
    (r"arctic-embed|mxbai-embed", Prefixes(_SEARCH)),
    (r"bge-m3", Prefixes()),
    (r"bge-.*zh", Prefixes("为这个句子生成表示以用于检索相关文章：")),
    (r"bge-.*en|bge-(?:small|base|large)", Prefixes(_SEARCH)),
    (r"glucose-base-ja-v2|(?:^|[^a-z0-9])e5(?:[^a-z0-9]|$)", Prefixes("query: ", "passage: ")),
    (r"gte-|minilm|mpnet|static-|potion|model2vec|labse|jina-embeddings-v2", Prefixes()),
)
_QUERY_NAMES = ("query", "search_query", "retrieval_query")
_PASSAGE_NAMES = ("document", "passage", "corpus", "search_document", "retrieval_document")


def prefixes_for(model: str, declared: Mapping[str, str] | None = None) -> Prefixes:
    """Return the prefixes of the family that the name `model` tells.

    An unknown family gets the prompts that the model itself declares, else none.
    """
    name = model.lower()
    for pattern, prefixes in _FAMILIES:
        if re.search(pattern, name):
            return prefixes
    return Prefixes(
        _first(declared or {}, _QUERY_NAMES),
        _first(declared or {}, _PASSAGE_NAMES),
    )


def _first(declared: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((declared[name] for name in names if declared.get(name)), "")

"""The tokenizer against the `tokenizers` library on the whole real vocabulary."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, pre_tokenizers
from tokenizers import models as token_models

from index.embedding.conversion import ensure_converted
from index.embedding.text import clean
from index.embedding.unigram import UnigramTokenizer
from index.embedding.weights import find_weights, open_weights, read_pieces

ALPHABET = st.sampled_from(
    [
        *"abcdeinorstuAPI 0123._-/:;()'\"",
        *"のはをがでとにする日本語東京会議漢字カナデーター。、「」",
        "😀",
        "𠮷",
        "Ж",
        "ا",
    ]
)
SAMPLES = (
    "",
    "a",
    "東京は日本の首都である。",
    "The quick brown fox; don't panic -- version 2.13.0 (see README.md)",
    "hello😀😀😀world",
    "𠮷野家で𩸽を食べた",
    "https://example.test/a/b?c=d&e=f#g",
    "def f(x: int) -> int: return x ** 2",
    "Straße naïve café Ελλάδα Москва مرحبا 안녕하세요 नमस्ते",
    "=" * 300 + "~" * 300,
)


@pytest.fixture(scope="module")
def ours(models: Path) -> UnigramTokenizer:
    return UnigramTokenizer(ensure_converted(models).trie(), open_weights(find_weights()).unknown)


@pytest.fixture(scope="module")
def theirs() -> Tokenizer:
    weights = open_weights(find_weights())
    pieces = read_pieces(weights)
    # Text never has these, so that the library cannot take a piece of text for a mark.
    texts = list(pieces.texts)
    for place, mark in enumerate(pieces.special):
        texts[mark] = chr(0x10F000 + place)
    vocabulary = list(zip(texts, pieces.scores.tolist(), strict=True))
    tokenizer = Tokenizer(token_models.Unigram(vocabulary, unk_id=weights.unknown))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always", split=False)
    return tokenizer


def library_ids(tokenizer: Tokenizer, text: str) -> list[int]:
    return list(tokenizer.encode(text, add_special_tokens=False).ids)


@pytest.mark.parametrize("text", SAMPLES)
def test_tokens_are_those_of_the_library(
    ours: UnigramTokenizer, theirs: Tokenizer, text: str
) -> None:
    expected = library_ids(theirs, text) if text else ours.encode("")
    assert ours.encode(text) == expected


@settings(max_examples=300, deadline=None)
@given(st.lists(ALPHABET, max_size=120).map("".join))
def test_tokens_of_any_text_are_those_of_the_library(
    ours: UnigramTokenizer, theirs: Tokenizer, text: str
) -> None:
    cleaned = clean("query: " + text)
    assert ours.encode(cleaned) == library_ids(theirs, cleaned)


def test_marks_in_a_text_are_text(ours: UnigramTokenizer) -> None:
    ids = ours.encode("</s> <s> <pad> <unk> <mask>")
    assert not {0, 1, 2, 250_001} & set(ids)


def test_run_of_unknown_characters_is_one_token(ours: UnigramTokenizer) -> None:
    assert ours.encode("a\U000f1234\U000f1235\U000f1236b").count(3) == 1

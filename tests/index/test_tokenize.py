from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.tokenize import fold, names_in, tokenize


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ｻｰﾊﾞｰ", "サーバー"),
        ("サーバー", "サーバ"),
        ("ユーザー", "ユーザ"),
        ("りんご", "リンゴ"),
        ("ＡＢＣ－１２３", "ABC-123"),
        ("Ｒｅｄｉｓ", "redis"),
        ("㈱", "(株)"),
    ],
)
def test_width_kana_and_long_marks_do_not_matter(one: str, other: str) -> None:
    assert tokenize(one) == tokenize(other)


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("get_user_id", {"get_user_id", "getuserid", "get", "user", "id"}),
        ("getUserId", {"getuserid", "get", "user", "id"}),
        ("HTTPServer", {"httpserver", "http", "server"}),
        ("ABC-123", {"abc-123", "abc123", "abc", "123"}),
        ("config.toml", {"config.toml", "config", "toml"}),
    ],
)
def test_an_identifier_is_kept_whole_and_in_parts(word: str, parts: set[str]) -> None:
    assert parts <= set(tokenize(word))


def test_versions_are_not_glued_into_other_numbers() -> None:
    assert "311" not in tokenize("3.11")


def test_japanese_becomes_bigrams_and_single_kanji() -> None:
    assert tokenize("梅雨入り") == ["梅雨", "雨入", "入り", "梅", "雨", "入"]


@pytest.mark.parametrize(
    ("one", "other"), [("paints", "painting"), ("decided", "decides"), ("libraries", "library")]
)
def test_forms_of_an_english_word_are_one_token(one: str, other: str) -> None:
    assert tokenize(one) == tokenize(other)


def test_a_short_japanese_query_is_a_name_and_a_sentence_is_not() -> None:
    assert [name.tokens for name in names_in("梅雨")] == [("梅雨",)]
    assert names_in("梅雨はいつ始まりますか") == ()
    assert [name.tokens for name in names_in("why did ABC-123 fail")] == [("abc-123",)]


@given(st.text())
def test_any_text_has_tokens_that_fts5_takes_apart_at_spaces_only(text: str) -> None:
    for token in tokenize(text):
        assert token
        assert not set(token) & set(' \t\n\0"')
        token.encode("utf-8")


@given(st.text())
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


def test_hostile_megabytes_take_linear_time() -> None:
    for text in (
        "a-" * 500_000,
        "ー" * 10**6,
        "A" * 10**6,
        "aA" * 500_000,
        "'" * 10**6,
        "a." * 500_000,
    ):
        started = time.perf_counter()
        tokenize(text)
        assert time.perf_counter() - started < 20

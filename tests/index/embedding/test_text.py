"""Cleaning: what no tokenizer must meet is gone, quickly, and nothing else."""

from __future__ import annotations

import re
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.embedding.text import MAX_CHARACTERS, clean


@given(st.text(st.characters(codec=None, exclude_categories=())))
def test_result_is_one_clean_line(text: str) -> None:
    cleaned = clean(text)
    assert re.search(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]|  |^ | $", cleaned) is None
    assert len(cleaned) <= MAX_CHARACTERS


@given(st.text())
def test_cleaning_twice_changes_nothing(text: str) -> None:
    once = clean(text)
    assert clean(once) == once


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ﾊﾟｿｺﾝ　Ｎｏ．１", "パソコン No.1"),
        ("10～20人", "10～20人"),
        ("a\u200bb\ufeffc", "a b c"),
        ("e\u0301", "é"),
        ("\ufdfa", unicodedata.normalize("NFKC", "\ufdfa")),
        ("\ud83d", ""),
        ("tab\tand\r\nline", "tab and line"),
    ],
)
def test_known_texts(text: str, expected: str) -> None:
    assert clean(text) == expected


@pytest.mark.parametrize("text", ["e" + "\u0301\u0316" * 2_000_000, "\x00 " * 3_000_000])
def test_time_does_not_grow_with_the_text(text: str) -> None:
    started = time.process_time()
    clean(text)
    assert time.process_time() - started < 1

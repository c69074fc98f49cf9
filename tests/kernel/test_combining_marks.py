"""Long runs of combining marks are cut, and nothing else."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from context_engine.text import MAX_MARKS, cap_marks


def test_a_run_of_a_hundred_thousand_marks_is_cut_to_what_languages_need() -> None:
    text = "a" + "\u0315\u0300\u05ae" * 33_334 + "b"
    assert len(cap_marks(text)) == MAX_MARKS + 2
    assert unicodedata.normalize("NFC", cap_marks(text)).endswith("b")


@given(st.text(max_size=MAX_MARKS))
def test_text_of_any_language_stays_as_it_is(text: str) -> None:
    assert cap_marks(text) == text
    assert cap_marks("パスワード Größe e\u0301" + text) == "パスワード Größe e\u0301" + text

"""File names are safe on every file system, whatever the title."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from context_engine.ids import short_id
from vault.names import MAX_NAME_BYTES, note_name, slug, subject_slug

ANY_TEXT = st.text(max_size=300)
SAFE = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*\.md\Z")


@given(ANY_TEXT, st.dates(), st.integers(1, 99_999))
@example("../../etc/passwd", datetime(2026, 1, 1, tzinfo=UTC).date(), 1)
@example("con", datetime(2026, 1, 1, tzinfo=UTC).date(), 1)
@example('\x00\n\r/\\:*?"<>|.md', datetime(2026, 1, 1, tzinfo=UTC).date(), 2)
@example("a" * 5000, datetime(2026, 1, 1, tzinfo=UTC).date(), 2)
@example("\ud800", datetime(2026, 1, 1, tzinfo=UTC).date(), 2)
@example("ﬁﬃ㍿" * 100, datetime(2026, 1, 1, tzinfo=UTC).date(), 2)
def test_every_name_is_short_lower_case_ascii(title: str, day: object, part: int) -> None:
    date = datetime.fromisoformat(f"{day}T00:00:00+00:00")
    name = note_name(title, short_id("x", "y"), date=date, part=part)
    assert SAFE.match(name.replace(f"{date:%Y}", f"{date.year:04d}"))
    assert len(name.encode()) <= MAX_NAME_BYTES
    assert unicodedata.normalize("NFC", name) == name


@given(ANY_TEXT)
def test_a_slug_of_a_slug_is_itself(title: str) -> None:
    assert slug(slug(title)) == slug(title)


@given(ANY_TEXT.filter(str.strip))
def test_a_subject_always_has_a_safe_stem(name: str) -> None:
    stem = subject_slug(name)
    assert SAFE.match(f"{stem}.md")
    assert stem not in {"con", "prn", "aux", "nul", "com1", "lpt9"}


@given(ANY_TEXT.filter(str.strip), ANY_TEXT.filter(str.strip))
def test_subjects_share_a_note_only_when_their_names_fold_to_the_same(one: str, two: str) -> None:
    def folded(name: str) -> str:
        plain = " ".join(unicodedata.normalize("NFKC", name).casefold().split())
        return re.sub(r"[ _.\-]+", "-", plain).strip("-")

    if subject_slug(one) == subject_slug(two):
        assert folded(one) == folded(two)


def test_japanese_names_that_look_alike_get_different_notes() -> None:
    assert subject_slug("田中") != subject_slug("田口")
    assert subject_slug("C++") != subject_slug("C#")


def test_spelling_variants_of_one_name_share_a_note() -> None:
    assert subject_slug("Shop API") == subject_slug("shop-api") == subject_slug("ｓｈｏｐ＿api")


def test_a_mixed_title_keeps_its_latin_words() -> None:
    assert slug("Redis を Valkey に替える") == "redis-valkey"
    assert slug("キューの選定") == ""


def test_a_long_title_is_cut_between_words() -> None:
    assert slug("word " * 40).endswith("word")
    assert len(slug("word " * 40)) <= 60


@pytest.mark.parametrize("bad", ["", "../x", "A", "a b", "x" * 41])
def test_an_id_that_is_none_is_refused(bad: str) -> None:
    with pytest.raises(ValueError, match="not an id"):
        note_name("title", bad)


def test_a_blank_subject_is_refused() -> None:
    with pytest.raises(ValueError, match="needs a name"):
        subject_slug(" 　")

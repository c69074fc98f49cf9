from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.chunking import OVERLAP, SIZE, Section, split_section, split_sections


def pieces(text: str) -> list[str]:
    return [piece.text for piece in split_section(Section((), text))]


def test_a_note_is_cut_at_its_h2_headings_and_keeps_the_heading_path() -> None:
    body = "# Title\n\nlead\n\n## One\n\na\n\n### Deep\n\nb\n\n## Two\n\nc"
    found = [(section.heading, section.text) for section in split_sections(body)]
    assert found == [((), "lead"), (("One",), "a\n\n### Deep\n\nb"), (("Two",), "c")]


def test_a_heading_inside_a_code_fence_is_code() -> None:
    body = "## One\n\n```\n## not a heading\n```\n\nafter"
    assert [section.heading for section in split_sections(body)] == [("One",)]


def test_a_long_japanese_paragraph_is_cut_after_a_sentence() -> None:
    found = pieces("今日は天気がよいので散歩に行きました。" * 80)
    assert len(found) > 1
    assert all(piece.endswith("。") for piece in found)


def test_a_piece_is_bounded_and_begins_with_the_end_of_the_one_before() -> None:
    found = pieces(" ".join(f"word{number}" for number in range(1000)))
    assert all(len(piece) <= SIZE + OVERLAP + 1 for piece in found)
    for before, after in pairwise(found):
        overlap = after.split("\n", 1)[0]
        assert overlap
        assert before.rstrip().endswith(overlap)


def test_code_that_is_too_long_is_fenced_in_every_piece() -> None:
    found = pieces("```python\n" + "value = compute(1)\n" * 200 + "```")
    assert len(found) > 1
    assert all(piece.startswith("```python\n") and piece.endswith("\n```") for piece in found)


def test_a_table_that_is_too_long_repeats_its_header() -> None:
    found = pieces("| name | value |\n|---|---|\n" + "| some name | 123 |\n" * 100)
    assert len(found) > 1
    assert all(piece.startswith("| name | value |\n|---|---|\n") for piece in found)


def test_a_table_that_fits_is_not_torn() -> None:
    table = "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 30
    found = pieces("文章です。" * 150 + "\n\n" + table.strip())
    assert any(table.strip() in piece for piece in found)


def test_subsections_of_a_long_section_name_themselves_in_the_heading_path() -> None:
    text = "\n\n".join(f"### Part {n}\n\n" + "word " * 120 for n in range(3))
    headings = [piece.heading for piece in split_section(Section(("Top",), text))]
    assert headings == [("Top", "Part 0"), ("Top", "Part 1"), ("Top", "Part 2")]


@given(st.text(alphabet=st.sampled_from("ab。.\n #|`~- 日本"), max_size=3000))
def test_no_word_is_lost_whatever_the_text(text: str) -> None:
    body = "".join(section.text for section in split_sections(text))
    kept = "".join(piece for s in split_sections(text) for piece in pieces(s.text))
    for letter in "ab日本":
        assert kept.count(letter) >= body.count(letter)


HOSTILE = [
    "a" * 10**6,
    "。" * 10**6,
    "```\n" * 250_000,
    "# a" + " " * 10**6 + "b",
    "|" * 10**6,
    "## " + "<!--" * 250_000,
    "\n" * 10**6,
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_megabyte_takes_linear_time(text: str) -> None:
    started = time.perf_counter()
    for section in split_sections(text):
        pieces(section.text)
    assert time.perf_counter() - started < 20

"""Sections and links are found as Markdown readers find them."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from vault.markdown import Link, links, sections

PIECES = st.sampled_from(
    ["# ", "## ", "### ", "#", "\n", "\n\n", "題", "x", "```", "~~~", "---", "===", "    ", "  ",
     "- ", "> ", "<div>", "<!--", "-->", "1. ", " #", "\r\n", "\t"]
)  # fmt: skip


def test_fenced_number_signs_are_no_heading_and_underlined_titles_are() -> None:
    body = "lead\n\n```sh\n## no\n```\n\n題\n===\n\ntext\n\n### 小さい ###\nend\n- ## in a list\n"
    found = [(s.level, s.title, s.text) for s in sections(body)]
    assert found == [
        (0, "", "lead\n\n```sh\n## no\n```"),
        (1, "題", "text"),
        (3, "小さい", "end\n- ## in a list"),
    ]


def test_marker_comments_are_no_part_of_a_title() -> None:
    (section,) = sections("## aki · 09:05 <!-- ce:u=1f0e9d8c7b6a5948 owner -->\n\nx")
    assert section.title == "aki · 09:05"


@settings(max_examples=400)
@given(st.lists(PIECES | st.text(max_size=3), max_size=20).map("".join))
def test_headings_are_those_of_a_markdown_parser(body: str) -> None:
    tokens = MarkdownIt("commonmark").parse(body)
    expected = [
        (int(token.tag[1:]), (token.map or [0])[0])
        for token in tokens
        if token.type == "heading_open" and token.level == 0
    ]
    assert [(s.level, s.start) for s in sections(body) if s.level] == expected


@given(st.lists(PIECES | st.text(max_size=3), max_size=20).map("".join))
def test_sections_cover_the_body_without_gap(body: str) -> None:
    found = sections(body)
    for before, after in pairwise(found):
        assert before.end == after.start


def test_links_are_found_outside_code_alone() -> None:
    body = "[[メモ|別名]] と [題](a/b.md) `[[no]]`\n\n```\n[[no]] [no](x)\n```\n\\[[no]]"
    assert links(body) == (
        Link("メモ", "別名", wiki=True),
        Link("a/b.md", "題", wiki=False),
    )

"""Front matter is read by safe rules, and changed without touching what a person wrote."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from context_engine.errors import BadInputError
from vault.frontmatter import MAX_BYTES, parse, render, split, wrap
from vault.frontmatter_edit import update

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**17), 10**17)
    | st.text(max_size=30)
    | st.sampled_from(["no", "12:30", "2026-11-02", "0x1f", "1e5", "~", "- a", "a: b", "#", "田中"])
)
KEYS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1, max_size=12)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)
FIELDS = st.dictionaries(KEYS, VALUES, max_size=6)

PERSONS_OWN = """\
# 自分用のメモ 🎉
type: source   # do not touch
title: "Redis を Valkey に替える"
tags: [他者情報, "no"] # two
refs:
  - {repo: /home/aki/shop, path: compose.yaml, commit: null}
  # and a comment
empty:   # nothing yet
quote: 'single'
folded: >
  一行目
  二行目

updated: 2026-11-02T09:41:00Z # when
"""


@given(FIELDS)
def test_what_is_rendered_reads_back_the_same(fields: dict[str, Any]) -> None:
    assert parse(render(fields), "note.md") == fields


@given(FIELDS, FIELDS)
def test_changed_entries_read_back_and_the_others_stay(
    fields: dict[str, Any], changes: dict[str, Any]
) -> None:
    assert parse(update(render(fields), changes, "note.md"), "note.md") == fields | changes


@given(st.dictionaries(st.sampled_from(["type", "title", "tags", "refs", "new"]), VALUES))
def test_a_persons_comments_and_other_entries_survive_any_change(changes: dict[str, Any]) -> None:
    text = update(PERSONS_OWN, changes, "note.md")
    for line in (
        "# 自分用のメモ 🎉",
        "empty:   # nothing yet",
        "quote: 'single'",
        "  # and a comment",
    ):
        assert line in text
    assert text.index("type:") < text.index("title:") < text.index("tags:") < text.index("refs:")
    assert "# do not touch" in text
    assert "folded: >\n  一行目\n  二行目\n" in text


def test_an_update_without_news_changes_no_byte() -> None:
    changes = {"type": "source", "tags": ["他者情報", "no"], "updated": "2026-11-02T09:41:00Z"}
    assert update(PERSONS_OWN, changes, "note.md") == PERSONS_OWN


@pytest.mark.parametrize("text", ["{a: 1, b: 2}\n", "  a: 1\n  b: 2\n", "? a\n: 1\n? b\n: 2\n"])
def test_unusual_styles_are_changed_too(text: str) -> None:
    assert parse(update(text, {"a": "新", "c": [1]}, "n.md"), "n.md") == {
        "a": "新",
        "b": 2,
        "c": [1],
    }


def test_words_that_only_look_like_values_stay_words() -> None:
    text = "a: no\nb: 12:30\nc: 2026-11-02\nd: 1_000\ne: 0o17\n"
    expected = {"a": "no", "b": "12:30", "c": "2026-11-02", "d": "1_000", "e": "0o17"}
    assert parse(text, "n.md") == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: &x 1\nb: *x\n", "anchors"),
        ("a: !!python/object:os.system x\n", "tags"),
        ("a: 1\na: 2\n", "twice"),
        ("- 1\n- 2\n", "mapping"),
        ("a: " + "[" * 20 + "]" * 20, "deeper"),
        ("a: 1\n--- \nb: 2\n", "more than one"),
        ("a: [\n", "YAML"),
        ("a: \x07\n", "YAML"),
        ("a: \ud800\n", "surrogate"),
        ("? [1, 2]\n: 3\n", "plain words"),
        ("a: " + "x" * MAX_BYTES, "bytes"),
    ],
)
def test_hostile_front_matter_is_refused_with_its_reason(text: str, reason: str) -> None:
    with pytest.raises(BadInputError, match=reason) as caught:
        parse(text, "note.md")
    assert caught.value.place == "note.md"


def test_an_alias_bomb_costs_nothing() -> None:
    bomb = "a: &a [x,x]\n" + "".join(
        f"{b}: &{b} [*{a},*{a}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    started = time.monotonic()
    with pytest.raises(BadInputError):
        parse(bomb, "n.md")
    assert time.monotonic() - started < 1


@given(st.text(max_size=400))
@example("a: >\n")
@example("%YAML 9.9\n---\na: 1")
@example("a: 1\n...\nb")
@example("'a")
@example("\ufeff")
@example("a: 999999999999999999999999999999")
def test_no_text_raises_anything_but_the_named_error(text: str) -> None:
    try:
        fields = parse(text, "n.md")
        update(text, {"x": 1}, "n.md")
    except BadInputError:
        return
    assert isinstance(fields, dict)


@given(
    st.lists(
        st.sampled_from(
            [
                "a",
                ":",
                " ",
                "\n",
                "- ",
                "[",
                "]",
                "{",
                "}",
                ",",
                "'",
                '"',
                "|",
                ">",
                "#",
                "&",
                "*",
                "!",
                "?",
                "---",
                "%",
                "\t",
                "田",
            ]
        ),
        max_size=40,
    )
)
def test_no_yaml_salad_raises_anything_but_the_named_error(pieces: list[str]) -> None:
    text = "".join(pieces)
    try:
        before = parse(text, "n.md")
        after = parse(update(text, {"title": "題", "a": [1]}, "n.md"), "n.md")
    except BadInputError:
        return
    assert after == before | {"title": "題", "a": [1]}


@given(st.text(max_size=300))
def test_a_note_is_its_head_and_its_body(text: str) -> None:
    for note in (text, f"---\n{text}", wrap(render({"a": text})) + text):
        parts = split(note)
        assert parts.head + parts.body == note


def test_front_matter_is_found_behind_a_byte_order_mark_and_with_windows_line_ends() -> None:
    parts = split("\ufeff---\r\ntitle: 題\r\n---\r\nbody\r\n")
    assert parse(parts.yaml or "", "n.md") == {"title": "題"}
    assert parts.body == "body\r\n"


def test_a_rule_at_the_top_is_no_front_matter() -> None:
    assert split("---\njust a line below a rule\n").yaml is None

"""Foreign text can only be text: it forges nothing, leaves nothing open, and reads back whole."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from vault.blocks import parse_body
from vault.escape import canonical, escape, one_line, unescape

FRAGMENTS = st.sampled_from(
    ["# ", "## ", "#", "`", "``", "```", "````", "~~~", "\n", "\n\n", "\\", "<", "<b>", "<div>",
     "<!-- ce:u=", "<!-- ce:i=0123456789abcdef raw -->", "-->", "<!--", "-", "---", "===", "=",
     "    ", "  ", " ", "- ", "1. ", "> ", "x", "田中", "![", "](u)", "[", "!", "```py\n",
     "\n```\n", "\t", "<https://x.y>", "<https://x`y>", "<?", "<![CDATA[", "</div>", "[a]: /u '",
     "'", '"', "(", ")", "## aki · 2026-11-02 09:05 UTC <!-- ce:u=1f0e9d8c7b6a5948 owner -->",
     "\r\n"]
)  # fmt: skip
HOSTILE = st.lists(FRAGMENTS | st.text(max_size=3), max_size=30).map("".join)
MARKDOWN = MarkdownIt("commonmark")


def tokens(text: str) -> list[Token]:
    found = MARKDOWN.parse(f"## head\n\n{text}\n\n## end\n")
    return [token for block in found for token in (block, *(block.children or []))]


@settings(max_examples=400)
@given(HOSTILE)
def test_text_reads_back_as_it_was(text: str) -> None:
    assert unescape(escape(canonical(text))) == canonical(text)


@settings(max_examples=400)
@given(HOSTILE)
def test_no_text_adds_a_heading_or_swallows_the_next(text: str) -> None:
    escaped = escape(canonical(text))
    headings = [t for t in tokens(escaped) if t.type == "heading_open" and t.level == 0]
    lines = f"## head\n\n{escaped}\n\n## end\n".count("\n")
    assert [t.map for t in headings] == [[0, 1], [lines - 1, lines]]


@settings(max_examples=400)
@given(HOSTILE)
def test_no_text_brings_live_html_or_a_remote_image(text: str) -> None:
    found = {token.type for token in tokens(escape(canonical(text)))}
    assert not found & {"html_block", "html_inline", "image"}


@settings(max_examples=400)
@given(HOSTILE)
def test_no_text_forges_a_marker(text: str) -> None:
    escaped = escape(canonical(text))
    assert "<!-- ce:" not in escaped
    assert parse_body(f"{escaped}\n").blocks == ()


@given(HOSTILE)
def test_the_canonical_form_is_stable_even_when_escaped(text: str) -> None:
    assert canonical(canonical(text)) == canonical(text)
    assert canonical(escape(canonical(text))) == escape(canonical(text))


@pytest.mark.parametrize(
    "text",
    [
        "```python\n# a comment, no heading\nprint('<b>')\n```",
        "型は `List<String>` です。",
        "1. まず:\n\n   ```sh\n   echo '# x' > <file>\n   ```\n\n2. 次",
        "前\n\n---\n\n後",
        "see <https://example.org/a?b=c>",
        "a < b && c > d, #123, C#",
    ],
)
def test_ordinary_text_and_code_keep_their_look(text: str) -> None:
    assert escape(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("## 見出し", "\\## 見出し"),
        ("題\n===", "題\n\\==="),
        ("```\nnever closed", "\\```\nnever closed"),
        ("<script>x</script>", "\\<script>x\\</script>"),
        ("\\<b>", "\\\\\\<b>"),
        ("![x](https://e.vil/?q=1)", "!\\[x](https://e.vil/?q=1)"),
        ("<!-- ce:u=0 -->", "\\<!-- ce\\:u=0 -->"),
    ],
)
def test_what_could_act_is_shown_literally(text: str, shown: str) -> None:
    assert escape(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "\\" * 100_000,
        "` " * 50_000,
        "~~~ a\n" * 20_000,
        "<a" * 50_000,
        "`a` <b> " * 10_000,
        "<!--" * 25_000,
        "\n".join("`" * n for n in range(500, 2, -1)),
        "  ```\n" + ">" * 50_000 + "\n  ```",
        "  ```\n  ```\n" + "[a]: <" * 15_000,
    ],
    ids=range(9),
)
def test_time_grows_with_length_alone(text: str) -> None:
    started = time.process_time()
    assert unescape(escape(canonical(text))) == canonical(text)
    assert time.process_time() - started < 10


def test_decomposed_kana_and_windows_line_ends_become_one_form() -> None:
    assert canonical("か\u3099\r\nき\r") == "が\nき"


def test_control_characters_are_dropped() -> None:
    assert canonical("a\x00\x1b[31mb\x9bc\td") == "a[31mbc\td"


def test_one_line_is_one_line() -> None:
    assert one_line("一\n二\t三", 10) == "一 二 三"
    assert one_line("あ" * 20, 10) == "あ" * 9 + "…"

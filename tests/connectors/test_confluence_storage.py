"""Storage format becomes Markdown that a person can read, and nothing of it is lost."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.confluence_elements import Context
from connectors.confluence_storage import storage_to_markdown
from connectors.confluence_wiki import wiki_to_markdown
from support.confluence import cdata_inside, code, macro, rich

PEOPLE = {"8a7f0001": "Aki"}


def shown(text: str) -> str:
    return storage_to_markdown(text, Context(user=lambda key: PEOPLE.get(key, key)))


def unknown(text: str) -> list[str]:
    context = Context()
    storage_to_markdown(text, context)
    return context.unknown


def test_code_keeps_its_language_and_every_byte_of_its_body() -> None:
    source = 'if (a[b[0]]>1 && x<2) {\n\n    return "&nbsp;"; // <b>\n}\n```\n*not bold*'
    assert shown(code(source, language="java")) == f"````java\n{source}\n````"


def test_code_that_the_export_spoiled_with_a_space_is_mended_before_it_is_read() -> None:
    from connectors.confluence_xml import mend_cdata

    spoiled = code("a[b[0]]>1").replace("]]>", "]] >")
    assert "a[b[0]]>1" in shown(mend_cdata(spoiled))


@pytest.mark.parametrize(
    ("name", "label"), [("info", "Info"), ("note", "Note"), ("warning", "Warning"), ("tip", "Tip")]
)
def test_boxes_are_quoted_with_their_label_and_title(name: str, label: str) -> None:
    text = macro(name, rich("<p>One.</p><p>Two.</p>"), {"title": "Mind"})
    assert shown(text) == f"> **{label}: Mind**\n>\n> One.\n>\n> Two."


def test_panels_expands_excerpts_and_statuses_keep_what_they_hold() -> None:
    assert shown(macro("panel", rich("<p>x</p>"), {"title": "T"})) == "> **T**\n>\n> x"
    assert shown(macro("expand", rich("<p>x</p>"), {"title": "More"})) == "**More**\n\nx"
    assert shown(macro("excerpt", rich("<p>x</p>"))) == "x"
    assert shown(f"<p>Now: {macro('status', '', {'title': 'DONE', 'colour': 'Green'})}.</p>") == (
        "Now: [DONE]."
    )


def test_the_table_of_contents_and_anchors_leave_nothing() -> None:
    assert shown(macro("toc", "", {"maxLevel": "3"}) + macro("anchor", "", {"": "x"})) == ""


def test_an_unknown_macro_keeps_its_text_and_is_counted() -> None:
    text = macro("roadmap", rich("<p>Ship <strong>it</strong></p>"))
    assert shown(text) == "Ship **it**"
    assert unknown(text) == ["macro:roadmap"]


def test_an_unknown_macro_without_text_shows_its_parameters() -> None:
    text = macro("roadmap", "", {"source": "a", "title": "Q3"})
    assert shown(text) == "[roadmap: source=a, title=Q3]"
    assert unknown(text) == ["macro:roadmap"]


def test_macros_inside_macros_are_all_rendered() -> None:
    inner = code("x = 1", language="python")
    text = macro("panel", rich(macro("info", rich(f"<p>a</p>{inner}"))))
    assert shown(text) == "> > **Info:**\n> >\n> > a\n> >\n> > ```python\n> > x = 1\n> > ```"


def test_tasks_are_boxes_and_keep_their_nesting() -> None:
    text = (
        "<ac:task-list><ac:task><ac:task-id>1</ac:task-id><ac:task-status>complete</ac:task-status>"
        "<ac:task-body>write</ac:task-body></ac:task><ac:task><ac:task-id>2</ac:task-id>"
        "<ac:task-status>incomplete</ac:task-status><ac:task-body>send"
        "<ac:task-list><ac:task><ac:task-status>incomplete</ac:task-status><ac:task-body>stamp"
        "</ac:task-body></ac:task></ac:task-list></ac:task-body></ac:task></ac:task-list>"
    )
    assert shown(text) == "- [x] write\n- [ ] send\n  - [ ] stamp"


def test_links_name_pages_people_files_and_keep_their_words() -> None:
    page = '<ri:page ri:space-key="OPS" ri:content-title="Run book" />'
    assert shown(f"<p><ac:link>{page}</ac:link></p>") == "[[Run book]]"
    assert (
        shown(
            f"<p>see <ac:link>{page}<ac:plain-text-link-body>{cdata_inside('this & that')}"
            "</ac:plain-text-link-body></ac:link>.</p>"
        )
        == "see [[Run book|this & that]]."
    )
    assert (
        shown(f"<p><ac:link>{page}<ac:link-body>the <em>book</em></ac:link-body></ac:link></p>")
        == "[[Run book|the *book*]]"
    )
    assert shown('<p><ac:link><ri:user ri:userkey="8a7f0001" /></ac:link> decides</p>') == (
        "@Aki decides"
    )
    assert shown('<p><ac:link><ri:attachment ri:filename="plan.pdf" /></ac:link></p>') == (
        "[Attachment: plan.pdf]"
    )
    assert shown('<p><a href="https://x.example/a(b)">x</a></p>') == (
        "[x](<https://x.example/a(b)>)"
    )


def test_images_are_named_with_alt_text_and_caption() -> None:
    image = (
        '<ac:image ac:alt="layers"><ri:attachment ri:filename="a.png" />'
        "<ac:caption><p>Fig. 1</p></ac:caption></ac:image>"
    )
    assert shown(image) == "[Image: a.png – layers – Fig. 1]"
    assert shown('<ac:image><ri:url ri:value="https://x.example/a.png" /></ac:image>') == (
        "[Image: https://x.example/a.png](https://x.example/a.png)"
    )


def test_jira_includes_files_and_addresses_are_named() -> None:
    assert shown(macro("jira", "", {"key": "SHOP-12", "server": "x"})) == "SHOP-12"
    link = '<ac:link><ri:page ri:content-title="Rules" /></ac:link>'
    assert shown(macro("include", "", {"": link})) == "(includes the page [[Rules]])"
    file = '<ri:attachment ri:filename="q3.xlsx" />'
    assert shown(macro("view-file", "", {"name": file})) == "[Attachment: q3.xlsx]"
    assert shown(macro("widget", "", {"url": "https://x.example/v"})) == "<https://x.example/v>"


def test_times_emoticons_layouts_and_comments_markers_leave_their_words() -> None:
    text = (
        '<ac:layout><ac:layout-section ac:type="two_equal"><ac:layout-cell>'
        '<p>by <time datetime="2026-11-30" /> <ac:emoticon ac:name="tick" /></p></ac:layout-cell>'
        '<ac:layout-cell><p><ac:inline-comment-marker ac:ref="r">決定</ac:inline-comment-marker>'
        "&nbsp;です</p></ac:layout-cell></ac:layout-section></ac:layout>"
    )
    assert shown(text) == "by 2026-11-30 ✅\n\n決定 です"


def test_the_new_editor_s_panels_are_quoted_once() -> None:
    text = (
        '<ac:adf-extension><ac:adf-node type="panel"><ac:adf-attribute key="panel-type">note'
        "</ac:adf-attribute><ac:adf-content><p>mind this</p></ac:adf-content></ac:adf-node>"
        "<ac:adf-fallback><div><p>mind this</p></div></ac:adf-fallback></ac:adf-extension>"
    )
    assert shown(text) == "> **Note:**\n>\n> mind this"


def test_tables_of_words_are_pipes_and_spans_repeat_down() -> None:
    text = (
        "<table><tbody><tr><th>who</th><th>what</th></tr>"
        "<tr><td rowspan='2'>Kim</td><td>a|b</td></tr>"
        "<tr><td><ul><li>x</li><li>y</li></ul></td></tr></tbody></table>"
    )
    assert shown(text) == ("| who | what |\n| --- | --- |\n| Kim | a\\|b |\n| Kim | • x • y |")


def test_tables_with_code_become_a_list_in_which_the_code_is_whole() -> None:
    block = code("a: |\n  b", language="yaml")
    text = f"<table><tr><th>step</th><th>file</th></tr><tr><td>1</td><td>{block}</td></tr></table>"
    assert shown(text) == ("- **step:** 1\n\n  **file:**\n\n  ```yaml\n  a: |\n    b\n  ```")


def test_what_is_no_xml_is_read_as_a_browser_would() -> None:
    text = f"<p>open <b>bold<br>next {code('x<y')} <ri:page ri:content-title='t'/><p>& last"
    result = shown(text)
    assert "x<y" in result
    assert "next" in result
    assert result.endswith("& last")


def test_unknown_prefixes_and_entities_are_no_obstacle() -> None:
    assert shown("<at:i>x</at:i> &uuml; &unbekannt; A&B") == "x ü &unbekannt; A&B"


def test_a_text_of_too_many_tags_keeps_its_words_and_is_counted() -> None:
    text = "<p>語</p>" * 300_001
    context = Context()
    assert storage_to_markdown(text, context).split() == ["語"] * 300_001
    assert context.unknown == ["text beyond limits, kept without its form"]


@pytest.mark.parametrize(
    "text",
    [
        "<div>" * 30_000 + "deep" + "</div>" * 30_000,
        "<ul><li>" * 3_000 + "deep" + "</li></ul>" * 3_000,
        "<b>" * 900 + "deep" + "</b>" * 900,
        "<table><tr><td>" * 300 + "deep" + "</td></tr></table>" * 300,
        "<p>" * 50_000 + "deep",
        "<![CDATA[" * 50_000 + "deep",
        "<table><tr>" + '<td colspan="999" rowspan="999">deep</td>' * 2_000 + "</tr></table>",
        macro("panel") * 5_000 + "deep",
    ],
)
def test_hostile_nesting_ends_soon_and_keeps_its_words(text: str) -> None:
    begun = time.monotonic()
    result = shown(text)
    assert "deep" in result
    assert time.monotonic() - begun < 10
    assert len(result) < 20 * len(text) + 5_000_000


@pytest.mark.parametrize(
    "text", ["<ac:link " * 100_000, '<a "' * 100_000, "<a b='" * 99_999, "&" * 999_999]
)
def test_tags_that_never_end_cost_little(text: str) -> None:
    begun = time.monotonic()
    shown(text)
    assert time.monotonic() - begun < 5


def test_wiki_markup_is_readable() -> None:
    text = (
        "h2. Plan\n\n* one\n** two\n# first\n{code:java}\nx || y\n{code}\n"
        "||a||b||\n|1|[doc|https://x.example]|\nbq. said\n{toc}"
    )
    assert wiki_to_markdown(text) == (
        "## Plan\n\n- one\n   - two\n1. first\n\n```java\nx || y\n```\n\n"
        "| a | b |\n| --- | --- |\n| 1 | [doc](https://x.example) |\n> said"
    )


tokens = st.sampled_from(
    ["<p>", "</p>", "<ac:link>", "</ac:link>", "<ri:page ri:content-title='T'/>",
     "<ri:user/>", "日本", "<ac:structured-macro ac:name='code'>",
     "<ac:structured-macro ac:name='panel'>", "<ac:macro>", "</ac:structured-macro>",
     "<ac:plain-text-body>", "</ac:plain-text-body>", "<![CDATA[", "]]>",
     "<ac:rich-text-body>", "</ac:rich-text-body>", "<ac:parameter ac:name='title'>",
     "</ac:parameter>", "<table>", "<tr>", "<td colspan='3' rowspan='9'>", "<th>",
     "</table>", "<ul>", "<ol start='7'>", "<li>", "</li>", "</ul>", "<ac:task-list>",
     "<ac:task>", "<ac:task-body>", "<ac:image>", "<pre>", "<h2>", "</h2>",
     "<ac:adf-extension>", "<ac:adf-node type='panel'>", "<ac:emoticon/>", "<br/>", "&nbsp;",
     "&#0;", "&", "<", "word", "```", "|", "**", "\x00", "\ud800", "<x:y a:b='c'>", "<code>"]
)  # fmt: skip


@given(st.lists(tokens, max_size=40))
@settings(max_examples=500, deadline=None)
def test_any_text_ends_without_raising(parts: list[str]) -> None:
    text = "".join(parts)
    result = shown(text)
    assert len(result) < 100 * len(text) + 1_000
    wiki_to_markdown(text)


@given(st.text(max_size=300))
@settings(max_examples=300, deadline=None)
def test_code_of_any_content_is_copied(source: str) -> None:
    source = "".join(c for c in source if c == "\n" or c.isprintable()).strip()
    if source:
        lines = shown(code(source, language="x")).split("\n")
        assert "\n".join(lines[1:-1]) == source
        assert set(lines[-1]) == {"`"}


@given(st.text(alphabet="hq{}code|*#-[]:. \n\\a日", max_size=300))
@settings(max_examples=200, deadline=None)
def test_any_wiki_markup_ends_without_raising(text: str) -> None:
    wiki_to_markdown(text)

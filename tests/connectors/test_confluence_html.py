"""Pages of HTML exports, in any language that Confluence speaks."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.confluence_dates import _MONTHS, _NUMBERS, _plain, parse_date
from connectors.confluence_html import HtmlPage, page_id_of, read_page
from support.confluence import html_page

BOX = "confluence-information-macro"


def read(html: str) -> HtmlPage:
    page = read_page(html.encode(), "65591")
    assert isinstance(page, HtmlPage)
    return page


def shown(inside: str) -> str:
    return read(html_page(inside=inside)).text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("last modified on 六月 08, 2021", (2021, 6, 8)),
        ("十二月 31, 2021", (2021, 12, 31)),
        ("Jun 08, 2021", (2021, 6, 8)),
        ("08 juin 2021", (2021, 6, 8)),
        ("juil. 14, 2021", (2021, 7, 14)),
        ("8. Juni 2021", (2021, 6, 8)),
        ("Mär 08, 2021", (2021, 3, 8)),
        ("08 de junio de 2021", (2021, 6, 8)),
        ("2021年6月8日", (2021, 6, 8)),
        ("6月 08, 2021", (2021, 6, 8)),
        ("6월 08, 2021", (2021, 6, 8)),
        ("2021-06-08", (2021, 6, 8)),
        ("08.06.2021", (2021, 6, 8)),
        ("июня 08, 2021", (2021, 6, 8)),
        ("Created on Jan 02, 2020, changed on Feb 03, 2021 18:26", (2021, 2, 3)),
    ],
)
def test_dates_are_read_in_their_language(text: str, expected: tuple[int, int, int]) -> None:
    assert parse_date(text) == datetime(*expected, tzinfo=UTC)


@pytest.mark.parametrize("text", ["", "08/06/2021", "Smarch 08, 2021", "Feb 31, 2021", "yesterday"])
def test_a_date_that_is_not_certain_is_none(text: str) -> None:
    assert parse_date(text) is None


def test_no_month_s_name_means_two_months() -> None:
    for number, names in enumerate(_MONTHS.split("\n\n"), 1):
        assert {name for name in names.split() if _NUMBERS[_plain(name)] != number} == set()


@pytest.mark.parametrize(
    ("name", "page_id"),
    [("Run-book_65591.html", "65591"), ("65591.html", "65591"), ("a_1_22.html", "22"),
     ("index.html", None), ("2021 plan.html", None)],
)  # fmt: skip
def test_the_page_id_is_in_the_file_s_name(name: str, page_id: str | None) -> None:
    assert page_id_of(name) == page_id


def test_the_frame_tells_title_place_author_and_date() -> None:
    page = read(html_page(title="Cache : plan"))
    assert (page.space, page.title, page.path) == ("Shop", "Cache : plan", ["Shop Home"])
    assert page.author == "Kim 金"
    assert page.modified == datetime(2026, 11, 2, tzinfo=UTC)
    assert page.text == "Valkey it is."


def test_a_space_whose_name_has_a_colon_is_told_by_the_breadcrumb() -> None:
    html = html_page(crumbs=("Shop : EU",)).replace("Shop : Cache", "Shop : EU : Cache")
    assert (read(html).space, read(html).title) == ("Shop : EU", "Cache")


def test_a_date_in_a_name_is_no_date() -> None:
    html = html_page(modified="").replace("Kim 金", "Jun 08, 2021")
    assert read(html).modified is None


def test_code_keeps_language_and_body() -> None:
    inside = (
        '<div class="code panel pdl"><div class="codeHeader"><b>a.py</b></div>'
        '<div class="codeContent"><pre class="syntaxhighlighter-pre"'
        ' data-syntaxhighlighter-params="brush: py; gutter: false">'
        "if a &lt; b:\n    x()\n</pre></div></div>"
    )
    assert shown(inside) == "**a.py**\n\n```py\nif a < b:\n    x()\n```"


def test_boxes_panels_tasks_and_statuses_are_rendered() -> None:
    box = (
        f'<div class="{BOX} {BOX}-warning"><p class="title">Mind</p><span class="aui-icon"></span>'
        f'<div class="{BOX}-body"><p>hot</p></div></div>'
    )
    assert shown(box) == "> **Warning: Mind**\n>\n> hot"
    panel = (
        '<div class="panel"><div class="panelHeader"><b>T</b></div>'
        '<div class="panelContent"><p>x</p></div></div>'
    )
    assert shown(panel) == "> **T**\n>\n> x"
    tasks = (
        '<ul class="inline-task-list"><li class="checked" data-inline-task-id="1">a</li>'
        '<li data-inline-task-id="2">b</li></ul>'
    )
    assert shown(tasks) == "- [x] a\n- [ ] b"
    assert shown('<p><span class="status-macro aui-lozenge">DONE</span></p>') == "[DONE]"


def test_links_people_files_and_images_are_named() -> None:
    assert shown('<p><a href="Run-book_7.html">Run book</a></p>') == "[[Run book]]"
    assert shown('<p><a class="confluence-userlink" data-username="aki">Aki</a></p>') == "@Aki"
    file = '<a href="attachments/1/2.pdf" data-linked-resource-default-alias="plan.pdf">x</a>'
    assert shown(f"<p>{file}</p>") == "[Attachment: plan.pdf]"
    alias = 'data-linked-resource-default-alias="a.png"'
    image = f'<img class="confluence-embedded-image" {alias} src="attachments/1/3.png">'
    assert shown(f"<p>{image}</p>") == "[Image: a.png]"


def test_attachments_and_comments_below_a_page_are_read() -> None:
    below = (
        '<div class="pageSection group"><h2 id="attachments">Attachments:</h2><div class="greybox">'
        '<a href="attachments/1/2.pdf">plan.pdf</a> (application/pdf)</div></div>'
        '<div class="pageSection group"><h2 id="comments">Comments:</h2><table><tr><td>'
        '<a name="comment-65700"></a><font class="smallfont"><p>Why not Redis?</p></font></td></tr>'
        '<tr><td><div class="smallfont">Posted by <a href="x">Aki</a> at Nov 03, 2026 10:00</div>'
        "</td></tr></table></div>"
    )
    page = read(html_page(below=below))
    assert page.attachments == ["plan.pdf"]
    [comment] = page.comments
    assert (comment.id, comment.author, comment.text) == ("65700", "Aki", "Why not Redis?")
    assert comment.at == datetime(2026, 11, 3, tzinfo=UTC)


def test_scripts_forms_and_hidden_parts_are_no_text() -> None:
    inside = "<script>x()</script><form>Upload</form><p class='hidden'>y</p><p>z</p>"
    assert shown(inside) == "z"


@pytest.mark.parametrize("data", [b"", b"\0", b"<html></html>", b"\xff\xfe", b"%PDF"])
def test_what_is_no_page_is_said_to_be_none(data: bytes) -> None:
    assert isinstance(read_page(data, "1"), str)


parts = st.sampled_from(
    ["<div id='main-content'>", "</div>", "<div class='panel'>", "<p>", "<table>", "<tr>",
     "<td>", "<ul class='inline-task-list'>", "<li>", "<pre>", "<a href='x_1.html'>",
     "<img alt='x'>", "&#0;", "text", "日本", "<h2 id='comments'>", "<a name='comment-1'>",
     "<", "</p>", "<span id='title-text'>", "<div class='pageSection'>",
     "<div class='confluence-information-macro'>", "\x00", "`", "|"]
)  # fmt: skip


@given(st.lists(parts, max_size=40))
@settings(max_examples=300, deadline=None)
def test_any_page_ends_without_raising(chosen: list[str]) -> None:
    read_page("".join(["<html><div id='main-content'>", *chosen]).encode(), "1")

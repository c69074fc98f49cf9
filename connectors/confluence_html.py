"""One page of an HTML space export: what its frame says, and its content as Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from lxml import etree
from lxml.etree import _Element as Element

from connectors.confluence_dates import parse_date
from connectors.confluence_elements import become, keep, labelled, text_of
from connectors.confluence_markdown import to_markdown, words_of
from connectors.confluence_parse import TAG_LIMIT, is_deep
from connectors.text import clean_text

PAGE_LIMIT = 16 * 1024 * 1024
_PAGE_NAME = re.compile(r"(?:.*_)?(\d{1,20})\.html?", re.IGNORECASE | re.DOTALL)
_BRUSH = re.compile(r"brush:\s*([\w+#.-]{1,30})")
_COMMENT = re.compile(r"comment-(\d{1,20})\Z")
_WEB = re.compile(r"https?://[^\s/@]+(?:/[^\s@]*)?\Z")
_LABELS = {"note": "Note", "warning": "Warning", "tip": "Tip", "information": "Info"}
_NOT_TEXT = frozenset({"script", "style", "form", "button", "input", "select", "iframe", "object"})


_NOT_SHOWN = frozenset({"hidden", "toc-macro", "plugin_attachments_upload_container"})


@dataclass(frozen=True)
class HtmlComment:
    """A comment below a page; `id` is empty where the export has none."""

    id: str
    author: str
    at: datetime | None
    text: str


@dataclass(frozen=True)
class HtmlPage:
    """A page as its file shows it. `path`: the titles above it, the space left out."""

    title: str
    space: str
    path: Sequence[str]
    author: str
    modified: datetime | None
    text: str
    labels: Sequence[str]
    attachments: Sequence[str]
    comments: Sequence[HtmlComment]
    url: str | None


def page_id_of(name: str) -> str | None:
    """Return the page id in a file's name (`Title_123.html`, `123.html`), or None."""
    match = _PAGE_NAME.fullmatch(name)
    return match[1] if match else None


def read_page(data: bytes, page_id: str) -> HtmlPage | str:
    """Return the page in a file's bytes, or why there is none."""
    text = clean_text(data.decode("utf-8-sig", "replace"))
    if text.count("<") > TAG_LIMIT:
        return f"refused: more than {TAG_LIMIT:,} tags"
    parser = etree.HTMLParser(
        no_network=True, huge_tree=True, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(text, parser) if text else None
    except (etree.XMLSyntaxError, ValueError):
        root = None
    if root is None:
        return "not HTML"
    content = _by_id(root, "main-content")
    if content is None:
        return "not a page of a Confluence export"
    if is_deep(root):
        return "refused: nested too deeply"
    return _page(root, content, page_id)


def _page(root: Element, content: Element, page_id: str) -> HtmlPage:
    space, title, path = _names(root)
    metadata = _by_class(root, "page-metadata")
    authors = (
        [] if metadata is None else _classed(metadata, "editor") or _classed(metadata, "author")
    )
    base = next((value for item in root.iter("img") if (value := item.get("data-base-url"))), "")
    page = HtmlPage(
        title=title,
        space=space,
        path=path,
        author=text_of(authors[-1]) if authors else "",
        modified=parse_date(_without(metadata, "author", "editor"))
        if metadata is not None
        else None,
        text="",
        labels=_labels(root),
        attachments=_attachments(root),
        comments=tuple(_comments(root)),
        url=f"{base}/pages/viewpage.action?pageId={page_id}" if _WEB.match(base) else None,
    )
    # last: what it converts is gone from the tree
    return replace(page, text=html_to_markdown(content))


def _names(root: Element) -> tuple[str, str, list[str]]:
    """Return space, title, and the titles between them."""
    shown = text_of(_by_id(root, "title-text")) or text_of(next(root.iter("title"), None))
    crumbs = _by_id(root, "breadcrumbs")
    above = [] if crumbs is None else [text_of(item) for item in crumbs.iter("li")]
    space, separator, title = shown.partition(" : ")
    if above and shown.startswith(f"{above[0]} : "):
        space, title = above[0], shown[len(above[0]) + 3 :]
    elif not separator:
        space, title = above[0] if above else "", shown
    return space, title, above[1:]


def _labels(root: Element) -> list[str]:
    section = _by_id(root, "labels-section")
    if section is None:
        return []
    return [words for link in section.iter("a") if (words := text_of(link))]


def _attachments(root: Element) -> list[str]:
    heading = _by_id(root, "attachments")
    section = _around(heading, "pageSection")
    box = _by_class(section, "greybox") if section is not None else None
    return [name for link in box.iter("a") if (name := text_of(link))] if box is not None else []


def _comments(root: Element) -> list[HtmlComment]:
    section = _around(_by_id(root, "comments"), "pageSection")
    if section is None:
        return []
    comments: list[HtmlComment] = []
    for row in section.iter("tr", "li"):
        anchor = next((item for item in row.iter() if _comment_id(item)), None)
        signature = _by_class(row, "smallfont") if anchor is None else None
        if anchor is not None:
            box = _by_class(row, "comment-body")
            text = html_to_markdown(box if box is not None else row)
            comments.append(HtmlComment(_comment_id(anchor), "", None, text))
        elif comments and signature is not None:
            author = text_of(next(signature.iter("a"), None)) or _signed(text_of(signature))
            at = parse_date(text_of(signature))
            comments[-1] = replace(comments[-1], author=author, at=at)
    return [comment for comment in comments if comment.text]


def _comment_id(element: Element) -> str:
    for name in ("name", "id"):
        match = _COMMENT.match(element.get(name) or "")
        if match:
            return match[1]
    return ""


def _signed(text: str) -> str:
    match = re.search(r"\bby (.{1,80}?) at\b", text)
    return match[1] if match else ""


# -- content --------------------------------------------------------------------------------------


def html_to_markdown(content: Element) -> str:
    """Return a page's content as Markdown. The elements below `content` are changed."""
    for element in reversed(list(content.iter("*"))):
        if element is not content:
            _plain(element)
    return to_markdown(content)


def _plain(element: Element) -> None:
    tag = element.tag
    classes = (element.get("class") or "").split()
    if tag in _NOT_TEXT or not _NOT_SHOWN.isdisjoint(classes):
        become(element, "span")
        return
    if tag in {"img", "pre", "time", "a"}:
        _TAGS[tag](element, classes)
        return
    for name in classes:
        rule = _CLASSES.get(name)
        if rule is not None:
            rule(element, classes)
            return


def _image(element: Element, classes: Sequence[str]) -> None:
    names = ("data-linked-resource-default-alias", "alt", "title")
    alt = next((value for name in names if (value := element.get(name))), "")
    if "emoticon" in classes:
        become(element, "span", element.get("data-emoji-fallback") or alt)
    elif "userLogo" in classes:
        become(element, "span", alt)
    elif (element.get("src") or "").startswith("images/icons/"):
        become(element, "span")
    else:
        become(element, "img", alt=alt)


def _code(element: Element, classes: Sequence[str]) -> None:
    del classes
    match = _BRUSH.search(element.get("data-syntaxhighlighter-params") or "")
    text = words_of(element)
    language = match[1] if match else ""
    become(element, "pre", text, data_language="" if language in {"text", "none"} else language)


def _time(element: Element, classes: Sequence[str]) -> None:
    del classes
    become(element, "span", text_of(element) or element.get("datetime") or "")


def _link(element: Element, classes: Sequence[str]) -> None:
    href, words = element.get("href") or "", text_of(element)
    if "confluence-userlink" in classes or "user-mention" in classes:
        become(element, "span", f"@{words or element.get('data-username') or ''}")
    elif "confluence-embedded-file" in classes or href.startswith("attachments/"):
        name = element.get("data-linked-resource-default-alias") or words
        become(element, "span", f"[Attachment: {name}]")
    elif "/" not in href and page_id_of(href.partition("#")[0].partition("?")[0]) and words:
        become(element, "a", words, data_page=words)


def _information(element: Element, classes: Sequence[str]) -> None:
    kind = next((name.rpartition("-")[2] for name in classes if "macro-" in name), "information")
    title = next(
        (child for child in element if "title" in (child.get("class") or "").split()), None
    )
    words = text_of(title)
    keep(element, "blockquote", [child for child in element if child is not title])
    labelled(element, _LABELS.get(kind, "Info"), words)


def _panel(element: Element, classes: Sequence[str]) -> None:
    """Quote what a panel holds; the frame around code is no panel."""
    header = next((child for child in element if "panelHeader" in _classes(child)
                   or "codeHeader" in _classes(child)), None)  # fmt: skip
    title = text_of(header)
    framed = "code" in classes or "preformatted" in classes
    keep(
        element,
        "div" if framed else "blockquote",
        [child for child in element if child is not header],
    )
    if title:
        line = etree.Element("p")
        etree.SubElement(line, "strong").text = title
        element.insert(0, line)


def _tasks(element: Element, classes: Sequence[str]) -> None:
    del classes
    for item in element.iter("li"):
        if item.getparent() is element:
            item.set("data-task", "done" if "checked" in _classes(item) else "open")


def _status(element: Element, classes: Sequence[str]) -> None:
    del classes
    become(element, "span", f"[{text_of(element)}]")


def _expand_title(element: Element, classes: Sequence[str]) -> None:
    del classes
    words = text_of(element)
    become(element, "p")
    etree.SubElement(element, "strong").text = words


_Rule = Callable[[Element, Sequence[str]], None]
_TAGS: Mapping[str, _Rule] = {"img": _image, "pre": _code, "time": _time, "a": _link}
_CLASSES: Mapping[str, _Rule] = {
    "confluence-information-macro": _information,
    "panel": _panel,
    "inline-task-list": _tasks,
    "status-macro": _status,
    "expand-control": _expand_title,
}


# -- finding --------------------------------------------------------------------------------------


def _classes(element: Element) -> list[str]:
    return (element.get("class") or "").split()


def _by_id(root: Element, name: str) -> Element | None:
    return next((item for item in root.iter("*") if item.get("id") == name), None)


def _classed(root: Element, name: str) -> list[Element]:
    return [item for item in root.iter("*") if name in _classes(item)]


def _by_class(root: Element, name: str) -> Element | None:
    return next((item for item in root.iter("*") if name in _classes(item)), None)


def _around(element: Element | None, name: str) -> Element | None:
    while element is not None and name not in _classes(element):
        element = element.getparent()
    return element


def _without(element: Element, *classes: str) -> str:
    """Return the words of `element` but those of persons: a name may hold a date."""
    parts = [element.text or ""]
    for child in element:
        named = any(name in _classes(child) for name in classes)
        parts += ["" if named else text_of(child), child.tail or ""]
    return " ".join(parts)

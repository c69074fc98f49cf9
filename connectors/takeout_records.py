"""Rows of Google's activity log, as JSON and as HTML tell them: the same either way."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, BinaryIO
from urllib.parse import parse_qs, urlsplit

from lxml import etree
from lxml.etree import _Element as Tag

from connectors.confluence_markdown import to_markdown
from connectors.json_stream import Element
from connectors.takeout_time import parse_local
from connectors.text import clean_text, parse_time, shorten
from context_engine.clock import Clock

BLOCK_LIMIT = 8 * 1024 * 1024
"""Bytes of one row of HTML: parsed, it takes ten times as much."""

_CHUNK = 256 * 1024
_CELL = b'<div class="outer-cell'
_HEADER = re.compile(rb'mdl-typography--title"[^>]{0,200}>([^<]{0,200})<')
_BLOCKS = frozenset(
    {"p", "div", "ul", "ol", "pre", "table", "blockquote", "hr", *(f"h{n}" for n in range(1, 7))}
)
_LINES = 400


@dataclass(frozen=True, slots=True)
class Activity:
    """One row. `at` is UTC to the second, `answer` is Markdown.

    title: may have several lines. notes: what the page shows below it. A page of HTML does not
    tell the lines of a title from notes: there `notes` are all lines but the first.
    """

    product: str
    at: datetime
    title: str
    notes: tuple[str, ...]
    answer: str
    urls: tuple[str, ...] = ()
    is_page: bool = False


def product_of(record: Mapping[str, Any]) -> str:
    """Return the product that a JSON row is about."""
    products = record.get("products")
    first = products[0] if isinstance(products, list) and products else None
    name = record.get("header") or first
    return shorten(clean_text(name), 60) if isinstance(name, str) else ""


def from_json(record: Mapping[str, Any], clock: Clock) -> Activity | str:
    """Return the row, or the reason why there is none."""
    title, at = record.get("title"), parse_time(record.get("time"), clock)
    if not isinstance(title, str):
        return "an activity without a title"
    if at is None:
        return "an activity without a usable time"
    subtitles = [item.get("name") for item in _objects(record, "subtitles")]
    answers = [item.get("html") for item in _objects(record, "safeHtmlItem")]
    texts = [html_to_text(html) for html in answers if isinstance(html, str)]
    urls = [record.get("titleUrl"), *(item.get("url") for item in _objects(record, "details"))]
    return Activity(
        product=product_of(record),
        at=at.replace(microsecond=0),
        title=_line(title),
        notes=tuple(_line(name) for name in subtitles if isinstance(name, str)),
        answer="\n\n".join(text for text in texts if text),
        urls=tuple(_target(url) for url in urls if isinstance(url, str)),
    )


def _objects(record: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    value = record.get(name)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _line(text: str) -> str:
    return clean_text(text.replace("\xa0", " ").replace("\u202f", " "))


def _target(url: str) -> str:
    """Return where a link leads that goes through Google's redirector."""
    try:
        parts = urlsplit(url)
        if parts.path == "/url" and (targets := parse_qs(parts.query, max_num_fields=20).get("q")):
            return targets[0]
    except ValueError:
        return ""
    return url


def html_to_text(html: str) -> str:
    """Return a piece of HTML as Markdown; what is too large to parse is named instead."""
    if len(html) > BLOCK_LIMIT:
        return f"(an answer of {len(html)} characters was left out)"
    root = _parse(html.encode("utf-8", "replace"))
    return "" if root is None else _markdown(root)


def _parse(html: bytes) -> Tag | None:
    parser = etree.HTMLParser(
        encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True, recover=True
    )
    try:
        root: Tag | None = etree.fromstring(b"<div>" + html + b"</div>", parser)
    except (etree.XMLSyntaxError, ValueError):
        return None
    return root


def _markdown(root: Tag) -> str:
    for image in list(root.iter("img")):
        # pictures are files of their own, or whole files inside an attribute
        image.set("src", "")
    return clean_text(to_markdown(root))


def html_rows(stream: BinaryIO) -> Iterator[Element]:
    """Yield the rows of an activity page, counted from 1, in bounded memory."""
    window, number, inside, dropped = bytearray(), 0, False, 0
    while data := stream.read(_CHUNK):
        window += data
        start = len(_CELL) if inside and not dropped else 0
        while (cut := window.find(_CELL, start)) >= 0:
            if inside:
                number += 1
                yield _row(number, bytes(window[:cut]), dropped)
            del window[:cut]
            inside, dropped, start = True, 0, len(_CELL)
        if not inside or dropped or len(window) > BLOCK_LIMIT:
            # what is kept may be the beginning of the next row's mark
            excess = max(0, len(window) - len(_CELL) + 1)
            dropped += excess if inside else 0
            del window[:excess]
    if inside:
        yield _row(number + 1, bytes(window), dropped)


def _row(number: int, data: bytes, dropped: int) -> Element:
    if dropped:
        return Element(number, b"", f"larger than {BLOCK_LIMIT >> 20} MiB")
    return Element(number, data)


def html_product(data: bytes) -> str:
    """Return the product that a row of HTML is about, without parsing it."""
    match = _HEADER.search(data)
    name = match[1].decode("utf-8", "replace") if match else ""
    return shorten(_line(name), 60)


def from_html(data: bytes, clock: Clock) -> Activity | str:
    """Return the row, or the reason why there is none."""
    root = _parse(data)
    cells = [each for each in root.iter("div") if _is_content(each)] if root is not None else []
    if not cells:
        return "an activity without content"
    cell, *others = cells
    lines, at, urls = _take_head(cell)
    urls += [url for other in others for url in _links(other)]
    if at is None:
        return "an activity without a time whose zone is known"
    at = parse_time(at.isoformat(), clock)
    if at is None:
        return "an activity without a usable time"
    return Activity(
        product=html_product(data),
        at=at,
        title=lines[0] if lines else "",
        notes=tuple(lines[1:]),
        answer=_markdown(cell),
        urls=tuple(urls),
        is_page=True,
    )


def _is_content(tag: Tag) -> bool:
    classes = (tag.get("class") or "").split()
    return "content-cell" in classes and "mdl-typography--text-right" not in classes


def _take_head(cell: Tag) -> tuple[list[str], datetime | None, list[str]]:
    """Take title, time and links out of a row's cell; what stays there is the answer.

    The time is the last line before the first block that is nothing else: a prompt may quote one.
    """
    lines: list[str] = []
    urls: list[str] = []
    current = [cell.text or ""]
    found: tuple[int, datetime, Tag | None] | None = None
    for child in [*cell, None][:_LINES]:
        tag = child.tag if child is not None else "br"
        if tag == "br" or tag in _BLOCKS:
            line = _line("".join(current))
            before = child.getprevious() if child is not None else _last(cell)
            if (at := parse_local(line)) is not None:
                found = len(lines), at, before
            lines.append(line)
            current = []
            if tag in _BLOCKS:
                break
        elif child is not None:
            urls += _links(child)
            current.append("".join(map(str, child.itertext())))
        current.append((child.tail or "") if child is not None else "")
    if found is None:
        return lines, None, urls
    count, at, last = found
    _drop_until(cell, last)
    return lines[:count], at, urls


def _links(tag: Tag) -> list[str]:
    return [_target(url) for link in tag.iter("a") if (url := link.get("href"))]


def _last(cell: Tag) -> Tag | None:
    return cell[-1] if len(cell) else None


def _drop_until(cell: Tag, last: Tag | None) -> None:
    """Remove everything up to and with the text behind `last`."""
    cell.text = None
    for child in list(cell) if last is not None else ():
        cell.remove(child)
        if child is last:
            break

"""Storage format to a tree: as XML where it is XML, as a browser would where it is not."""

from __future__ import annotations

import html
import re

from lxml import etree
from lxml.etree import _Element as Element

from connectors.confluence_xml import mend_entities

DEPTH_LIMIT = 1_000
TAG_LIMIT = 600_000
"""Tags of one text: a tree of these takes 100 MB."""
_PREFIX = re.compile(r"[<\s/]([A-Za-z][\w-]{0,20}):[A-Za-z]")
_PREFIXES = 20
_CDATA = re.compile(r"<!\[CDATA\[(.*?)(?:\]\]>|\Z)", re.DOTALL)
_EMPTY = re.compile(r"<([A-Za-z][\w:.-]*+)((?:[^<>\"']|\"[^\"]*+\"|'[^']*+')*+)(?<=/)>")
_TAG = re.compile(r"<[^<>]*+>")
_VOID = frozenset(
    [
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "source",
        "track",
        "wbr",
    ]
)
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")


def parse_storage(text: str) -> Element | None:
    """Return the tree of a storage-format text, or None where no tree holds all of it."""
    text = _CONTROL.sub("", text)
    if text.count("<") > TAG_LIMIT:
        return None
    root = _parse_xml(text)
    if root is None:
        root = _parse_html(text)
        # beyond its depth limit this parser leaves words out without a word
        return None if root is None or is_deep(root) else root
    return root


def _parse_xml(text: str) -> Element | None:
    prefixes = sorted({match[1] for match in _PREFIX.finditer(text)} - {"xml", "xmlns"})
    spaces = "".join(f' xmlns:{prefix}="{prefix}"' for prefix in prefixes[:_PREFIXES])
    try:
        return etree.fromstring(f"<div{spaces}>{mend_entities(text)}</div>", _xml_parser())
    except (etree.XMLSyntaxError, ValueError):
        return None


def _xml_parser() -> etree.XMLParser:
    return etree.XMLParser(
        resolve_entities=False, load_dtd=False, no_network=True, huge_tree=True,
        remove_comments=True, remove_pis=True,
    )  # fmt: skip


def _parse_html(text: str) -> Element | None:
    """Parse what is no XML as a browser would."""
    text = _EMPTY.sub(_opened_and_closed, _CDATA.sub(_as_text, text))
    parser = etree.HTMLParser(
        no_network=True, huge_tree=True, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(f"<html><body><div>{text}</div></body></html>", parser)
    except (etree.XMLSyntaxError, ValueError):
        return None
    return root


def _as_text(match: re.Match[str]) -> str:
    return html.escape(match[1], quote=False)


def _opened_and_closed(match: re.Match[str]) -> str:
    name = match[1]
    return match[0] if name.lower() in _VOID else f"<{name}{match[2][:-1]}></{name}>"


def is_deep(root: Element) -> bool:
    """Say whether the parser may have given up at its own depth limit."""
    depth = deepest = 0
    for event, _ in etree.iterwalk(root, events=("start", "end")):
        depth += 1 if event == "start" else -1
        deepest = max(deepest, depth)
    return deepest > DEPTH_LIMIT


def plain_words(text: str) -> str:
    """Return the words of a storage-format text that no tree holds."""
    return html.unescape(_TAG.sub(" ", _CDATA.sub(_as_text, text))).strip()

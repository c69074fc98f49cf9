"""Confluence's storage format (XHTML with `ac:` and `ri:` elements) to Markdown.

The elements of Confluence become plain HTML first, the innermost first, so that whatever stands
around them is plain by the time it is looked at. What a macro holds is kept even when its name is
not known.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from lxml import etree
from lxml.etree import _Element as Element

from connectors.confluence_markdown import to_markdown, words_of
from connectors.confluence_xml import mend_entities

DEPTH_LIMIT = 1_000
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
_CODE_POINTS = re.compile(r"[0-9a-f]{2,6}(?:-[0-9a-f]{2,6}){0,9}")
_EMOTICONS = {
    "smile": "🙂", "sad": "🙁", "cheeky": "😛", "laugh": "😀", "wink": "😉", "thumbs-up": "👍",
    "thumbs-down": "👎", "information": "ℹ️", "tick": "✅", "cross": "❌", "warning": "⚠️",
    "plus": "➕", "minus": "➖", "question": "❓", "light-on": "💡", "light-off": "💡",
    "yellow-star": "⭐", "red-star": "⭐", "green-star": "⭐", "blue-star": "⭐", "heart": "❤️",
    "broken-heart": "💔",
}  # fmt: skip


@dataclass
class Context:
    """What the page around a text knows.

    unknown: takes up what no rule is for, as `macro:<name>`.
    """

    user: Callable[[str], str] = str
    """Name of a person, from a key, account id or user name."""
    unknown: list[str] = field(default_factory=list)


def storage_to_markdown(text: str, context: Context) -> str:
    """Return a storage-format text as Markdown. Whatever it holds, words are kept; never raises."""
    text = _CONTROL.sub("", text)
    root = _parse(text)
    if root is None:
        return html.unescape(_TAG.sub(" ", _CDATA.sub(_as_text, text))).strip()
    plain_html(root, context)
    return to_markdown(root)


def plain_html(root: Element, context: Context) -> None:
    """Turn the elements of Confluence below `root` into plain HTML, in place."""
    from connectors.confluence_macros import convert_macro

    rules = {**_RULES, "ac:structured-macro": convert_macro, "ac:macro": convert_macro}
    for element in reversed(list(root.iter("*"))):
        if element is not root and (rule := rules.get(kind_of(element))):
            rule(element, context)


def kind_of(element: Element) -> str:
    """Return an element's name with its prefix: `ac:link`, `p`."""
    tag: str = element.tag
    return tag[1:].replace("}", ":", 1) if tag.startswith("{") else tag


def attribute(element: Element, name: str) -> str:
    """Return an attribute of Confluence's (`ac:name`); empty when there is none."""
    prefix, _, local = name.partition(":")
    return element.get(f"{{{prefix}}}{local}") or element.get(name) or element.get(local) or ""


def child_of(element: Element, *kinds: str) -> Element | None:
    """Return the first child of one of these kinds."""
    return next((child for child in element if kind_of(child) in kinds), None)


def text_of(element: Element | None) -> str:
    """Return the words of an element on one line."""
    return " ".join(words_of(element).split()) if element is not None else ""


def become(element: Element, tag: str, text: str = "", **attributes: str) -> None:
    """Make `element` a plain one that holds only `text`."""
    tail = element.tail
    element.clear()
    element.tag, element.text, element.tail = tag, text, tail
    for name, value in attributes.items():
        element.set(name.replace("_", "-"), value)


def keep(element: Element, tag: str, children: Sequence[Element]) -> None:
    """Make `element` a plain one that holds `children` and nothing else."""
    become(element, tag)
    element.extend(children)
    for child in children:
        child.tail = None


# -- parsing --------------------------------------------------------------------------------------


def _parse(text: str) -> Element | None:
    root = _parse_xml(text)
    if root is None:
        root = _parse_html(text)
    return root if root is not None and not is_deep(root) else None


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


# -- rules ----------------------------------------------------------------------------------------


def _link(element: Element, context: Context) -> None:
    body = child_of(element, "ac:link-body", "ac:plain-text-link-body")
    target = next((child for child in element if kind_of(child).startswith("ri:")), None)
    kind = kind_of(target) if target is not None else ""
    if kind == "ri:user" and target is not None:
        become(element, "span", f"@{_person(target, context)}")
        return
    title = _target(target, context) or attribute(element, "ac:anchor")
    page = kind in {"ri:page", "ri:blog-post"}
    if body is None:
        shown = f"[Attachment: {title}]" if kind == "ri:attachment" else title
        become(element, "a" if page else "span", shown, **({"data_page": title} if page else {}))
        return
    keep(element, "a" if page else "span", [body])
    body.tag = "span"
    if page:
        element.set("data-page", title)
    elif kind and title and title != text_of(body):
        etree.SubElement(element, "span").text = f" ({title})"


def _target(target: Element | None, context: Context) -> str:
    """Return what an `ri:` element names."""
    if target is None:
        return ""
    kind = kind_of(target)
    if kind == "ri:user":
        return f"@{_person(target, context)}"
    names = (
        "ri:content-title",
        "ri:filename",
        "ri:value",
        "ri:space-key",
        "ri:content-id",
        "ri:key",
    )
    return next((value for name in names if (value := attribute(target, name))), "")


def _person(target: Element, context: Context) -> str:
    names = ("ri:userkey", "ri:account-id", "ri:username")
    return context.user(next((key for name in names if (key := attribute(target, name))), ""))


def _mention(element: Element, context: Context) -> None:
    """Name what a resource is that no link stands around."""
    become(element, "span", _target(element, context))


def _image(element: Element, context: Context) -> None:
    target = child_of(element, "ri:attachment", "ri:url")
    name = _target(target, context)
    alt = attribute(element, "ac:alt") or attribute(element, "ac:title")
    caption = text_of(child_of(element, "ac:caption"))
    words = dict.fromkeys(word for word in (name, alt, caption) if word)
    web = target is not None and kind_of(target) == "ri:url"
    shown = [word for word in words if not (web and word == name)]
    become(element, "img", alt=" – ".join(shown), src=name if web else "")


def _task(element: Element, context: Context) -> None:
    del context
    done = text_of(child_of(element, "ac:task-status")) == "complete"
    body = child_of(element, "ac:task-body")
    keep(element, "li", [body] if body is not None else [])
    if body is not None:
        body.tag = "div"
    element.set("data-task", "done" if done else "open")


def _time(element: Element, context: Context) -> None:
    del context
    become(element, "span", text_of(element) or element.get("datetime") or "")


def _emoticon(element: Element, context: Context) -> None:
    del context
    name, short = attribute(element, "ac:name"), attribute(element, "ac:emoji-shortname")
    shown = attribute(element, "ac:emoji-fallback")
    if not shown or shown.startswith(":"):
        shown = _from_code(attribute(element, "ac:emoji-id")) or shown
    shown = shown or _EMOTICONS.get(name) or short or f":{name or 'emoticon'}:"
    become(element, "span", shown)


def _from_code(code: str) -> str:
    """Return the characters whose numbers an emoji's id is (`1f469-200d-1f4bb`), if it is that."""
    if not _CODE_POINTS.fullmatch(code):
        return ""
    numbers = [int(part, 16) for part in code.split("-")]
    # nothing below is an emoji by itself but the signs of keycaps, and nothing above is a character
    return "".join(map(chr, numbers)) if max(numbers) in range(0x203C, 0x1FB00) else ""


def _parameter(element: Element, context: Context) -> None:
    """Name the resources in a macro's parameter."""
    for child in list(element):
        if kind_of(child).startswith("ri:"):
            _mention(child, context)


def _drop(element: Element, context: Context) -> None:
    del context
    become(element, "span")


def _renamed(tag: str) -> Callable[[Element, Context], None]:
    def rule(element: Element, context: Context) -> None:
        del context
        element.tag = tag

    return rule


def _adf_extension(element: Element, context: Context) -> None:
    """Keep what the new editor wrote, and its HTML for old readers only where that is all."""
    del context
    node = child_of(element, "ac:adf-node", "blockquote", "ul", "div")
    fallback = child_of(element, "ac:adf-fallback")
    kept = node if text_of(node) or fallback is None else fallback
    keep(element, "div", [kept] if kept is not None else [])
    if kept is fallback and fallback is not None:
        fallback.tag = "div"


def _adf_node(element: Element, context: Context) -> None:
    del context
    kind = element.get("type") or ""
    values = {child.get("key"): text_of(child) for child in element
              if kind_of(child) == "ac:adf-attribute"}  # fmt: skip
    keep(element, "div", [child for child in element if kind_of(child) != "ac:adf-attribute"])
    if kind == "panel":
        element.tag = "blockquote"
        labelled(element, (values.get("panel-type") or "panel").capitalize())
    elif kind == "decision-item":
        labelled(element, "Decision")


def labelled(element: Element, label: str, title: str = "") -> None:
    """Put a label in bold before what `element` holds."""
    line = etree.Element("p")
    etree.SubElement(line, "strong").text = f"{label}: {title}" if title else f"{label}:"
    if element.text and element.text.strip():
        line[0].tail = f" {element.text.strip()}"
        element.text = None
    element.insert(0, line)


_RULES: Mapping[str, Callable[[Element, Context], None]] = {
    "ac:link": _link,
    "ac:image": _image,
    "ac:task-list": _renamed("ul"),
    "ac:task": _task,
    "ac:emoticon": _emoticon,
    "ac:parameter": _parameter,
    "ac:default-parameter": _parameter,
    "ac:inline-comment-marker": _renamed("span"),
    "ac:layout": _renamed("div"),
    "ac:layout-section": _renamed("div"),
    "ac:layout-cell": _renamed("div"),
    "ac:placeholder": _drop,
    "ac:adf-mark": _drop,
    "ac:adf-extension": _adf_extension,
    "ac:adf-node": _adf_node,
    "ac:adf-leaf": _adf_node,
    "ac:adf-content": _renamed("div"),
    "time": _time,
}

"""Confluence's storage format (XHTML with `ac:` and `ri:` elements) to Markdown.

The elements of Confluence become plain HTML first, the innermost first, so that whatever stands
around them is plain by the time it is looked at. What a macro holds is kept even when its name is
not known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from lxml import etree
from lxml.etree import _Element as Element

from connectors.confluence_elements import (
    Context,
    attribute,
    become,
    child_of,
    keep,
    kind_of,
    labelled,
    text_of,
)
from connectors.confluence_macros import convert_macro
from connectors.confluence_markdown import to_markdown
from connectors.confluence_parse import parse_storage, plain_words

_CODE_POINTS = re.compile(r"[0-9a-f]{2,6}(?:-[0-9a-f]{2,6}){0,9}")
_EMOTICONS = {
    "smile": "🙂", "sad": "🙁", "cheeky": "😛", "laugh": "😀", "wink": "😉", "thumbs-up": "👍",
    "thumbs-down": "👎", "information": "ℹ️", "tick": "✅", "cross": "❌", "warning": "⚠️",
    "plus": "➕", "minus": "➖", "question": "❓", "light-on": "💡", "light-off": "💡",
    "yellow-star": "⭐", "red-star": "⭐", "green-star": "⭐", "blue-star": "⭐", "heart": "❤️",
    "broken-heart": "💔",
}  # fmt: skip


def storage_to_markdown(text: str, context: Context) -> str:
    """Return a storage-format text as Markdown. Whatever it holds, words are kept; never raises."""
    root = parse_storage(text)
    if root is None:
        context.unknown.append("text beyond limits, kept without its form")
        return plain_words(text)
    plain_html(root, context)
    return to_markdown(root)


def plain_html(root: Element, context: Context) -> None:
    """Turn the elements of Confluence below `root` into plain HTML, in place."""
    for element in reversed(list(root.iter("*"))):
        if element is not root and (rule := _RULES.get(kind_of(element))):
            rule(element, context)


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
    "ac:structured-macro": convert_macro,
    "ac:macro": convert_macro,
    "time": _time,
}

"""The macros of Confluence, as plain HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import unquote

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
from connectors.confluence_markdown import words_of

_BODIES = ("ac:rich-text-body", "ac:plain-text-body")
_SHOWN = 300
"""Characters of parameters that are shown of a macro without a body."""
_ENCODED = "--uriencoded--"
_NOT_LANGUAGE = frozenset({"none", "text", "plain"})


@dataclass(frozen=True, slots=True)
class Macro:
    """A macro that is to become plain."""

    name: str
    element: Element
    parameters: Mapping[str, str]
    body: Element | None

    def value(self, *names: str) -> str:
        """Return the first of these parameters that is set."""
        return next((text for name in names if (text := self.parameters.get(name))), "")

    def keep_body(self, tag: str = "div") -> None:
        """Leave only what the macro holds."""
        keep(self.element, tag, [self.body] if self.body is not None else [])
        if self.body is not None:
            plain = kind_of(self.body) == "ac:plain-text-body"
            self.body.tag = "p" if plain else "div"

    def say(self, text: str) -> None:
        """Leave only these words."""
        become(self.element, "span", text)


def convert_macro(element: Element, context: Context) -> None:
    """Make the macro `element` plain HTML; one that no rule is for keeps its text, and is counted.

    What stands inside it is plain already.
    """
    parameters = {
        attribute(child, "ac:name"): _decoded(text_of(child))
        for child in reversed(element)
        if kind_of(child) in {"ac:parameter", "ac:default-parameter"}
    }
    name = attribute(element, "ac:name").lower()[:100]
    macro = Macro(name, element, parameters, child_of(element, *_BODIES))
    rule = _RULES.get(name)
    if rule is not None:
        rule(macro)
        return
    context.unknown.append(f"macro:{name or '(no name)'}")
    _unknown(macro)


def _decoded(value: str) -> str:
    return unquote(value.removeprefix(_ENCODED)) if value.startswith(_ENCODED) else value


def _unknown(macro: Macro) -> None:
    if macro.body is not None and text_of(macro.body):
        macro.keep_body()
        if title := macro.value("title"):
            _titled(macro.element, title)
        return
    known = [
        f"{name}={value}" if name else value for name, value in macro.parameters.items() if value
    ]
    shown = ", ".join(reversed(known))
    shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
    macro.say(f"[{macro.name}: {shown}]" if shown else f"[{macro.name}]")


def _titled(element: Element, title: str) -> None:
    line = etree.Element("p")
    etree.SubElement(line, "strong").text = title
    element.insert(0, line)


def _code(macro: Macro) -> None:
    language = macro.value("language", "lang", "") if macro.name == "code" else ""
    text = words_of(macro.body) if macro.body is not None else ""
    title = macro.value("title")
    become(macro.element, "div")
    if title:
        _titled(macro.element, title)
    block = etree.SubElement(macro.element, "pre")
    block.text = text
    block.set("data-language", "" if language.lower() in _NOT_LANGUAGE else language)


def _fence(language: str) -> Callable[[Macro], None]:
    def rule(macro: Macro) -> None:
        text = words_of(macro.body) if macro.body is not None else macro.value("body", "")
        become(macro.element, "pre", text, data_language=language)

    return rule


def _boxed(label: str) -> Callable[[Macro], None]:
    def rule(macro: Macro) -> None:
        macro.keep_body("blockquote")
        labelled(macro.element, label, macro.value("title"))

    return rule


def _panel(macro: Macro) -> None:
    macro.keep_body("blockquote")
    if title := macro.value("title"):
        _titled(macro.element, title)


def _expand(macro: Macro) -> None:
    macro.keep_body()
    if title := macro.value("title", ""):
        _titled(macro.element, title)


def _plain(macro: Macro) -> None:
    macro.keep_body()


def _quote(macro: Macro) -> None:
    macro.keep_body("blockquote")


def _markdown(macro: Macro) -> None:
    """Leave Markdown as it is written: in a fence, which keeps its line ends."""
    _fence("markdown")(macro)


def _nothing(macro: Macro) -> None:
    macro.say("")


def _status(macro: Macro) -> None:
    title = macro.value("title") or macro.value("colour", "color")
    macro.say(f"[{title}]" if title else "")


def _jira(macro: Macro) -> None:
    key, query = macro.value("key"), macro.value("jqlQuery", "jql", "url")
    macro.say(key or (f"[Jira: {query}]" if query else "[Jira]"))


def _included(words: str) -> Callable[[Macro], None]:
    def rule(macro: Macro) -> None:
        page = macro.value("", "page", "pageTitle", "default-parameter")
        title = re.sub(r"^\[\[|\]\]$", "", page)
        become(macro.element, "span", f"({words} ")
        link = etree.SubElement(macro.element, "a")
        link.text = title
        if title:
            link.set("data-page", title)
        link.tail = ")"

    return rule


def _file(macro: Macro) -> None:
    name = macro.value("name", "", "attachment", "filename")
    macro.say(f"[Attachment: {name}]" if name else f"[{macro.name}]")


def _drawing(macro: Macro) -> None:
    name = macro.value("diagramDisplayName", "diagramName", "name", "")
    macro.say(f"[Diagram: {name}]" if name else "[Diagram]")


def _address(macro: Macro) -> None:
    url = macro.value("url", "src", "")
    become(macro.element, "a", url, href=url)


def _person(macro: Macro) -> None:
    macro.say(macro.value("user", ""))


def _mathematics(macro: Macro) -> None:
    text = words_of(macro.body) if macro.body is not None else macro.value("body", "")
    become(macro.element, "code", f"${text.strip()}$")


_RULES: Mapping[str, Callable[[Macro], None]] = {
    "code": _code,
    "noformat": _code,
    "plantuml": _fence("plantuml"),
    "mermaid": _fence("mermaid"),
    "html": _fence("html"),
    "markdown": _markdown,
    "mathblock": _fence("latex"),
    "latex": _fence("latex"),
    "mathinline": _mathematics,
    "info": _boxed("Info"),
    "note": _boxed("Note"),
    "warning": _boxed("Warning"),
    "tip": _boxed("Tip"),
    "panel": _panel,
    "quote": _quote,
    "expand": _expand,
    "status": _status,
    "toc": _nothing,
    "anchor": _nothing,
    "toc-zone": _plain,
    "section": _plain,
    "column": _plain,
    "details": _plain,
    "div": _plain,
    "span": _plain,
    "excerpt": _plain,
    "jira": _jira,
    "jiraissues": _jira,
    "include": _included("includes the page"),
    "excerpt-include": _included("includes an excerpt of"),
    "view-file": _file,
    "viewpdf": _file,
    "viewdoc": _file,
    "viewxls": _file,
    "viewppt": _file,
    "multimedia": _file,
    "drawio": _drawing,
    "gliffy": _drawing,
    "widget": _address,
    "iframe": _address,
    "profile": _person,
}

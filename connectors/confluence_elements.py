"""Elements of Confluence on their way to plain HTML: what they are, and changing them in place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from lxml import etree
from lxml.etree import _Element as Element

from connectors.confluence_markdown import words_of


@dataclass
class Context:
    """What the page around a text knows.

    unknown: takes up what no rule is for, as `macro:<name>`, and what was too much.
    """

    user: Callable[[str], str] = str
    """Name of a person, from a key, account id or user name."""
    unknown: list[str] = field(default_factory=list)


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


def labelled(element: Element, label: str, title: str = "") -> None:
    """Put a label in bold before what `element` holds."""
    line = etree.Element("p")
    etree.SubElement(line, "strong").text = f"{label}: {title}" if title else f"{label}:"
    if element.text and element.text.strip():
        line[0].tail = f" {element.text.strip()}"
        element.text = None
    element.insert(0, line)

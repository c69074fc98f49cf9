"""What a Markdown body holds: sections by heading, and links. Fenced `##` is no heading."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token

MAX_PARAGRAPH = 8_000
"""Characters of a paragraph in which links and emphasis are looked for."""
_MAX_BRACKETS = 1_000

_COMMENT = re.compile(r"<!--[^<>]*-->")
_ATX = re.compile(r"^(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$", re.MULTILINE)
# where a line that begins with `#` may be something else, or a heading does not begin with one
_NEEDS_PARSER = re.compile(
    r"^[ \t]*(?:```|~~~|<[A-Za-z/!?]|(?:[-+*>]|\d{1,9}[.)])[ \t>]*(?:```|~~~|<))"
    r"|^ {0,3}(?:=+|-+)[ \t]*$|^ {1,3}#{1,6}(?:[ \t]|$)",
    re.MULTILINE,
)
_WIKI = re.compile(r"\[\[([^\[\]|\n]{1,500})(?:\|([^\[\]\n]{1,500}))?\]\]")


@dataclass(frozen=True)
class Section:
    """A heading and what follows it, up to the next heading of any level.

    What stands before the first heading is a section of level 0 without title. `start` and `end`
    are lines of the body, 0-based, the heading included; `text` leaves the heading out.
    """

    level: int
    title: str
    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Link:
    """`[[target|text]]` (wiki) or `[text](target)`."""

    target: str
    text: str
    wiki: bool


@dataclass(frozen=True)
class _Heading:
    level: int
    title: str
    start: int
    end: int


def sections(body: str) -> tuple[Section, ...]:
    """Return the sections of `body` in order; only headings outside lists and quotes count."""
    body = body.replace("\r\n", "\n").replace("\r", "\n")
    lines = body.split("\n")
    headings = list(_parsed(body) if _NEEDS_PARSER.search(body) else _scanned(body))
    edges = [heading.start for heading in headings[1:]] + [len(lines)]
    found = [
        Section(
            heading.level,
            heading.title,
            heading.start,
            edge,
            "\n".join(lines[heading.end : edge]).strip("\r\n"),
        )
        for heading, edge in zip(headings, edges, strict=False)
    ]
    first = headings[0].start if headings else len(lines)
    lead = "\n".join(lines[:first]).strip("\r\n")
    return (Section(0, "", 0, first, lead), *found) if lead else tuple(found)


def links(body: str) -> tuple[Link, ...]:
    """Return the links of `body` outside code, in order."""
    if "[[" not in body and "](" not in body:
        return ()
    tokens = _reader(inline=True).parse(body)
    return tuple(link for token in tokens for link in _links_in(token.children or []))


def _scanned(body: str) -> Iterator[_Heading]:
    line = position = 0
    for match in _ATX.finditer(body):
        line += body.count("\n", position, match.start())
        position = match.start()
        yield _Heading(len(match[1]), _title(match[2] or ""), line, line + 1)


def _parsed(body: str) -> Iterator[_Heading]:
    tokens = _reader(inline=False).parse(body)
    for token, content in pairwise(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map:
            start, end = token.map
            yield _Heading(int(token.tag[1:]), _title(content.content), start, end)


def _title(text: str) -> str:
    return " ".join(_COMMENT.sub("", text).split())


def _links_in(tokens: list[Token]) -> Iterator[Link]:
    target: str | None = None
    text: list[str] = []
    for token in tokens:
        if token.type == "link_open":
            target, text = str(token.attrGet("href") or ""), []
        elif token.type == "link_close" and target is not None:
            yield Link(target, "".join(text), wiki=False)
            target = None
        elif target is not None:
            text.append(token.content)
        elif token.type == "text":
            yield from _wiki_links(token.content)


def _wiki_links(text: str) -> Iterator[Link]:
    for match in _WIKI.finditer(text):
        yield Link(match[1].strip(), (match[2] or match[1]).strip(), wiki=True)


@cache
def _reader(*, inline: bool) -> MarkdownIt:
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark")
    # unjoined, an escaped bracket stays apart from the text behind it
    reader.core.ruler.disable(["text_join"] if inline else ["inline", "text_join"])
    if inline:
        bound(reader)
    return reader


def bound(parser: MarkdownIt) -> None:
    """Let `parser` take a paragraph too long or too full of brackets as plain text.

    Brackets, stars and backticks without a partner cost it the square of a paragraph's length:
    one hostile message would hold the engine for a minute.
    """
    parser.core.ruler.at("inline", _parse_inline)


def _parse_inline(state: StateCore) -> None:
    from markdown_it.token import Token

    for token in state.tokens:
        if token.type != "inline":
            continue
        token.children = token.children or []
        if len(token.content) > MAX_PARAGRAPH or token.content.count("[") > _MAX_BRACKETS:
            token.children.append(Token("text", "", 0, content=token.content))
        else:
            state.md.inline.parse(token.content, state.md, state.env, token.children)

"""HTML to Markdown, for pages of any size and any nesting.

It reads an lxml tree of plain HTML, with three marks of our own: `data-language` on `pre`,
`data-task` (`open`, `done`) on `li`, and `data-page` (a title) on `a`. Code is copied byte for
byte; text is not escaped beyond what would open a code fence, so that words stay searchable.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from lxml.etree import _Element as Element

from connectors.confluence_tables import Cell, render_table, rows_of

BLOCK_DEPTH = 24
INLINE_DEPTH = 24
"""Nesting beyond these is read as plain text."""

_BLOCKS = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "caption",
        "center",
        "dd",
        "details",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hr",
        "html",
        "li",
        "main",
        "nav",
        "ol",
        "p",
        "pre",
        "section",
        "summary",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "ul",
    ]
)
_SILENT = frozenset(["script", "style", "head", "template", "noscript", "colgroup", "col"])
_MARKS = {
    "strong": "**",
    "b": "**",
    "em": "*",
    "i": "*",
    "cite": "*",
    "del": "~~",
    "s": "~~",
    "strike": "~~",
}
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_SPACE = re.compile(r"[ \t\n\r\f\xa0]+")
_SPACES = re.compile(" {2,}")
_FENCE = re.compile(r"^( *)(`{3}|~{3})", re.MULTILINE)
_TICKS = re.compile(r"`+")
_LANGUAGE = re.compile(r"[^\w+#.-]")
_EDGES = re.compile(r"^(\s*)(.*?)(\s*)$", re.DOTALL)
_BREAK = re.compile(r" *\n *")
_WEB = re.compile(r"(?:https?|ftp|mailto):", re.IGNORECASE)


def to_markdown(root: Element) -> str:
    """Return the content of `root` as Markdown, without blank edges."""
    return "\n\n".join(_Renderer(root).blocks(root, 0)).strip("\n")


def fenced(code: str, language: str = "") -> str:
    """Return `code` in a fence that nothing in it closes."""
    longest = max((len(run[0]) for run in _TICKS.finditer(code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{_LANGUAGE.sub('', language)[:30]}\n{code}\n{fence}"


def tag_of(element: Element) -> str:
    """Return an element's name in lower case; empty for comments and the like."""
    # lxml gives functions as the tags of comments
    tag: object = element.tag
    return tag.lower() if isinstance(tag, str) else ""


class _Renderer:
    def __init__(self, root: Element) -> None:
        self._around = _around_blocks(root)

    def _is_block(self, element: Element) -> bool:
        return element in self._around

    def blocks(self, element: Element, depth: int) -> list[str]:
        """Return the blocks inside `element`, each without blank edges."""
        if depth > BLOCK_DEPTH:
            return _paragraph([words_of(element)])
        result: list[str] = []
        line: list[str] = [_squeezed(element.text)]
        for child in element:
            if self._is_block(child):
                result += _paragraph(line)
                line = []
                result += self._block(child, depth + 1)
            else:
                line.append(self.inline(child, 0))
            line.append(_squeezed(child.tail))
        return result + _paragraph(line)

    def _block(self, element: Element, depth: int) -> list[str]:
        tag = tag_of(element)
        if tag in _SILENT:
            return []
        if tag in _HEADINGS:
            title = " ".join(" ".join(self.blocks(element, depth)).split())
            return [f"{'#' * int(tag[1])} {_not_bold(title)}"] if title else []
        if tag == "blockquote":
            return _quoted(self.blocks(element, depth))
        rules = {"pre": self._pre, "ul": self._list, "ol": self._list, "table": self._table}
        return rules.get(tag, self.blocks)(element, depth) if tag != "hr" else ["---"]

    def _pre(self, element: Element, depth: int) -> list[str]:
        del depth
        text = words_of(element).replace("\r\n", "\n").rstrip().removeprefix("\n")
        return [fenced(text, element.get("data-language") or "")] if text.strip() else []

    def _list(self, element: Element, depth: int) -> list[str]:
        start = element.get("start") or "1"
        number = int(start) if start.isascii() and start.isdigit() and len(start) < 7 else 1  # noqa: PLR2004 - no list starts higher
        ordered, lines = tag_of(element) == "ol", list[str]()
        lines += _paragraph([_squeezed(element.text)])
        for child in element:
            blocks = self._item(child, depth)
            if tag_of(child) != "li":
                # a list right inside a list belongs to the item above it
                lines += [f"  {line}" for block in blocks for line in block.split("\n")]
            elif blocks:
                marker = f"{number}. " if ordered else _bullet(child)
                lines.append(_indented(blocks, marker))
            number += tag_of(child) == "li"
            lines += _paragraph([_squeezed(child.tail)])
        return ["\n".join(lines)] if lines else []

    def _item(self, child: Element, depth: int) -> list[str]:
        if tag_of(child) == "li":
            return self.blocks(child, depth)
        if self._is_block(child):
            return self._block(child, depth + 1)
        return _paragraph([self.inline(child, 0)])

    def _table(self, element: Element, depth: int) -> list[str]:
        rows = [
            [Cell(tag_of(cell) == "th", _span(cell, "colspan"), _span(cell, "rowspan"),
                  self.blocks(cell, depth + 1), has_blocks=_is_rich(cell)) for cell in row]
            for row in rows_of(element)
        ]  # fmt: skip
        captions = [block for child in element if tag_of(child) == "caption"
                    for block in self.blocks(child, depth + 1)]  # fmt: skip
        return captions + render_table(rows)

    def inline(self, element: Element, depth: int, marks: Sequence[str] = ()) -> str:
        """Return `element` as part of a line; `marks` are those already open around it."""
        tag = tag_of(element)
        if not tag or tag in _SILENT:
            return ""
        if depth > INLINE_DEPTH:
            return _squeezed(words_of(element))
        if tag in _LEAVES:
            return _LEAVES[tag](element)
        mark = _MARKS.get(tag, "")
        mark = "" if mark in marks else mark
        inner = self._inside(element, depth, (*marks, mark))
        if tag == "a":
            return _link(element, inner)
        return _marked(inner, mark) if mark else inner

    def _inside(self, element: Element, depth: int, marks: Sequence[str]) -> str:
        parts = [_squeezed(element.text)]
        for child in element:
            parts += [self.inline(child, depth + 1, marks), _squeezed(child.tail)]
        return "".join(parts)


def _around_blocks(root: Element) -> set[Element]:
    """Return the block elements and all that contain one."""
    found: set[Element] = set()
    for element in root.iter():
        if tag_of(element) in _BLOCKS:
            up: Element | None = element
            while up is not None and up not in found:
                found.add(up)
                up = up.getparent()
    return found


def words_of(element: Element) -> str:
    """Return all text inside an element, as it is written."""
    return "".join(map(str, element.itertext()))


def _squeezed(text: str | None) -> str:
    return _SPACE.sub(" ", text) if text else ""


def _paragraph(parts: Iterable[str]) -> list[str]:
    text = "".join(parts)
    if "\n" in text:
        text = _BREAK.sub("\n", text)
    if "  " in text:
        text = _SPACES.sub(" ", text)
    if "```" in text or "~~~" in text:
        text = _FENCE.sub(r"\1\\\2", text)
    text = text.strip()
    return [text] if text else []


def _quoted(blocks: Sequence[str]) -> list[str]:
    lines = "\n\n".join(blocks).split("\n")
    return ["\n".join(f"> {line}".rstrip() for line in lines)] if blocks else []


def _bullet(item: Element) -> str:
    state = item.get("data-task")
    return {"done": "- [x] ", "open": "- [ ] "}.get(state or "", "- ")


def _indented(blocks: Sequence[str], marker: str) -> str:
    """Return a list item; only lists and single paragraphs stay without a blank line."""
    tight = all(re.match(r"(?:[-*] |\d+\. )", block) for block in blocks[1:])
    lines = ("\n" if tight else "\n\n").join(blocks).split("\n")
    # the box of a task is text: what follows is indented as below any bullet
    indent = " " * (2 if marker.startswith("-") else len(marker))
    return "\n".join([marker + lines[0], *(f"{indent}{line}".rstrip() for line in lines[1:])])


def _not_bold(title: str) -> str:
    inner = title.removeprefix("**").removesuffix("**")
    return inner if len(title) - len(inner) == 4 and "**" not in inner else title  # noqa: PLR2004 - two marks at each end


def _span(cell: Element, name: str) -> int:
    value = cell.get(name) or "1"
    return int(value) if value.isascii() and value.isdigit() and len(value) < 5 else 1  # noqa: PLR2004 - no table is wider


def _is_rich(cell: Element) -> bool:
    return next(cell.iter("table", "pre", "blockquote"), None) is not None


def _image(element: Element) -> str:
    alt = _squeezed(element.get("alt")).strip()
    source = element.get("src") or ""
    if _WEB.match(source):
        return f"[Image: {alt or source}]({_address(source)})"
    return f"[Image: {alt}]" if alt else "[Image]"


def _code_span(element: Element) -> str:
    text = _squeezed(words_of(element))
    if not text.strip():
        return text
    longest = max((len(run[0]) for run in _TICKS.finditer(text)), default=0)
    ticks = "`" * (longest + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def _link(element: Element, inner: str) -> str:
    text, page = inner.strip(), element.get("data-page")
    if page:
        return f"[[{page}]]" if text in {"", page} else f"[[{page}|{text}]]"
    target = (element.get("href") or "").strip()
    if not _WEB.match(target):
        return inner
    if text in {"", target}:
        return f"<{target}>" if _WEB.match(target) and " " not in target else target
    return f"[{text}]({_address(target)})"


def _line_end(element: Element) -> str:
    del element
    return "\n"


def _address(target: str) -> str:
    plain = "".join(target.split())
    return f"<{plain}>" if "(" in plain or ")" in plain else plain


def _marked(text: str, mark: str) -> str:
    match = _EDGES.match(text)
    if match is None or not match[2]:
        return text
    return f"{match[1]}{mark}{match[2]}{mark}{match[3]}"


_LEAVES: Mapping[str, Callable[[Element], str]] = {
    "br": _line_end,
    "img": _image,
    "code": _code_span,
    "tt": _code_span,
    "kbd": _code_span,
    "samp": _code_span,
}

"""Items of an identity and who may see them.

Every list item (and every other paragraph) is an item. A tag at the end of one of its lines says
who sees it: `{work}`, `{public}`, `{personal}`, also `{visibility: work}`. Without one it is as
visible as the heading above it says, without that personal. An item inside another is never wider
than the outer one. A tag that is not understood means personal.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from context_engine.scopes import Scope

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

Problem = tuple[int, str]
"""Line (1-based, in the body) and what is not understood there."""

_WIDTH: Mapping[Scope, int] = MappingProxyType({Scope.PERSONAL: 0, Scope.WORK: 1, Scope.PUBLIC: 2})
_WORDS: Mapping[str, Scope] = MappingProxyType(
    {
        **{scope.value: scope for scope in Scope},
        "個人": Scope.PERSONAL,
        "仕事": Scope.WORK,
        "公開": Scope.PUBLIC,
    }
)
_BRACES = re.compile(r"[ \t\u3000]*[{｛]([^{}｛｝\n]{0,40})[}｝]")
_PREFIX = re.compile(r"\s*visibility\s*[:：]\s*", re.IGNORECASE)
_WORD = re.compile(r"[\w-]*\Z")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_INLINE_COMMENT = re.compile(r"<!--.*?-->")
_MARKER = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$)")
_HIDDEN = "—"
_SILENT = frozenset({"html_block", "hr"})


@dataclass(frozen=True)
class Heading:
    """A heading and who sees its words. `level` is 1 to 6."""

    level: int
    title: str
    visibility: Scope


@dataclass(frozen=True)
class Item:
    """One item without its tag. `depth` is 0 for paragraphs, 1 for list items, 2 inside those."""

    text: str
    visibility: Scope
    depth: int


Part = Heading | Item


def parse_identity(body: str, problems: list[Problem] | None = None) -> tuple[Part, ...]:
    """Return headings and items of an identity's body, in order.

    What is not understood is personal, and is added to `problems`.
    """
    text = body.replace("\r\n", "\n").replace("\r", "\n")
    page = _Page(text.split("\n"), problems if problems is not None else [])
    return tuple(_parts(page, _markdown().parse(text)))


def render_identity(parts: Sequence[Part], scope: Scope) -> str:
    """Return the Markdown of what `scope` may see; a heading only with something below it."""
    text = ""
    waiting: list[Heading] = []
    after_item = False
    for part in parts:
        if isinstance(part, Heading):
            waiting = [*(heading for heading in waiting if heading.level < part.level), part]
            after_item = False
        elif sees(scope, part.visibility):
            text += "".join(f"\n\n{_shown(heading, scope)}" for heading in waiting)
            text += "\n" if after_item and part.depth else "\n\n"
            text += _indented(part)
            waiting, after_item = [], part.depth > 0
    return text.strip("\n")


def _shown(heading: Heading, scope: Scope) -> str:
    # the words of a hidden heading stay hidden, yet what stands below it begins anew
    title = heading.title if sees(scope, heading.visibility) else _HIDDEN
    return f"{'#' * heading.level} {title}"


def sees(scope: Scope, visibility: Scope) -> bool:
    """Tell whether callers of `scope` may see an item: the wider a scope, the less it sees."""
    return _WIDTH[visibility] >= _WIDTH[scope]


def narrowest(first: Scope, *others: Scope) -> Scope:
    """Return the scope that the fewest see."""
    return min((first, *others), key=_WIDTH.__getitem__)


@dataclass(frozen=True)
class _Page:
    lines: Sequence[str]
    problems: list[Problem]

    def visibility(self, numbers: Sequence[int], default: Scope) -> Scope:
        """Return who sees the lines `numbers`.

        A tag at a line's end decides. Elsewhere in a line it may be a slip of the pen, and can
        only make the item narrower.
        """
        ends: list[Scope] = []
        inner: list[Scope] = []
        for number in numbers:
            line = _INLINE_COMMENT.sub("", self.lines[number]).rstrip()
            for match in _BRACES.finditer(line):
                at_end = match.end() == len(line)
                scope = self._scope(number, match[1], at_end=at_end)
                if scope is not None:
                    (ends if at_end else inner).append(scope)
        return narrowest(narrowest(*ends) if ends else default, *inner)

    def text(self, numbers: Sequence[int]) -> str:
        """Return the lines without the tags at their ends and without comments."""
        lines = [_without_tag(self.lines[number]) for number in numbers]
        return _COMMENT.sub("", "\n".join(lines)).strip("\n").rstrip()

    def _scope(self, number: int, word: str, *, at_end: bool) -> Scope | None:
        prefix = _PREFIX.match(word)
        named = (word[prefix.end() :] if prefix else word).strip().lower()
        if named in _WORDS:
            return _WORDS[named]
        if prefix or "visib" in named or (at_end and _WORD.match(named)):
            self.problems.append((number + 1, f"{{{word}}} is no visibility; kept personal"))
            return Scope.PERSONAL
        return None


def _without_tag(line: str) -> str:
    line = _INLINE_COMMENT.sub("", line).rstrip()
    for match in _BRACES.finditer(line):
        if match.end() == len(line):
            return line[: match.start()]
    return line


def _parts(page: _Page, tokens: Sequence[Token]) -> Iterator[Part]:
    defaults: list[tuple[int, Scope]] = []
    for position, token in enumerate(tokens):
        if token.level or not token.map or token.type in _SILENT:
            continue
        default = defaults[-1][1] if defaults else Scope.PERSONAL
        if token.type == "heading_open":
            heading = _heading(page, token, tokens[position + 1].content, defaults)
            defaults = [*_above(defaults, heading.level), (heading.level, heading.visibility)]
            yield heading
        elif token.type.endswith("_list_open"):
            yield from _items(page, tokens, position, default, 1)
        else:
            numbers = range(*token.map)
            visibility = page.visibility(numbers, default)
            yield from _item(page.text(numbers), visibility, 0)


def _above(defaults: list[tuple[int, Scope]], level: int) -> list[tuple[int, Scope]]:
    return [(other, scope) for other, scope in defaults if other < level]


def _heading(page: _Page, token: Token, content: str, defaults: list[tuple[int, Scope]]) -> Heading:
    level = int(token.tag[1:])
    above = _above(defaults, level)
    inherited = above[-1][1] if above else Scope.PERSONAL
    visibility = page.visibility(range(*(token.map or (0, 0))), inherited)
    title = _COMMENT.sub("", _without_tag(content)).strip()
    return Heading(level, " ".join(title.split()), visibility)


def _items(
    page: _Page, tokens: Sequence[Token], opening: int, outer: Scope, depth: int
) -> Iterator[Item]:
    """Yield the items of the list that begins at token `opening`, inner ones behind their own."""
    level = tokens[opening].level
    for position in range(opening + 1, len(tokens)):
        token = tokens[position]
        if token.level == level and token.nesting < 0:
            return
        if token.type == "list_item_open" and token.level == level + 1:
            yield from _list_item(page, tokens, position, outer, depth)


def _list_item(
    page: _Page, tokens: Sequence[Token], opening: int, outer: Scope, depth: int
) -> Iterator[Item]:
    token = tokens[opening]
    inner = list(_inner_lists(tokens, opening))
    taken = {number for place in inner for number in range(*(tokens[place].map or (0, 0)))}
    numbers = [number for number in range(*(token.map or (0, 0))) if number not in taken]
    stated = page.visibility(numbers, outer)
    visibility = stated if depth == 1 else narrowest(outer, stated)
    first, *rest = page.text(numbers).split("\n")
    text = "\n".join([_MARKER.sub("", first, count=1), textwrap.dedent("\n".join(rest))])
    yield from _item(text.strip(), visibility, depth)
    for place in inner:
        yield from _items(page, tokens, place, visibility, depth + 1)


def _inner_lists(tokens: Sequence[Token], opening: int) -> Iterator[int]:
    level = tokens[opening].level
    for position in range(opening + 1, len(tokens)):
        token = tokens[position]
        if token.level == level and token.nesting < 0:
            return
        if token.level == level + 1 and token.type.endswith("_list_open"):
            yield position


def _item(text: str, visibility: Scope, depth: int) -> Iterator[Item]:
    if text.strip():
        yield Item(text, visibility, depth)


def _indented(item: Item) -> str:
    if not item.depth:
        return item.text
    indent = "  " * (item.depth - 1)
    first, *rest = item.text.split("\n")
    return "\n".join([f"{indent}- {first}", *(f"{indent}  {line}".rstrip() for line in rest)])


@cache
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark")
    reader.core.ruler.disable(["inline", "text_join"])
    return reader

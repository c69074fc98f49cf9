"""A note's Markdown as safe HTML: no raw HTML, no script links, no pictures from elsewhere."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from markupsafe import Markup, escape

from context_engine.scopes import Scope
from vault.markdown import bound

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MAX_CHARACTERS = 200_000
"""A longer note is rendered up to here; its raw text is shown whole."""
_SAFE = ("http://", "https://", "mailto:")


def render(text: str, scope: Scope, path: str) -> Markup:
    """Return the beginning of a note as HTML; links between notes lead to their pages."""
    environment: dict[str, Any] = {"scope": scope.value, "folder": posixpath.dirname(path)}
    html = _parser().render(text[:MAX_CHARACTERS], environment)
    return Markup(html)  # noqa: S704 - made by a parser that escapes all HTML of the note


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # "js-default": no HTML, and nesting is bounded
    parser = MarkdownIt("js-default", {"html": False, "linkify": False, "breaks": True})
    bound(parser)
    parser.add_render_rule("image", _image)
    parser.add_render_rule("link_open", _link_open)
    return parser


def _image(
    _self: Any, tokens: Sequence[Token], place: int, _options: Any, _environment: Any
) -> str:
    """Show a picture's words: loading it would tell its host who reads here."""
    return f'<span class="picture">{escape(tokens[place].content)}</span>'


def _link_open(
    _self: Any, tokens: Sequence[Token], place: int, _options: Any, environment: Mapping[str, str]
) -> str:
    target = str(tokens[place].attrs.get("href", ""))
    if target.lower().startswith(_SAFE):
        return f'<a href="{escape(target)}" rel="noopener noreferrer nofollow" class="outside">'
    page = note_page(target, environment)
    return f'<a href="{escape(page)}">' if page else "<a>"


def note_page(target: str, environment: Mapping[str, str]) -> str | None:
    """Return the page of the note that a link means; None when it leads out of the vault."""
    inside = unquote(target.partition("#")[0])
    if not inside or inside.startswith("/") or ":" in inside.partition("/")[0]:
        return None
    path = posixpath.normpath(posixpath.join(environment["folder"], inside))
    if path.startswith("..") or not path.endswith(".md"):
        return None
    return f"/notes/{environment['scope']}/{quote(path)}"

"""Slack messages as Markdown that a person can read: blocks, `text`, attachments, files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from connectors.markup import fence, quoted
from connectors.slack_inline import (
    Names,
    clean_url,
    elements,
    link,
    mrkdwn,
    unescape_entities,
)

DEPTH = 8
"""Blocks inside blocks that are followed."""

_SILENT_BLOCKS = frozenset({"divider", "actions", "input", "rich_text_color"})
_PREVIEW = 300
_UNKNOWN_TYPES = 100


@dataclass(slots=True)
class Renderer:
    """Renders messages of one export. `unknown` collects block types met but not known."""

    names: Names
    unknown: dict[str, int] = field(default_factory=dict)

    def message(self, record: Mapping[str, Any]) -> str:
        """Return what a message says: its blocks, or its `text` where they say nothing."""
        return self.blocks(record.get("blocks")) or mrkdwn(_text(record, "text"), self.names)

    def blocks(self, blocks: Any, depth: int = 0) -> str:
        """Return blocks, one below the other."""
        if not isinstance(blocks, list) or depth > DEPTH:
            return ""
        rendered = [_block(self, block, depth) for block in blocks if isinstance(block, dict)]
        return "\n\n".join(part.strip("\n") for part in rendered if part.strip())

    def attachments(self, record: Mapping[str, Any]) -> str:
        """Return what a message shows below its text: quoted messages, link previews, app cards."""
        return _attachments(self, record)


def _block(on: Renderer, block: dict[str, Any], depth: int) -> str:
    kind = block.get("type")
    render = _BLOCKS.get(kind) if isinstance(kind, str) else None
    if render is not None:
        return render(on, block, depth)
    name = kind[:60] if isinstance(kind, str) else "without type"
    if name in _SILENT_BLOCKS:
        return ""
    if name in on.unknown or len(on.unknown) < _UNKNOWN_TYPES:
        on.unknown[name] = on.unknown.get(name, 0) + 1
    return _texts(on, block)


def _rich_text(on: Renderer, block: dict[str, Any], depth: int) -> str:
    items = block.get("elements")
    if not isinstance(items, list) or depth > DEPTH:
        return ""
    parts: list[str] = []
    for item in (item for item in items if isinstance(item, dict)):
        text = _block(on, item, depth + 1)
        # a list that goes on at another indent is one list
        is_list = item.get("type") == "rich_text_list"
        parts.append(("\n" if is_list else "\n\n") + text.strip("\n") if parts else text)
    return "".join(parts)


def _section(on: Renderer, block: dict[str, Any], _depth: int) -> str:
    return elements(block.get("elements"), on.names)


def _list(on: Renderer, block: dict[str, Any], _depth: int) -> str:
    items = block.get("elements")
    indent, offset = _number(block, "indent"), _number(block, "offset")
    ordered = block.get("style") == "ordered"
    lines = []
    for number, item in enumerate(items if isinstance(items, list) else [], offset + 1):
        text = elements(item.get("elements"), on.names) if isinstance(item, dict) else ""
        mark = f"{number}." if ordered else "-"
        pad = "   " * indent
        lines.append(f"{pad}{mark} " + text.replace("\n", f"\n{pad}   "))
    return "\n".join(lines)


def _quote(on: Renderer, block: dict[str, Any], _depth: int) -> str:
    return quoted(elements(block.get("elements"), on.names))


def _preformatted(on: Renderer, block: dict[str, Any], _depth: int) -> str:
    language = _text(block, "language")
    return fence(
        elements(_plain(block.get("elements")), on.names),
        language if language.isalnum() else "",
    )


def _texts(on: Renderer, block: dict[str, Any], _depth: int = 0) -> str:
    """Return the texts of a layout block: section, header, context, whatever has them."""
    fields, inner = block.get("fields"), block.get("elements")
    holders = [block.get("title"), block.get("text")]
    for more in (fields, inner):
        holders += more if isinstance(more, list) else []
    return "\n".join(text for text in (_text_object(on, holder) for holder in holders) if text)


def _text_object(on: Renderer, value: Any) -> str:
    if isinstance(value, str):
        return mrkdwn(value, on.names)
    if not isinstance(value, dict):
        return ""
    if value.get("type") == "image":
        return _text(value, "alt_text")
    text = value.get("text")
    if not isinstance(text, str):
        return ""
    if value.get("type") == "plain_text":
        return unescape_entities(text)
    return mrkdwn(text, on.names)


def _header(on: Renderer, block: dict[str, Any], _depth: int) -> str:
    text = " ".join(_texts(on, block).split())
    return f"**{text}**" if text else ""


def _image(on: Renderer, block: dict[str, Any], _depth: int) -> str:
    title = _text_object(on, block.get("title")) or _text(block, "alt_text") or "image"
    return link(_text(block, "image_url"), title)


def _markdown(_on: Renderer, block: dict[str, Any], _depth: int) -> str:
    return _text(block, "text")


def _table(on: Renderer, block: dict[str, Any], depth: int) -> str:
    rows = block.get("rows")
    lines = []
    for row in rows if isinstance(rows, list) else []:
        cells = [_cell(on, cell, depth) for cell in row] if isinstance(row, list) else []
        lines.append(f"| {' | '.join(cells)} |")
        if len(lines) == 1:
            lines.append("|" + " --- |" * len(cells))
    return "\n".join(lines)


def _cell(on: Renderer, cell: Any, depth: int) -> str:
    if not isinstance(cell, dict):
        return ""
    rich = cell.get("type") == "rich_text"
    text = _rich_text(on, cell, depth + 1) if rich else _text(cell, "text")
    return " ".join(text.replace("|", "\\|").split())


def _attachments(on: Renderer, record: Mapping[str, Any]) -> str:
    items = record.get("attachments")
    shown = [
        _attachment(on, item)
        for item in (items if isinstance(items, list) else [])
        if isinstance(item, dict)
    ]
    return "\n\n".join(text for text in shown if text)


def _attachment(on: Renderer, item: dict[str, Any]) -> str:
    author = _text(item, "author_name") or _text(item, "author_subname")
    title = unescape_entities(_text(item, "title"))
    if title and (address := _text(item, "title_link")):
        title = link(address, title)
    body = on.blocks(item.get("blocks")) or _attached_text(on, item)
    head = ": ".join(part for part in (author, title) if part)
    lines = [mrkdwn(_text(item, "pretext"), on.names), head, body]
    text = "\n".join(line for line in lines if line)
    return quoted(text or mrkdwn(_text(item, "fallback"), on.names))


def _attached_text(on: Renderer, item: dict[str, Any]) -> str:
    fields = item.get("fields")
    lines = [mrkdwn(_text(item, "text"), on.names)]
    for entry in fields if isinstance(fields, list) else []:
        if isinstance(entry, dict):
            words = (_text(entry, "title"), mrkdwn(_text(entry, "value"), on.names))
            lines.append(": ".join(word for word in words if word))
    return "\n".join(line for line in lines if line)


_BLOCKS: Mapping[str, Callable[[Renderer, dict[str, Any], int], str]] = {
    "rich_text": _rich_text,
    "rich_text_section": _section,
    "rich_text_list": _list,
    "rich_text_quote": _quote,
    "rich_text_preformatted": _preformatted,
    "section": _texts,
    "context": _texts,
    "header": _header,
    "image": _image,
    "markdown": _markdown,
    "table": _table,
}


def files(record: Mapping[str, Any], said: str) -> Iterator[str]:
    """Yield a line for each file of a message that `said` does not name already."""
    items = record.get("files")
    listed = items if isinstance(items, list) else [record.get("file")]
    for item in listed:
        if isinstance(item, dict):
            address = clean_url(_text(item, "permalink")).partition("?")[0]
            name = _text(item, "title") or _text(item, "name")
            mode = _text(item, "mode")
            if mode in {"tombstone", "hidden_by_limit"} or not name:
                yield f"- file: {name or 'no longer there'}"
            elif not address or address not in said:
                yield f"- file: {link(address, name[:_PREVIEW]) if address else name[:_PREVIEW]}"


def _plain(items: Any) -> Any:
    """Return inline elements without their styles: code keeps its characters."""
    if not isinstance(items, list):
        return []
    return [
        {**item, "style": None, "text": "" if item.get("type") == "link" else item.get("text")}
        for item in items
        if isinstance(item, dict)
    ]


def _number(block: Mapping[str, Any], key: str) -> int:
    value = block.get(key)
    if not isinstance(value, int) or isinstance(value, bool):
        return 0
    return min(max(value, 0), DEPTH if key == "indent" else 100_000)


def _text(item: Mapping[str, Any], key: str) -> str:
    value = item.get(key)
    return value if isinstance(value, str) else ""

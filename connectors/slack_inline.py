"""Slack's inline markup as Markdown: mentions, links, dates, emphasis, in `text` and in blocks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from html import unescape
from typing import Any, Protocol

from connectors.markup import fence


class Names(Protocol):
    """What ids stand for."""

    def person_name(self, user_id: str) -> str | None:
        """Return a person's name, or None for one who is not known."""
        ...

    def channel_name(self, channel_id: str) -> str | None:
        """Return a channel's name without `#`, or None."""
        ...


_LABEL = 4_000
_ANGLE = re.compile(rf"<([^<>]{{1,{_LABEL}}})>")
# Between two marks there is no third one, so each regex is linear.
_BOLD = re.compile(r"(?<![\w*])\*(?=[^\s*])([^*\n]{1,2000})(?<=\S)\*(?![\w*])")
_STRIKE = re.compile(r"(?<![\w~])~(?=[^\s~])([^~\n]{1,2000})(?<=\S)~(?![\w~])")
_CODE = re.compile(r"(`[^`\n]{1,2000}`)")
_ENTITY = re.compile(r"&(?:amp|lt|gt);")
_URL = re.compile(r"(?:https?|mailto|tel|ftp|slack):", re.IGNORECASE)
_TOKEN = re.compile(r"[?&](?:t|token|pub_secret)=(?:xox[a-z]-)?[\w%.-]*")
_TOKEN_HOST = re.compile(r"https?://[\w.-]*slack(?:-files|-edge)?\.com/", re.IGNORECASE)
_MARKS = (("code", "`"), ("strike", "~~"), ("italic", "_"), ("bold", "**"))


def mrkdwn(text: str, names: Names) -> str:
    """Return Slack's `text` as Markdown. Code keeps its characters."""
    parts = text.split("```")
    if len(parts) % 2 == 0:
        # the last fence is never closed: it is text
        parts[-2:] = ["```".join(parts[-2:])]
    pieces = [
        fence(_resolved(part, names)) if number % 2 else _prose(part, names)
        for number, part in enumerate(parts)
    ]
    return "".join(pieces)


def _prose(text: str, names: Names) -> str:
    parts = _CODE.split(text)
    return "".join(
        _resolved(part, names) if number % 2 else _emphasis(_resolved(part, names))
        for number, part in enumerate(parts)
    )


def _emphasis(text: str) -> str:
    return _STRIKE.sub(r"~~\1~~", _BOLD.sub(r"**\1**", text))


def _resolved(text: str, names: Names) -> str:
    return unescape_entities(_ANGLE.sub(lambda match: _angle(match[1], names), text))


def unescape_entities(text: str) -> str:
    """Undo the three escapes that Slack uses, once."""
    return _ENTITY.sub(lambda match: unescape(match[0]), text)


def _angle(inner: str, names: Names) -> str:
    target, _, label = inner.partition("|")
    kind, ident = target[:1], target[1:]
    if kind == "@":
        return mention(ident, names, label)
    if kind == "#":
        return channel(ident, names, label)
    if kind == "!":
        return _special(ident, label)
    return link(target, label) if _URL.match(target) else f"&lt;{inner}&gt;"


def _special(ident: str, label: str) -> str:
    name, *rest = ident.split("^")
    if name == "date":
        return label or date(rest[0] if rest else None)
    if name == "subteam":
        return usergroup(label or (rest[0] if rest else ""))
    return "@" + (label or name).removeprefix("@")


def mention(user_id: str, names: Names, label: str = "") -> str:
    """Return `@name`; the id where nobody knows the name."""
    return "@" + (names.person_name(user_id) or label.removeprefix("@") or user_id)


def channel(channel_id: str, names: Names, label: str = "") -> str:
    """Return `#name`; the id where nobody knows the name."""
    return "#" + (names.channel_name(channel_id) or label.removeprefix("#") or channel_id)


def usergroup(name: str) -> str:
    """Return `@name` of a group of users."""
    return "@" + name.removeprefix("@")


def date(value: Any) -> str:
    """Return seconds since 1970 as a UTC time in words; as they are when they are none."""
    try:
        return f"{datetime.fromtimestamp(int(value), UTC):%Y-%m-%d %H:%M} UTC"
    except (TypeError, ValueError, OverflowError, OSError):
        return str(value)[:40] if isinstance(value, str) else ""


def link(url: str, label: str = "") -> str:
    """Return a Markdown link, the bare address where it has no label of its own."""
    address = clean_url(url)
    words = " ".join(label.split())
    if not words or words in {url, address, address.removeprefix("mailto:")}:
        return address.removeprefix("mailto:")
    if not _URL.match(address):
        return f"{words} ({address})"
    target = address.replace(" ", "%20").replace("(", "%28").replace(")", "%29")
    return f"[{words.replace('[', '(').replace(']', ')')}]({target})"


def clean_url(url: str) -> str:
    """Return `url` without the tokens that Slack puts into addresses of its files."""
    plain = unescape_entities(url)
    return _TOKEN.sub("", plain) if _TOKEN_HOST.match(plain) else plain


def styled(text: str, style: Any) -> str:
    """Return `text` between the marks of `style`, which do not embrace spaces at its ends."""
    core = text.strip()
    if not core or not isinstance(style, Mapping) or "\n" in core:
        return text
    start = text.index(core)
    marked = core
    for name, mark in _MARKS:
        if style.get(name) is True and mark not in core:
            marked = f"{mark}{marked}{mark}"
    return text[:start] + marked + text[start + len(core) :]


def elements(items: Any, names: Names) -> str:
    """Return the inline elements of a rich_text section."""
    return "".join(_elements(items, names)) if isinstance(items, list) else ""


def _elements(items: list[Any], names: Names) -> Iterator[str]:
    for item in items:
        if isinstance(item, dict):
            text = _element(item, names)
            yield styled(text, item.get("style"))


def _element(item: dict[str, Any], names: Names) -> str:
    kind = item.get("type")
    render = _ELEMENTS.get(kind) if isinstance(kind, str) else None
    return render(item, names) if render else _text(item, "text") or _text(item, "value")


def _emoji(item: dict[str, Any]) -> str:
    try:
        codes = [int(code, 16) for code in _text(item, "unicode").split("-")[:12]]
        return "".join(map(chr, codes)).encode("utf-8", "replace").decode()
    except (ValueError, OverflowError):
        return f":{_text(item, 'name')}:"


def _text(item: Mapping[str, Any], key: str) -> str:
    value = item.get(key)
    return value if isinstance(value, str) else ""


_ELEMENTS: Mapping[str, Callable[[dict[str, Any], Names], str]] = {
    "link": lambda item, _: link(_text(item, "url"), _text(item, "text")),
    "user": lambda item, names: mention(_text(item, "user_id"), names),
    "channel": lambda item, names: channel(_text(item, "channel_id"), names),
    "usergroup": lambda item, _: usergroup(_text(item, "name") or _text(item, "usergroup_id")),
    "broadcast": lambda item, _: "@" + _text(item, "range"),
    "date": lambda item, _: _text(item, "fallback") or date(item.get("timestamp")),
    "emoji": lambda item, _: _emoji(item),
}

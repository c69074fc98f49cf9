"""Front matter: split, read fast, render. `vault.frontmatter_edit` changes single entries.

Reading takes events from libyaml and builds plain values by the YAML 1.2 core rules, so that `no`
stays a word and a time stays text. Size, depth, aliases, anchors, tags and duplicate keys are
refused; whatever the input, the only error is BadInputError.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import yaml

from context_engine.clock import isoformat
from context_engine.errors import BadInputError

MAX_BYTES = 65_536
MAX_DEPTH = 8

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_OPEN = re.compile(r"\A\ufeff?---[ \t]*\r?\n")
_CLOSE = re.compile(r"^---[ \t]*(?:\r?\n|\Z)", re.MULTILINE)
_INT = re.compile(r"[-+]?[0-9]{1,18}\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]{1,30}(?:\.[0-9]{0,30})?)(?:[eE][-+]?[0-9]{1,3})?\Z")
_WORDS: Mapping[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_YAML_11_WORDS = frozenset({"y", "n", "yes", "no", "on", "off"})
_PLAIN = re.compile(r"[^\W\d_][\w./@+-]*\Z|[0-9a-f]{12,64}\Z")
_PLAIN_STAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z\Z|sha256:[0-9a-f]{64}\Z")
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Split:
    """A note's two halves; `head + body` is the note. `yaml` is None without front matter."""

    head: str
    yaml: str | None
    body: str


def split(text: str) -> Split:
    """Separate front matter from body. A note that never closes its `---` has none."""
    opened = _OPEN.match(text)
    if not opened:
        return Split("", None, text)
    closed = _CLOSE.search(text, opened.end())
    if not closed:
        return Split("", None, text)
    return Split(text[: closed.end()], text[opened.end() : closed.start()], text[closed.end() :])


def parse(source: str, place: str) -> dict[str, Any]:
    """Return the mapping that the YAML text `source` holds; {} when it is empty.

    Values are None, bool, int, float, str, lists and dicts with str keys; times stay text.

    Raises BadInputError (with `place`) when it is too large, too deep, no mapping, uses aliases,
    anchors or tags, repeats a key, or is no YAML.
    """
    _check_size(source, place)
    try:
        return _document(yaml_events(source))
    except yaml.YAMLError as error:
        raise BadInputError(
            place, f"front matter is no valid YAML: {one_line_of(error)}"
        ) from error
    except (ValueError, RecursionError) as error:
        raise BadInputError(place, f"front matter: {one_line_of(error)}") from error


def render(fields: Mapping[str, Any]) -> str:
    """Return YAML text, one entry a line (a list of mappings: one line an element).

    Takes what `parse` gives back, and aware datetimes.
    """
    return "".join(f"{_scalar(key)}:{entry_text(value)}\n" for key, value in fields.items())


def wrap(yaml_text: str) -> str:
    """Return `yaml_text` between its fences."""
    return f"---\n{yaml_text}---\n"


# --- reading ---


def _check_size(source: str, place: str) -> None:
    # a surrogate has no UTF-8; libyaml would answer with a UnicodeError of its own
    if _SURROGATE.search(source):
        raise BadInputError(place, "front matter holds a lone surrogate")
    size = len(source.encode("utf-8"))
    if size > MAX_BYTES:
        raise BadInputError(place, f"front matter has {size} bytes; at most {MAX_BYTES} are read")


def yaml_events(source: str) -> Iterator[Any]:
    """Yield the parser's events: what the text is made of, before anything is built from it."""
    yield from yaml.parse(source, Loader=_LOADER)


def one_line_of(error: Exception) -> str:
    """Return an error's message on one line."""
    return " ".join(str(error).split())[:300]


def _document(events: Iterator[Any]) -> dict[str, Any]:
    stream = iter(events)
    next(stream)  # stream start
    event = next(stream)
    if isinstance(event, yaml.StreamEndEvent):
        return {}
    value = _value(next(stream), stream, 0)
    next(stream)  # document end
    if not isinstance(next(stream), yaml.StreamEndEvent):
        raise ValueError("it holds more than one document")  # noqa: TRY004 - input, not a type
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ValueError("it is no mapping (key: value lines)")  # noqa: TRY004 - input, not a type
    return value


def _value(event: Any, stream: Iterator[Any], depth: int) -> Any:
    if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
        raise ValueError("aliases and anchors are refused")
    if event.tag is not None:
        raise ValueError("tags are refused")
    if isinstance(event, yaml.ScalarEvent):
        return _resolve(event.value) if event.implicit[0] else event.value
    if depth >= MAX_DEPTH:
        raise ValueError(f"it is nested deeper than {MAX_DEPTH}")
    if isinstance(event, yaml.SequenceStartEvent):
        return _sequence(stream, depth + 1)
    return _mapping(stream, depth + 1)


def _sequence(stream: Iterator[Any], depth: int) -> list[Any]:
    items: list[Any] = []
    while not isinstance(event := next(stream), yaml.SequenceEndEvent):
        items.append(_value(event, stream, depth))
    return items


def _mapping(stream: Iterator[Any], depth: int) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    while not isinstance(event := next(stream), yaml.MappingEndEvent):
        key = _key(event)
        if key in fields:
            raise ValueError(f"the key {key[:80]!r} occurs twice")
        fields[key] = _value(next(stream), stream, depth)
    return fields


def _key(event: Any) -> str:
    if not isinstance(event, yaml.ScalarEvent) or event.anchor is not None or event.tag is not None:
        raise ValueError("keys must be plain words")
    return str(event.value)


def _resolve(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if _INT.match(text):
        return int(text)
    if _FLOAT.match(text):
        return float(text)
    return text


# --- writing ---


def plain_value(value: Any) -> Any:
    """Return `value` as `parse` will read it back."""
    if isinstance(value, datetime):
        return isoformat(value)
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", str(value))
    if isinstance(value, Mapping):
        return {plain_value(str(key)): plain_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_value(item) for item in value]
    return value


def entry_text(value: Any) -> str:
    """Return what stands behind `key:`, the space or line break before it included."""
    value = plain_value(value)
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        return "".join(f"\n  - {_flow(item)}" for item in value)
    return f" {_flow(value)}"


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        pairs = ", ".join(f"{_scalar(key)}: {_flow(item)}" for key, item in value.items())
        return f"{{{pairs}}}"
    if isinstance(value, list):
        return f"[{', '.join(_flow(item) for item in value)}]"
    return _scalar(value)


def _scalar(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    return str(value) if is_plain(value) else _quoted(value)


def is_plain(text: str) -> bool:
    """Tell whether `text` reads back as this text without quotes."""
    if not _PLAIN.match(text):
        return bool(_PLAIN_STAMP.match(text))
    # YAML 1.1 readers (many editors' plugins) take these words for booleans
    return isinstance(_resolve(text), str) and text.lower() not in _YAML_11_WORDS


def _quoted(text: str) -> str:
    escaped = json.dumps(_SURROGATE.sub("\ufffd", text), ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", escaped)

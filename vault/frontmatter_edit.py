"""Change single entries of front matter and keep every other byte.

An entry's value is replaced where it stands; its comment, the entries around it and blank lines
stay. Only unusual styles (a mapping in braces, indented or in `? key` form) are rewritten as a
whole, by ruamel.yaml, which keeps comments and order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from io import StringIO
from typing import Any

import yaml

from context_engine.errors import BadInputError
from vault.frontmatter import (
    entry_text,
    is_plain,
    one_line_of,
    parse,
    plain_value,
    render,
    yaml_events,
)


def update(source: str, changes: Mapping[str, Any], place: str) -> str:
    """Return the YAML text `source` with top-level entries set to the values of `changes`.

    Entries whose value stays the same, unknown ones, comments and blank lines keep their bytes.

    Raises BadInputError like `parse`, and when the change cannot be made faithfully.
    """
    before = parse(source, place)
    plain = {key: plain_value(value) for key, value in changes.items()}
    wanted = {
        key: value for key, value in plain.items() if key not in before or before[key] != value
    }
    if not wanted:
        return source
    after = _splice(source, wanted, place)
    if parse(after, place) != {**before, **wanted}:
        raise BadInputError(
            place, f"front matter entries {sorted(wanted)} cannot be changed safely"
        )
    return after


@dataclass(frozen=True)
class _Spot:
    """Where one top-level entry lies, in characters: after its key, and around its value."""

    key: str
    key_end: int
    value_end: int


def _splice(source: str, wanted: Mapping[str, Any], place: str) -> str:
    spots = _spots(source)
    if spots is None:
        return _round_trip(source, wanted, place)
    pieces: list[str] = []
    done = 0
    for spot in spots:
        if spot.key in wanted:
            pieces += [source[done : spot.key_end], ":", entry_text(wanted[spot.key])]
            done = spot.value_end
    text = "".join(pieces) + source[done:]
    if text and not text.endswith("\n"):
        text += "\n"
    known = {spot.key for spot in spots}
    return text + render({key: value for key, value in wanted.items() if key not in known})


def _spots(source: str) -> list[_Spot] | None:
    """Return the top-level entries in order; None unless each begins a line of its own."""
    nodes = _top_level(source)
    if nodes is None:
        return None
    keys, values = nodes[::2], nodes[1::2]
    if any(start.column != 0 for start, _, _ in keys):
        return None
    return [
        # a block scalar ends behind its line breaks; those stay
        _Spot(name, key_end, max(key_end + 1, len(source[:value_end].rstrip())))
        for (_, key_end, name), (_, value_end, _) in zip(keys, values, strict=True)
    ]


def _top_level(source: str) -> list[tuple[Any, int, str]] | None:
    """Return (start mark, end, text) of each key and value of the top mapping, alternating.

    None when the mapping is in flow style.

    The end of a block collection is that of its last scalar or bracket: its own mark lies behind
    the comments that follow.
    """
    nodes: list[tuple[Any, int, str]] = []
    depth = 0
    for event in yaml_events(source):
        if depth == 0 and getattr(event, "flow_style", False):
            return None
        if isinstance(event, yaml.NodeEvent) and depth == 1:
            nodes.append((event.start_mark, _index(event.end_mark), getattr(event, "value", "")))
        elif depth > 1 and (isinstance(event, yaml.ScalarEvent) or _closes_flow(event, source)):
            start, _, text = nodes[-1]
            nodes[-1] = (start, _index(event.end_mark), text)
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
    return nodes


def _closes_flow(event: yaml.Event, source: str) -> bool:
    start, end = _index(event.start_mark), _index(event.end_mark)
    return isinstance(event, yaml.CollectionEndEvent) and end > start and source[end - 1] in "]}"


def _index(mark: Any) -> int:
    return int(mark.index)


def _round_trip(source: str, wanted: Mapping[str, Any], place: str) -> str:
    """Set entries through ruamel.yaml, which keeps the comments inside what it rewrites."""
    from ruamel.yaml import YAML
    from ruamel.yaml.comments import CommentedMap

    editor = YAML()
    editor.preserve_quotes = True
    editor.width = 1_000_000
    editor.indent(mapping=2, sequence=4, offset=2)
    try:
        document = editor.load(source)
        if document is None:
            document = CommentedMap()
        for key, value in wanted.items():
            document[key] = _node(value)
        target = StringIO()
        editor.dump(document, target)
    except Exception as error:  # a third party's parser on hostile text: its errors are many
        raise BadInputError(place, f"front matter: {one_line_of(error)}") from error
    return target.getvalue()


def _node(value: Any) -> Any:
    from ruamel.yaml.comments import CommentedMap, CommentedSeq
    from ruamel.yaml.scalarstring import DoubleQuotedScalarString

    if isinstance(value, str):
        return value if is_plain(value) else DoubleQuotedScalarString(value)
    if isinstance(value, dict):
        fields = CommentedMap({key: _node(item) for key, item in value.items()})
        fields.fa.set_flow_style()
        return fields
    if isinstance(value, list):
        items = CommentedSeq([_node(item) for item in value])
        if not any(isinstance(item, dict) for item in value):
            items.fa.set_flow_style()
        return items
    return value

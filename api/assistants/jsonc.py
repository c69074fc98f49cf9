"""Changes one value in a JSON text and leaves the rest as it is: comments, order, spacing.

People's configuration files hold `//` and `/* */` comments and trailing commas, whichever the
standard says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_SPACE = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_NOT_CODE = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING_COMMA = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])', re.DOTALL)
_WORD = re.compile(r"[^\s,\]}/]+")
_INDENT = "  "


def loads(text: str) -> Any:
    """Return the value of a JSON text with comments; {} of an empty one. Raises ValueError."""
    plain = _NOT_CODE.sub(lambda match: match[1] or " ", text.removeprefix("\ufeff"))
    plain = _TRAILING_COMMA.sub(lambda match: match[1] or "", plain)
    return json.loads(plain) if plain.strip() else {}


def with_value(text: str, path: Sequence[str], value: object) -> str:
    """Return `text` with `value` at `path`; objects on the way are made.

    Raises ValueError when `text` is no JSON object, or something on the way is none.
    """
    _check(text)
    text = text if text.strip() else "{}\n"
    place = _object_at(text, 0)
    for depth, key in enumerate(path):
        member = place.find(key)
        rest = path[depth + 1 :]
        if member is None:
            return place.inserted(text, key, _nested(rest, value), depth + 1)
        if not rest:
            new = _dump(value, depth + 1)
            return text[: member.start] + new + text[member.end :]
        place = _object_at(text, member.start)
    raise ValueError("no path")


def without_value(text: str, path: Sequence[str]) -> str:
    """Return `text` without what is at `path`, nor objects on the way that are empty then."""
    _check(text)
    if not text.strip():
        return text
    places = [_object_at(text, 0)]
    for key in path[:-1]:
        member = places[-1].find(key)
        if member is None:
            return text
        places.append(_object_at(text, member.start))
    depth = len(path) - 1
    if places[depth].find(path[depth]) is None:
        return text
    while depth > 0 and len(places[depth].members) == 1:
        depth -= 1
    return places[depth].removed(text, path[depth])


@dataclass(frozen=True)
class _Member:
    key: str
    key_start: int
    start: int
    end: int


@dataclass(frozen=True)
class _Object:
    start: int
    """Of its opening brace."""
    end: int
    """Of its closing brace."""
    members: tuple[_Member, ...]

    def find(self, key: str) -> _Member | None:
        # of a key that comes twice the last one counts
        return next((m for m in reversed(self.members) if m.key == key), None)

    def inserted(self, text: str, key: str, value: object, depth: int) -> str:
        indent, close = _INDENT * depth, _INDENT * (depth - 1)
        new = f"\n{indent}{json.dumps(key, ensure_ascii=False)}: {_dump(value, depth)}"
        if not self.members:
            inner = text[self.start + 1 : self.end].rstrip()
            return f"{text[: self.start + 1]}{inner}{new}\n{close}{text[self.end :]}"
        at = self.members[-1].end
        return f"{text[:at]},{new}{_without_comma(text[at : self.end])}{text[self.end :]}"

    def removed(self, text: str, key: str) -> str:
        at = next(n for n, member in enumerate(self.members) if member.key == key)
        if at + 1 < len(self.members):
            return text[: self.members[at].key_start] + text[self.members[at + 1].key_start :]
        rest = _without_comma(text[self.members[at].end : self.end])
        if at > 0:
            return text[: self.members[at - 1].end] + rest + text[self.end :]
        return text[: self.start + 1] + rest.strip() + text[self.end :]


def _without_comma(between: str) -> str:
    """Return what stands between the last member and the brace, a trailing comma taken out."""
    at = _SPACE.match(between)
    end = at.end() if at else 0
    return between[:end] + between[end:].removeprefix(",")


def _check(text: str) -> None:
    if not isinstance(loads(text), dict):
        raise ValueError("it holds no JSON object")  # noqa: TRY004 - a value in a file


def _object_at(text: str, position: int) -> _Object:
    start = _skip(text, position)
    if text[start : start + 1] == "\ufeff":
        start = _skip(text, start + 1)
    if text[start : start + 1] != "{":
        raise ValueError("a value on the way is no object")
    members = tuple(_members(text, start + 1))
    end = _skip(text, members[-1].end if members else start + 1)
    if text[end : end + 1] == ",":
        end = _skip(text, end + 1)
    return _Object(start, end, members)


def _members(text: str, position: int) -> Iterator[_Member]:
    position = _skip(text, position)
    while key := _STRING.match(text, position):
        colon = _skip(text, key.end())
        start = _skip(text, colon + 1)
        end = _value_end(text, start)
        yield _Member(json.loads(key[0]), position, start, end)
        position = _skip(text, end)
        if text[position : position + 1] == ",":
            position = _skip(text, position + 1)


def _value_end(text: str, position: int) -> int:
    """Return where a value ends; brackets are counted, since the whole is known to be JSON."""
    depth = 0
    while True:
        position = _skip(text, position)
        if string := _STRING.match(text, position):
            position = string.end()
        elif text[position] in "{[":
            depth, position = depth + 1, position + 1
        elif text[position] in "}]":
            depth, position = depth - 1, position + 1
        elif text[position] in ",:":
            position += 1
        else:
            word = _WORD.match(text, position)
            position = word.end() if word else position + 1
        if depth == 0:
            return position


def _skip(text: str, position: int) -> int:
    found = _SPACE.match(text, position)
    return found.end() if found else position


def _nested(path: Sequence[str], value: object) -> object:
    for key in reversed(path):
        value = {key: value}
    return value


def _dump(value: object, depth: int) -> str:
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return text.replace("\n", "\n" + _INDENT * depth)

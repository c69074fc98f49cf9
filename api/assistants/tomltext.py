"""Changes one table in a TOML text and leaves the rest as it is, comments included."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from itertools import pairwise

_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)


def with_table(text: str, parent: str, name: str, values: Mapping[str, object]) -> str:
    """Return `text` with the table `[parent.name]`, in the place of the one that was there.

    Values are strings, lists of strings, or one level of strings by name. Raises ValueError when
    `text`, or what would come of it, is no TOML.
    """
    rest = without_table(text, parent, name).rstrip("\n")
    table = "\n".join((f"[{parent}.{name}]", *(f"{k} = {_value(v)}" for k, v in values.items())))
    result = f"{rest}\n\n{table}\n" if rest else f"{table}\n"
    tomllib.loads(result)
    return result


def without_table(text: str, parent: str, name: str) -> str:
    """Return `text` without the table and the tables below it. Raises ValueError for no TOML."""
    tomllib.loads(text)
    ours = re.compile(rf'[ \t]*\[\s*{parent}\s*\.\s*(?:"{name}"|{name})\s*[.\]]')
    starts = [match.start() for match in _HEADER.finditer(text)]
    kept = text[: starts[0]] if starts else text
    for start, end in pairwise((*starts, len(text))):
        if not ours.match(text, start):
            kept += text[start:end]
    tomllib.loads(kept)
    return kept


def _value(value: object) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_value(each)}" for key, each in value.items()) + " }"
    # a JSON string or list of strings is TOML too
    return json.dumps(value, ensure_ascii=False)

"""The schema the model must answer in, and what can be saved from an answer that does not fit."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
)

from context_engine.insights import Kind
from workers.extraction.outcomes import Outcome

MAX_ITEMS = 8
MAX_QUOTE = 300
MAX_TITLE = 80
MAX_CONTENT = 400
MAX_NAME = 40
_LENIENT = 2
"""A quotation may be this many times longer than asked before it is refused."""

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "insights": {
            "type": "array",
            "maxItems": MAX_ITEMS,
            "items": {
                "type": "object",
                "properties": {
                    "kind": {"type": "string", "enum": [kind.value for kind in Kind]},
                    "quote": {"type": "string", "minLength": 1, "maxLength": MAX_QUOTE},
                    "title": {"type": "string", "minLength": 1, "maxLength": MAX_TITLE},
                    "content": {"type": "string", "minLength": 1, "maxLength": MAX_CONTENT},
                    "stated": {"type": "boolean"},
                    "subject": {"type": "string", "maxLength": MAX_NAME},
                    "people": {
                        "type": "array",
                        "maxItems": 4,
                        "items": {"type": "string", "maxLength": MAX_NAME},
                    },
                    "tags": {
                        "type": "array",
                        "maxItems": 4,
                        "items": {"type": "string", "maxLength": 24},
                    },
                },
                "required": ["kind", "quote", "title", "content", "stated"],
            },
        }
    },
    "required": ["insights"],
}


def _names(value: Any) -> Any:
    """Keep what is a short string; a wrong list of names must not cost the whole insight."""
    if not isinstance(value, list):
        return ()
    return tuple(item for item in value[:8] if isinstance(item, str) and len(item) <= MAX_NAME * 2)


def _name(value: Any) -> Any:
    return value if isinstance(value, str) and len(value) <= MAX_NAME * 2 else ""


def _bounded(limit: int) -> BeforeValidator:
    """Cut a text that is too long: it is checked against the quotation, not trusted."""
    return BeforeValidator(lambda value: value[:limit] if isinstance(value, str) else value)


_Text = Annotated[str, StringConstraints(strict=True, min_length=1)]


class Proposal(BaseModel):
    """One insight as the model proposes it; nothing of it is believed yet."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    kind: Kind
    quote: Annotated[
        str, StringConstraints(strict=True, min_length=1, max_length=MAX_QUOTE * _LENIENT)
    ]
    title: Annotated[_Text, _bounded(MAX_TITLE)]
    content: Annotated[_Text, _bounded(MAX_CONTENT)]
    stated: Annotated[bool, Field(strict=True)] = False
    subject: Annotated[str, BeforeValidator(_name)] = ""
    people: Annotated[tuple[str, ...], BeforeValidator(_names)] = ()
    tags: Annotated[tuple[str, ...], BeforeValidator(_names)] = ()


@dataclass(frozen=True)
class Parsed:
    """What could be read of a reply. `fault` is set when the reply as a whole was not sound."""

    proposals: tuple[Proposal, ...]
    refused: int
    """Items that did not fit the schema."""
    fault: Outcome | None


_THOUGHT_END = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_DECODER = json.JSONDecoder()
_TRIES = 12
_SCHEMA_KEYS = frozenset({"$schema", "properties", "$defs", "required", "additionalProperties"})


def parse_reply(text: str) -> Parsed:
    """Read the proposals of a reply, each on its own: one bad item does not cost the others."""
    body = _after_thoughts(text)
    value = _first_json(body)
    if value is None and body is not text:
        # some think aloud after the answer
        body = text
        value = _first_json(body)
    if value is None:
        return _collect(list(_items_of_fragment(body)), Outcome.BAD_JSON)
    if _is_schema(value):
        return Parsed((), 0, Outcome.ECHOED_SCHEMA)
    listed = _items(value)
    if listed is None:
        return Parsed((), 1, Outcome.OUT_OF_SCHEMA)
    return _collect(listed, None)


def _after_thoughts(text: str) -> str:
    """Return what follows the last `</think>`: some servers leave the opening tag out."""
    end = 0
    for match in _THOUGHT_END.finditer(text):
        end = match.end()
    return text[end:] if end else text


def _first_json(text: str) -> Any | None:
    """Return the first object or array that decodes, None when there is none."""
    for position in _openings(text):
        try:
            value, _ = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            continue
        if _looks_meant(value):
            return value
    return None


def _openings(text: str) -> Iterator[int]:
    start = re.compile(r"[{\[]")
    for tried, match in enumerate(start.finditer(text)):
        if tried >= _TRIES:
            return
        yield match.start()


def _looks_meant(value: Any) -> bool:
    """Tell the answer from an inner object of a broken one, which decodes too."""
    if isinstance(value, dict):
        return "insights" in value or _is_schema(value)
    return isinstance(value, list) and any(isinstance(item, dict) for item in value)


def _is_schema(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and not isinstance(value.get("insights"), list)
        and bool(_SCHEMA_KEYS & value.keys())
    )


def _items(value: Any) -> list[Any] | None:
    if isinstance(value, dict):
        value = value.get("insights")
    return value if isinstance(value, list) else None


def _items_of_fragment(text: str) -> Iterator[Any]:
    """Yield the complete objects inside the list of an answer that was cut off."""
    position = text.find("[", max(0, text.find('"insights"')))
    tries = 0
    while position >= 0 and tries < MAX_ITEMS * 2:
        tries += 1
        position = text.find("{", position)
        if position < 0:
            return
        try:
            item, position = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            return
        yield item


def _collect(items: list[Any], fault: Outcome | None) -> Parsed:
    proposals: list[Proposal] = []
    refused = max(0, len(items) - MAX_ITEMS)
    echoed = 0
    for item in items[:MAX_ITEMS]:
        if _is_schema(item):
            echoed += 1
            continue
        try:
            proposals.append(Proposal.model_validate(item))
        except (ValidationError, RecursionError):
            refused += 1
    if echoed and not proposals:
        fault = Outcome.ECHOED_SCHEMA
    return Parsed(tuple(proposals), refused + echoed, fault)

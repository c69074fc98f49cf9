"""JSON schemas of requests and answers, as plain as clients and models like them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

_NULL = {"type": "null"}


def argument_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the schema of a request: an optional argument is one that may be left out.

    That null is accepted as well is not said: it doubles what a model has to read.
    """
    return _whole(model.model_json_schema(), keep_null=False)


def result_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the schema of an answer: every field is present, null where nothing is known."""
    return _whole(model.model_json_schema(mode="serialization"), keep_null=True)


def _whole(schema: dict[str, Any], *, keep_null: bool) -> dict[str, Any]:
    definitions = schema.pop("$defs", {})
    plain: dict[str, Any] = _plain(schema, definitions, keep_null)
    return plain


def _plain(schema: Any, definitions: dict[str, Any], keep_null: bool) -> Any:
    """Put definitions in their places; drop generated titles, null defaults and null choices.

    Several clients follow no `$ref`. None of our models contains itself.
    """
    if isinstance(schema, list):
        return [_plain(item, definitions, keep_null) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        target = definitions[schema["$ref"].rsplit("/", 1)[-1]]
        return _plain(
            target | {k: v for k, v in schema.items() if k != "$ref"}, definitions, keep_null
        )
    kept = {
        key: _named(value, definitions, keep_null)
        if key == "properties"
        else _plain(value, definitions, keep_null)
        for key, value in schema.items()
        if not (key == "title" or (key == "default" and value is None))
    }
    return kept if keep_null else _without_null(kept)


def _named(properties: dict[str, Any], definitions: dict[str, Any], keep_null: bool) -> Any:
    # here the keys are names: a property called `title` is no title
    return {name: _plain(schema, definitions, keep_null) for name, schema in properties.items()}


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    choices = schema.get("anyOf", [])
    if _NULL not in choices:
        return schema
    rest = [choice for choice in choices if choice != _NULL]
    only: dict[str, Any] = rest[0] if len(rest) == 1 else {"anyOf": rest}
    return only | {key: value for key, value in schema.items() if key != "anyOf"}

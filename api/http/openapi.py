"""The OpenAPI 3.1 document of the REST face, within what ChatGPT's Actions import."""

from __future__ import annotations

from typing import Any

from api.http.rest import PREFIX
from api.operations.base import Operation
from api.operations.registry import OPERATIONS
from api.problems import ErrorBody
from api.schemas import argument_schema, result_schema
from context_engine import __version__

_REFUSALS = {
    "400": "The body is no JSON.",
    "401": "No valid token.",
    "404": "Absent, or not this client's to read.",
    "413": "The body is too large.",
    "415": "The body is not application/json.",
    "422": "An argument is wrong; the message names it.",
    "429": "Too many requests.",
    "503": "Something that is needed is away.",
}


def document(server_url: str) -> dict[str, Any]:
    """Return the document; `server_url` is where this API is reached."""
    operations = OPERATIONS.values()
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Context Engine",
            "version": __version__,
            "description": "The owner's memory: who they are, what is going on, what they learned.",
        },
        "servers": [{"url": server_url}],
        "security": [{"token": []}],
        "paths": {PREFIX + operation.name: _path(operation) for operation in operations},
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {
                **{op.request.__name__: argument_schema(op.request) for op in operations},
                **{op.answer.__name__: result_schema(op.answer) for op in operations},
                ErrorBody.__name__: result_schema(ErrorBody),
            },
        },
    }


def _path(operation: Operation[Any, Any]) -> dict[str, Any]:
    return {
        "post": {
            "operationId": operation.name,
            "summary": operation.title,
            "description": operation.description,
            # asks the person before a write, not before every read
            "x-openai-isConsequential": operation.writes,
            "requestBody": {"required": True, "content": _json(operation.request.__name__)},
            "responses": {
                "200": {"description": "Done.", "content": _json(operation.answer.__name__)},
                **{
                    status: {"description": text, "content": _json(ErrorBody.__name__)}
                    for status, text in _REFUSALS.items()
                },
            },
        }
    }


def _json(schema: str) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}}

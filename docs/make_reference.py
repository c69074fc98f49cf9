"""Write docs/reference.md from the code: `python docs/make_reference.py`. A test keeps it true."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from api.cli.main import COMMANDS, cli
from api.http.app import ACCESS
from api.operations.base import Operation
from api.operations.registry import OPERATIONS
from context_engine.settings import Settings

TARGET = Path(__file__).parent / "reference.md"
_HEAD = """\
# Reference

Written from the code by `python docs/make_reference.py`.

## Commands

Data goes to stdout, messages to stderr. Exit code 0: done, 1: something failed, 2: wrong use.
"""
_SETTINGS = """
## Settings

In `config.toml` of the home, or as environment variables, which win. `CE_HOME` names the home.

| setting | variable | default | |
|---|---|---|---|
"""


_OPERATIONS = """
## MCP tools and HTTP

Each operation is a tool of that name over MCP (`/mcp`, and `context-engine mcp` on stdio), and \
`POST /v1/NAME` with its arguments as a JSON object. `GET /openapi.json` describes them in OpenAPI.
"""
_ROUTES = """
### Routes

| path | who may call it |
|---|---|
"""
_ACCESS = {
    "open": "everybody; it holds no data",
    "token": "a client's bearer token",
    "metrics": "everybody on the loopback, beyond it the holder of `api.metrics_key`",
}


def reference() -> str:
    """Return the whole page."""
    lines = [_HEAD]
    context = click.Context(cli, info_name="context-engine")
    for name in COMMANDS:
        command = cli.get_command(context, name)
        if command is not None:
            lines += _command(f"context-engine {name}", command)
    lines.append(_SETTINGS.rstrip("\n"))
    lines += _settings(Settings, "")
    lines.append(_OPERATIONS.rstrip("\n"))
    for operation in OPERATIONS.values():
        lines += _operation(operation)
    lines.append(_ROUTES.rstrip("\n"))
    lines += [
        f"| `{path}` | {_ACCESS.get(rule.value, rule.value)} |" for path, rule in ACCESS.items()
    ]
    return "\n".join(lines) + "\n"


def _command(name: str, command: click.Command) -> Iterator[str]:
    context = click.Context(command, info_name=name)
    usage = " ".join(command.collect_usage_pieces(context))
    text = " ".join((command.help or "").split())
    yield f"\n### `{name}`\n\n`{name} {usage}`\n\n{text}\n"
    for parameter in command.params:
        record = parameter.get_help_record(context)
        if record is not None and record[0] != "--help":
            yield f"- `{record[0]}`: {record[1]}" if record[1] else f"- `{record[0]}`"
    if isinstance(command, click.Group):
        for child in command.list_commands(context):
            found = command.get_command(context, child)
            if found is not None:
                yield from _command(f"{name} {child}", found)


def _operation(operation: Operation[Any, Any]) -> Iterator[str]:
    yield f"\n### `{operation.name}`\n\n{' '.join(operation.description.split())}\n"
    schema = operation.request.model_json_schema()
    for name, field in schema.get("properties", {}).items():
        needed = "required" if name in schema.get("required", ()) else _default(field)
        yield f"- `{name}` ({_type(field, schema)}{needed and ', ' + needed}): {_about(field)}"


def _default(field: dict[str, Any]) -> str:
    value = field.get("default")
    return "" if value in (None, [], ()) else f"default `{value}`"


def _about(field: dict[str, Any]) -> str:
    return " ".join(str(field.get("description", "")).split())


def _type(field: dict[str, Any], schema: dict[str, Any]) -> str:
    if "$ref" in field:
        field = schema["$defs"][field["$ref"].rsplit("/", 1)[-1]]
    if "enum" in field:
        return " or ".join(f"`{value}`" for value in field["enum"])
    if "anyOf" in field:
        kinds = [_type(each, schema) for each in field["anyOf"] if each.get("type") != "null"]
        return " or ".join(dict.fromkeys(kinds))
    if field.get("type") == "array":
        return f"list of {_type(field.get('items', {}), schema)}"
    return str(field.get("type", "object"))


def _settings(model: type[BaseModel], prefix: str) -> Iterator[str]:
    for name, field in model.model_fields.items():
        if isinstance(field.default, BaseModel):
            yield from _settings(type(field.default), f"{prefix}{name}.")
        else:
            yield _row(f"{prefix}{name}", field)


def _row(name: str, field: FieldInfo) -> str:
    variable = "CE_" + name.upper().replace(".", "__")
    default = "" if field.default in (None, (), "") else f"`{field.default}`"
    about = " ".join((field.description or "").split())
    return f"| `{name}` | `{variable}` | {default} | {about} |"


if __name__ == "__main__":
    TARGET.write_text(reference(), encoding="utf-8")

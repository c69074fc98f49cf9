"""Write docs/reference.md from the code: `python docs/make_reference.py`. A test keeps it true."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from api.cli.main import COMMANDS, cli
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

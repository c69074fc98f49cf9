"""What several subcommands share: options, scope of the caller, output."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import click
import orjson

from context_engine.clock import parse_utc
from context_engine.errors import ContextEngineError
from context_engine.scopes import Scope, scope_for_path
from context_engine.settings import Settings, load_settings

scope_option = click.option(
    "--scope",
    type=click.Choice([scope.value for scope in Scope]),
    help="Vault to use; default: by the scope rules from the current folder.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


def moment(ctx: click.Context, param: click.Parameter, value: str | None) -> datetime | None:
    """Return the time that an option holds: a day or a time, UTC unless it says otherwise."""
    try:
        return parse_utc(value) if value is not None else None
    except (ValueError, OverflowError) as error:
        wanted = f"{value!r}: write a day as 2026-11-02, or 2026-11-02T09:05:00Z"
        raise click.BadParameter(wanted, ctx, param) from error


def settings_of_memory() -> Settings:
    """Read the settings of a home that is there: whoever only reads creates none.

    Raises ConfigError as `load_settings` does, ContextEngineError when there is no home.
    """
    settings = load_settings()
    if not settings.paths.root.is_dir():
        raise ContextEngineError(
            f"there is no memory at {settings.paths.root} yet: context-engine init; "
            "another place: CE_HOME"
        )
    return settings


def caller_scope(settings: Settings, chosen: str | None) -> Scope:
    """Return the chosen scope, else that of the current folder."""
    if chosen is not None:
        return Scope(chosen)
    return scope_for_path(str(Path.cwd()), settings.scope_rules, settings.default_scope)


def print_json(data: Mapping[str, Any]) -> None:
    """Write `data` to stdout as indented UTF-8 JSON."""
    sys.stdout.buffer.write(orjson.dumps(data, option=orjson.OPT_INDENT_2) + b"\n")
    sys.stdout.buffer.flush()


def say(message: str) -> None:
    """Write a message to stderr."""
    click.echo(message, err=True)


def on_terminal() -> bool:
    """Return whether a person watches stderr."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def plural(count: int, noun: str) -> str:
    """Return `count` with its noun: 1 note, 2 notes."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"

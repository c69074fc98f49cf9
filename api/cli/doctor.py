"""`context-engine doctor`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from api.cli.common import json_option, print_json
from api.doctor.model import Check, bad
from api.doctor.run import examine
from context_engine.errors import ConfigError
from context_engine.logs import configure
from context_engine.settings import home_from_environment, load_settings


@click.command("doctor")
@json_option
def command(*, as_json: bool) -> int:
    """Look whether all is well, and name the command that mends what is not.

    Exit code 1 when something needs a person.
    """
    found = []
    for check in _examine():
        found.append(check)
        if not as_json:
            _print(check)
    if as_json:
        print_json({"checks": [check.as_json() for check in found]})
    return 0 if all(check.ok for check in found) else 1


def _examine() -> Iterator[Check]:
    try:
        settings = load_settings()
    except ConfigError as error:
        place = home_from_environment() / "config.toml"
        yield bad("settings", str(error), f"edit {place}; all settings: docs/reference.md")
        return
    if settings.paths.logs.is_dir():
        configure("doctor", folder=settings.paths.logs)
    yield from examine(settings, Path.home())


def _print(check: Check) -> None:
    mark = click.style("ok  ", fg="green") if check.ok else click.style("BAD ", fg="red")
    click.echo(f"{mark} {check.name:<13} {check.detail}")
    if check.fix is not None:
        click.echo(f"     {'':<13} {'→' if not check.ok else 'hint:'} {check.fix}")

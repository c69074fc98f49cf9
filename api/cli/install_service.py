"""`context-engine install service`."""

from __future__ import annotations

from pathlib import Path

import click

from api.cli.common import say
from api.service import (
    Service,
    default_kind,
    install,
    own_command,
    render,
    run_command,
    uninstall,
)
from context_engine.settings import load_settings


@click.command("service")
@click.option(
    "--with",
    "kind",
    type=click.Choice(["systemd", "launchd", "crontab"]),
    help="What starts it; default: what this machine has.",
)
@click.option("--print", "only_print", is_flag=True, help="Print what would be written.")
@click.option("--uninstall", "remove", is_flag=True, help="Stop it and take it away.")
def command(kind: str | None, *, only_print: bool, remove: bool) -> int:
    """Start the engine now and at each login, and again when it fails."""
    settings = load_settings()
    service = Service(kind or default_kind(), own_command(), settings.paths.root, Path.home())
    if only_print:
        click.echo(render(service), nl=False)
    elif remove:
        place = uninstall(service, run_command)
        say(f"removed from {place}" if place else "nothing was installed")
    else:
        settings.paths.create()
        say(f"installed in {install(service, run_command)}; context-engine status shows it")
    return 0

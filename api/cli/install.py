"""`context-engine install`: what ties the engine to the rest of the machine, one file each."""

from __future__ import annotations

import click

from api.cli.lazy import lazy_group

TARGETS = {
    "service": (
        "api.cli.install_service",
        "Start the engine at login: systemd, launchd or crontab.",
    ),
}


@click.command("install", cls=lazy_group(TARGETS))
def command() -> None:
    """Tie the engine to this machine. Each target prints with --print, undoes with --uninstall."""

"""`context-engine sources`."""

from __future__ import annotations

import click

from api.cli.common import json_option, print_json
from connectors.base import Connector, FollowedConnector, LiveConnector
from connectors.registry import SOURCES, load


@click.command("sources")
@json_option
def command(as_json: bool) -> None:
    """List the sources that `ingest` takes, with what each accepts."""
    rows = []
    for name in sorted(SOURCES):
        connector = load(name)
        rows.append(
            {
                "name": name,
                "accepts": connector.accepts,
                "default_paths": [str(path) for path in connector.default_paths],
                "needs": _needs(connector),
            }
        )
    if as_json:
        print_json({"sources": rows})
        return
    for row in rows:
        click.echo(f"{row['name']:<16} {row['accepts']}")
        if row["needs"]:
            click.echo(f"{'':<16} needs {row['needs']}")


def _needs(connector: Connector) -> str:
    if isinstance(connector, FollowedConnector):
        return f"{connector.needs}; to --follow also {connector.needs_to_follow}"
    return connector.needs if isinstance(connector, LiveConnector) else ""

"""`context-engine restore`."""

from __future__ import annotations

from pathlib import Path

import click

from api.backup import restore
from api.cli.common import json_option, plural, print_json, say
from context_engine.settings import home_from_environment


@click.command("restore")
@click.argument("archive", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option(
    "--to",
    "root",
    type=click.Path(path_type=Path, file_okay=False),
    help="An empty or new folder; default: the home (CE_HOME).",
)
@json_option
def command(archive: Path, root: Path | None, *, as_json: bool) -> None:
    """Bring a home back from ARCHIVE. It appears whole or not at all; nothing is overwritten."""
    target = (root or home_from_environment()).expanduser().absolute()
    report = restore(archive, target)
    if as_json:
        print_json(report.as_json() | {"home": str(target)})
        return
    click.echo(f"{target}: {plural(report.files, 'file')}, {plural(report.notes, 'note')}")
    say(f"its index is rebuilt by: CE_HOME={target} context-engine reindex")

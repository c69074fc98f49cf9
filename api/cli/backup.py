"""`context-engine backup`."""

from __future__ import annotations

from pathlib import Path

import click

from api.backup import back_up, backups_folder, verify
from api.cli.common import json_option, plural, print_json, say
from context_engine.errors import UsageError
from context_engine.settings import load_settings


@click.command("backup")
@click.option(
    "--to",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for the archive; default: `backups` of the home.",
)
@click.option(
    "--verify",
    "archive",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Only prove that this archive can be restored.",
)
@json_option
def command(folder: Path | None, archive: Path | None, *, as_json: bool) -> None:
    """Write the home into one archive and prove by a test restore that it can be brought back.

    The engine may go on running. The index and models are left out: they are rebuilt.
    """
    home = load_settings().paths
    if archive is None and not home.vaults.is_dir():
        raise UsageError(f"there is no memory at {home.root}")
    report = verify(archive) if archive else back_up(home, folder)
    if as_json:
        print_json(report.as_json())
        return
    click.echo(
        f"{report.archive}: {plural(report.files, 'file')}, {plural(report.notes, 'note')}, "
        f"{report.bytes:,} bytes; test restore passed"
    )
    if report.keys:
        say("it holds the home's keys and your notes: keep it where only you can read it")
    if archive is None and report.archive.parent == backups_folder(home):
        say("it lies on the same disk as the home; copy it elsewhere, or name a place with --to")

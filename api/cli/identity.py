"""`context-engine identity`."""

from __future__ import annotations

import sys

import click

from api.cli.common import (
    caller_scope,
    json_option,
    print_json,
    say,
    scope_option,
    settings_of_memory,
)
from context_engine.errors import UsageError
from context_engine.scopes import Scope
from context_engine.settings import load_settings
from vault.identity import check_identity, create_identity, identity_card, project_identity
from vault.layout import IDENTITY


@click.group("identity")
def command() -> None:
    """Show, check and edit who you are, as assistants are told."""


@command.command("show")
@scope_option
@json_option
def show(scope: str | None, as_json: bool) -> None:
    """Print what assistants of a scope are told about you."""
    settings = settings_of_memory()
    settings.paths.create()
    asked = caller_scope(settings, scope)
    # what is told is what is projected: bring it up to date first
    project_identity(settings.paths)
    card = identity_card(settings.paths, asked)
    if as_json:
        print_json({"scope": asked.value, "text": card})
        return
    click.echo(card)
    if not card:
        say(f"{asked.value} is told nothing; write into {settings.paths.vault(Scope.PERSONAL)}/"
            f"{IDENTITY}")  # fmt: skip


@command.command("check")
@json_option
def check(as_json: bool) -> int:
    """Say which tags are not understood and which profiles are out of date. Exit code 1 if any."""
    home = settings_of_memory().paths
    home.create()
    problems = check_identity(home)
    renewed = [one for one in project_identity(home) if one.changed]
    if as_json:
        print_json(
            {
                "problems": [{"place": one.place, "reason": one.reason} for one in problems],
                "renewed": [f"{one.scope.value}/{one.path}" for one in renewed],
                "conflicts": [one.conflict for one in renewed if one.conflict],
            }
        )
        return 1 if problems else 0
    for one in problems:
        click.echo(f"{one.place}: {one.reason}")
    for projection in renewed:
        say(f"renewed {projection.scope.value}/{projection.path}")
    if not problems:
        say("the identity is understood")
    return 1 if problems else 0


@command.command("edit")
def edit() -> int:
    """Open your identity in your editor, then bring the profiles of work and public in line."""
    home = load_settings().paths
    home.create()
    create_identity(home)
    file = home.vault(Scope.PERSONAL) / IDENTITY
    if not sys.stdin.isatty():
        raise UsageError(f"there is no terminal for an editor here; the file is {file}")
    click.edit(filename=str(file))
    for projection in project_identity(home):
        if projection.changed:
            say(f"renewed {projection.scope.value}/{projection.path}")
    problems = check_identity(home)
    for one in problems:
        click.echo(f"{one.place}: {one.reason}")
    return 1 if problems else 0

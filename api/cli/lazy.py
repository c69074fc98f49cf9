"""Command groups from a table: a subcommand's module is imported when it is called."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import ClassVar

import click

Table = Mapping[str, tuple[str, str]]
"""Name of a subcommand → (its place, its one line in `--help`).

A place is a module, whose `command` is meant, or `module:name`.
"""


class LazyGroup(click.Group):
    """A group whose `--help` loads none of its subcommands."""

    table: ClassVar[Table] = {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, in the table's order."""
        del ctx
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one subcommand."""
        del ctx
        if cmd_name not in self.table:
            return None
        module, _, name = self.table[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), name or "command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a subcommand by the first of `args`; of a mistyped one the nearest are told."""
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as error:
            # click knows the names of the subcommands that are loaded, which are none
            name = error.command_name
            raise click.NoSuchCommand(name, possibilities=self.table, ctx=ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in self.table.items()])


def lazy_group(table: Table) -> type[LazyGroup]:
    """Return the class of a group with these subcommands."""
    return type("LazyGroup", (LazyGroup,), {"table": table})

"""`context-engine hook`, as far as a person meets it; assistants reach api.hook.client directly."""

from __future__ import annotations

import click

from api.hook.client import EVENTS, main


@click.command("hook")
@click.argument("event", type=click.Choice(list(EVENTS)))
@click.option("--home", help="The home, where CE_HOME is not set.")
def command(event: str, home: str | None) -> None:
    """Serve one turn of an assistant's session: JSON on stdin, what the model is told on stdout.

    Assistants call it: context-engine install claude-code. It always exits 0 and says nothing when
    the engine does not run; a transcript then waits in the home for the engine's next start.
    """
    main([event, *(("--home", home) if home else ())])

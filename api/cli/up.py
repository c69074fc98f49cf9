"""`context-engine up`."""

from __future__ import annotations

import click

from api.address import address_file, read_address
from api.cli.common import say
from api.routines.keeper import Keeper
from context_engine.logs import configure
from context_engine.settings import Settings, load_settings
from workers.parts import engine_parts, make_supervisor, python_part
from workers.supervisor import Part, Supervisor, stop_on_signals


@click.command("up")
def command() -> None:
    """Run the engine until Ctrl-C: broker, workers, indexer and API under one supervisor.

    A part that dies is started again. What is collected meanwhile waits in the outbox.
    """
    settings = load_settings()
    settings.paths.create()
    configure("supervisor", folder=settings.paths.logs)
    supervisor = make_supervisor(settings, [*engine_parts(settings), api_part(settings)], tell=say)
    with stop_on_signals(supervisor):
        say(f"starting on {settings.paths.root} …")
        supervisor.start(lambda: _prepare(settings))
        _greet(settings)
        _run(settings, supervisor)
    say("stopped")


def api_part(settings: Settings) -> Part:
    """Return the HTTP front."""
    return python_part("api", "api.http", address_file(settings.paths))


def _prepare(settings: Settings) -> None:
    from api.forgetting import finish_interrupted

    _upgrade(settings)
    if finish_interrupted(settings, starting=True):
        say("went on with forgetting that was interrupted")


def _upgrade(settings: Settings) -> None:
    from api.upgrade import upgrade

    backup = upgrade(settings.paths)
    if backup is not None:
        say(f"the home was upgraded; as it was before: {backup}")


def _run(settings: Settings, supervisor: Supervisor) -> None:
    keeper = Keeper(settings)
    keeper.start()
    try:
        supervisor.run()
    finally:
        say("stopping …")
        keeper.stop()
        supervisor.stop()


def _greet(settings: Settings) -> None:
    say(f"vault    {settings.paths.vaults}")
    address = read_address(settings.paths)
    if address is not None:  # else it died just now, and is started again
        base = f"http://{address.authority}"
        say(f"MCP      {base}/mcp")
        say(f"REST     {base}/v1/…   (OpenAPI, with a token: {base}/openapi.json)")
        say(f"health   {base}/healthz")
    say("look at it all: context-engine dashboard")
    say("a client needs a token: context-engine token create NAME --scope SCOPE")
    say("ready; Ctrl-C stops it")

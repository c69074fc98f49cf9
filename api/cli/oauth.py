"""`context-engine oauth`."""

from __future__ import annotations

import click

from api.cli.common import json_option, print_json, say, settings_of_memory
from context_engine.clock import SystemClock
from context_engine.settings import load_settings


@click.group("oauth")
def command() -> None:
    """Let assistants in that ask for OAuth and take no fixed token, like ChatGPT's apps."""


@command.command("serve")
@click.option(
    "--public-url",
    required=True,
    help="Where the assistants reach it: https://HOST of a tunnel, another than the engine's own.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=7412,
    show_default=True,
    help="Port on the loopback that the tunnel leads to.",
)
def serve(public_url: str, port: int) -> None:
    """Serve the OAuth front on the loopback, beside a running `up`."""
    # the web framework is of no use to the other command
    from api.oauth import server
    from api.oauth.places import front_at

    front = front_at(public_url)
    server.serve(
        load_settings(),
        front,
        port,
        lambda address: say(
            f"the OAuth front listens on {address}; point the tunnel of {front.url} there, and "
            f"connect assistants to {front.resource}"
        ),
    )


@command.command("code")
@json_option
def code(as_json: bool) -> None:
    """Print the code that the consent page asks for: good once, for ten minutes."""
    from api.oauth import approval

    home = settings_of_memory().paths
    home.create()
    text = approval.new_code(home, SystemClock())
    if as_json:
        print_json({"code": text, "seconds": int(approval.LASTS.total_seconds())})
        return
    click.echo(text)
    say("type it on the consent page within ten minutes")

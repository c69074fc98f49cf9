"""`context-engine dashboard`."""

from __future__ import annotations

import webbrowser
from urllib.parse import urlencode

import click

from api.address import read_address
from api.cli.common import say, settings_of_memory
from api.dashboard.links import LINK_SECONDS, create_link
from context_engine.clock import SystemClock
from context_engine.errors import ContextEngineError
from context_engine.home import Home


@click.command("dashboard")
@click.option("--no-open", is_flag=True, help="Do not open the browser; say the link.")
@click.option("--print-url", is_flag=True, help="Print the link to stdout.")
def command(no_open: bool, print_url: bool) -> None:
    """Open the dashboard of the running engine in the browser.

    The link works once, within a minute, on this machine.
    """
    home = settings_of_memory().paths
    place = f"{_base(home)}/login?{urlencode({'link': create_link(home, SystemClock())})}"
    if print_url:
        click.echo(place)
    if no_open or not webbrowser.open(place):
        if not print_url:
            click.echo(place)
        say(f"open it in a browser of this machine within {LINK_SECONDS} seconds; it works once")


def _base(home: Home) -> str:
    address = read_address(home)
    if address is None:
        raise ContextEngineError(
            "the engine does not run, and the dashboard is part of it: context-engine up"
        )
    # whatever address it listens on, the dashboard answers on this machine alone
    return f"http://127.0.0.1:{address.port}"

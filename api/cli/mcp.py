"""`context-engine mcp`."""

from __future__ import annotations

import click

from context_engine.settings import load_settings


@click.command("mcp")
def command() -> None:
    """Serve one assistant over MCP on stdin and stdout; its scope is that of the current folder.

    An assistant starts this itself: put the command into its MCP configuration.
    """
    from api.mcp import run_stdio

    run_stdio(load_settings())

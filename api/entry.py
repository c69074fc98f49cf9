"""The installed command. A hook goes past the command line, whose libraries it has no time for."""

from __future__ import annotations

import sys


def main() -> None:
    """Run a hook or the command line, and exit."""
    if sys.argv[1:2] == ["hook"] and not {"-h", "--help"}.intersection(sys.argv):
        from api.hook.client import main as hook

        hook(sys.argv[2:])
        return
    from api.cli import main as command_line

    command_line()

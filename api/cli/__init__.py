"""The command line: data to stdout, messages to stderr; exit 0 ok, 1 failed, 2 wrong use."""

from __future__ import annotations

from api.cli.main import main

__all__ = ["main"]

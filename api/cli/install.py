"""`context-engine install`: what ties the engine to the rest of the machine, one file each."""

from __future__ import annotations

import click

from api.cli.lazy import lazy_group

_ASSISTANTS = "api.cli.install_assistant"

TARGETS = {
    "claude-code": (f"{_ASSISTANTS}:claude_code", "Give Claude Code the tools and the hooks."),
    "codex": (f"{_ASSISTANTS}:codex", "Give Codex the tools."),
    "cursor": (f"{_ASSISTANTS}:cursor", "Give Cursor the tools."),
    "gemini-cli": (f"{_ASSISTANTS}:gemini_cli", "Give Gemini CLI the tools."),
    "claude-desktop": (f"{_ASSISTANTS}:claude_desktop", "Give Claude Desktop the tools."),
    "service": (
        "api.cli.install_service",
        "Start the engine at login: systemd, launchd or crontab.",
    ),
}


@click.command("install", cls=lazy_group(TARGETS))
def command() -> None:
    """Tie the engine to this machine. Each target prints with --print, undoes with --uninstall."""

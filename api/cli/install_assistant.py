"""`context-engine install claude-code` and its like: one command an assistant."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from api.assistants.install import install, shown, uninstall
from api.assistants.targets import TARGETS, Where
from api.cli.common import say
from api.service import own_command
from context_engine.scopes import scope_for_path
from context_engine.settings import Settings, load_settings


def _command(name: str, about: str, then: str) -> click.Command:
    @click.command(name, help=about)
    @click.option("--project", is_flag=True, help="Only for the current folder.")
    @click.option("--print", "only_print", is_flag=True, help="Print what would be written.")
    @click.option("--uninstall", "remove", is_flag=True, help="Take it out again.")
    def command(*, project: bool, only_print: bool, remove: bool) -> None:
        settings = load_settings()
        parts = TARGETS[name](where(settings, project=project))
        if only_print:
            click.echo(shown(parts), nl=False)
            return
        if not remove:
            settings.paths.create()
        change = uninstall if remove else install
        for file, changed in change(parts, datetime.now(UTC)).items():
            say(f"{_became(file, changed=changed)} {file}")
        if not remove:
            say(f"next: {then}")

    return command


def _became(file: Path, *, changed: bool) -> str:
    if not changed:
        return "nothing to change in"
    return "changed" if file.exists() else "removed"


def where(settings: Settings, *, project: bool) -> Where:
    """Return what an assistant's configuration is written for."""
    folder = Path.cwd() if project else None
    usual = (Path.home() / "context-engine").absolute()
    scope = (
        scope_for_path(str(folder), settings.scope_rules, settings.default_scope)
        if folder
        else settings.default_scope
    )
    return Where(
        command=own_command(),
        home=None if settings.paths.root == usual else settings.paths.root,
        user_home=Path.home(),
        project=folder,
        scope=scope,
    )


_ABOUT = (
    "Others' entries and comments stay, and a file that changes is kept beside itself as a backup. "
    "Running it again changes nothing."
)
claude_code = _command(
    "claude-code",
    f"Give Claude Code the tools and the hooks. {_ABOUT}",
    "start a new session of Claude Code; those that run know nothing of it",
)
codex = _command("codex", f"Give Codex the tools. {_ABOUT}", "start a new session of Codex")
cursor = _command("cursor", f"Give Cursor the tools. {_ABOUT}", "start Cursor again")
gemini_cli = _command(
    "gemini-cli", f"Give Gemini CLI the tools. {_ABOUT}", "start a new session of Gemini CLI"
)
claude_desktop = _command(
    "claude-desktop", f"Give Claude Desktop the tools. {_ABOUT}", "start Claude Desktop again"
)

"""What each assistant is told, and in which file."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from api.hook.client import EVENTS
from context_engine.errors import UsageError
from context_engine.scopes import Scope

NAME = "context-engine"
_SECONDS = {"session-start": 5, "user-prompt": 2, "stop": 5, "session-end": 1, "pre-compact": 5}
_MATCHERS = {"session-start": "startup|resume|clear|compact"}


@dataclass(frozen=True)
class Where:
    """For whom, and on which machine."""

    command: Path
    """Absolute path of `context-engine`."""
    home: Path | None
    """Of the memory; None: the usual one."""
    user_home: Path
    project: Path | None
    """For this folder alone; None: for everything the user does."""
    scope: Scope
    """For assistants that start us in no folder of the user's."""


@dataclass(frozen=True)
class Server:
    """An entry of an MCP client's table of servers."""

    file: Path
    path: tuple[str, ...]
    """Keys down to the table; in TOML one."""
    entry: Mapping[str, Any]


@dataclass(frozen=True)
class Hooks:
    """Commands to be called at the turns of a session, beside those of others."""

    file: Path
    groups: Mapping[str, Mapping[str, Any]]
    """Event → matcher group with our command."""


Part = Server | Hooks


def claude_code(where: Where) -> tuple[Part, ...]:
    """Return server and hooks; of one project, both stay on this machine, out of its Git."""
    path: tuple[str, ...] = ("mcpServers",)
    settings = where.user_home / ".claude" / "settings.json"
    if where.project is not None:
        path = ("projects", str(where.project), "mcpServers")
        settings = where.project / ".claude" / "settings.local.json"
    # without alwaysLoad the tools hide behind a search that the model does not think of
    entry = {"type": "stdio", **_started(where), "alwaysLoad": True}
    return (
        Server(where.user_home / ".claude.json", path, entry),
        Hooks(settings, {EVENTS[event]: _group(where, event) for event in EVENTS}),
    )


def codex(where: Where) -> tuple[Part, ...]:
    """Return the server."""
    file = (where.project or where.user_home) / ".codex" / "config.toml"
    return (Server(file, ("mcp_servers",), _started(where)),)


def cursor(where: Where) -> tuple[Part, ...]:
    """Return the server. Cursor starts it in no certain folder, so its scope is fixed."""
    file = (where.project or where.user_home) / ".cursor" / "mcp.json"
    return (Server(file, ("mcpServers",), _started(where, fixed=True)),)


def gemini_cli(where: Where) -> tuple[Part, ...]:
    """Return the server, and the hooks that tell something; its sessions are not collected."""
    file = (where.project or where.user_home) / ".gemini" / "settings.json"
    groups = {"SessionStart": "session-start", "BeforeAgent": "user-prompt"}
    return (
        Server(file, ("mcpServers",), _started(where)),
        Hooks(file, {name: _shell_group(where, event) for name, event in groups.items()}),
    )


def claude_desktop(where: Where) -> tuple[Part, ...]:
    """Return the server. Raises UsageError for a project: the application knows none."""
    if where.project is not None:
        raise UsageError("Claude Desktop knows no projects; install it without --project")
    folder = (
        where.user_home / "Library" / "Application Support"
        if sys.platform == "darwin"
        else where.user_home / ".config"
    )
    file = folder / "Claude" / "claude_desktop_config.json"
    return (Server(file, ("mcpServers",), _started(where, fixed=True)),)


TARGETS = {
    "claude-code": claude_code,
    "codex": codex,
    "cursor": cursor,
    "gemini-cli": gemini_cli,
    "claude-desktop": claude_desktop,
}


def _started(where: Where, *, fixed: bool = False) -> dict[str, Any]:
    entry: dict[str, Any] = {"command": str(where.command), "args": ["mcp"]}
    variables = {"CE_HOME": str(where.home)} if where.home else {}
    if fixed:
        variables["CE_DEFAULT_SCOPE"] = where.scope.value
    return entry | ({"env": variables} if variables else {})


def _group(where: Where, event: str) -> dict[str, Any]:
    hook = {
        "type": "command",
        "command": str(where.command),
        "args": _arguments(where, event),
        "timeout": _SECONDS[event],
    }
    matcher = {"matcher": _MATCHERS[event]} if event in _MATCHERS else {}
    return {**matcher, "hooks": [hook]}


def _shell_group(where: Where, event: str) -> dict[str, Any]:
    """Return a group as Gemini CLI wants it: one line for a shell, and milliseconds."""
    line = shlex.join((str(where.command), *_arguments(where, event)))
    hook = {"type": "command", "name": NAME, "command": line, "timeout": 1000 * _SECONDS[event]}
    return {"hooks": [hook]}


def _arguments(where: Where, event: str) -> list[str]:
    return ["hook", event, *(("--home", str(where.home)) if where.home else ())]


def is_ours(hook: object) -> bool:
    """Tell our command from another's among the hooks of an event."""
    if not isinstance(hook, dict):
        return False
    command, arguments = str(hook.get("command")), hook.get("args")
    try:
        words = [command, *arguments] if isinstance(arguments, list) else shlex.split(command)
    except ValueError:
        return False
    return words[1:2] == ["hook"] and Path(words[0]).name == NAME

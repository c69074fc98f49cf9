"""All sources. A new one is a file beside this one and a line here."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from connectors.base import Connector
from context_engine.errors import UsageError

SOURCES: Mapping[str, str] = {
    "chatgpt": "connectors.chatgpt",
    "claude": "connectors.claude",
    "claude-ai": "connectors.claude_ai",
    "confluence": "connectors.confluence",
    "confluence-live": "connectors.confluence_live",
    "drive": "connectors.drive",
    "github": "connectors.github",
    "github-live": "connectors.github_live",
    "markdown": "connectors.markdown",
    "meeting": "connectors.meeting",
    "slack": "connectors.slack",
    "slack-live": "connectors.slack_live",
    "takeout": "connectors.takeout",
    "takeout-activity": "connectors.takeout_activity",
}
"""What the user types, and the module whose `CONNECTOR` reads it (imported when it is used)."""


def load(name: str) -> Connector:
    """Return the connector that the user calls `name`.

    Raises UsageError naming the sources there are.
    """
    if name not in SOURCES:
        known = ", ".join(sorted(SOURCES))
        raise UsageError(f"there is no source {name!r}; known sources: {known}")
    connector: Connector = import_module(SOURCES[name]).CONNECTOR
    return connector

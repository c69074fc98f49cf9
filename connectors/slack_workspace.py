"""A Slack workspace as the Web API tells it: its people, and the channels that are to be read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from connectors.base import ReadOptions
from connectors.owners import name_key
from connectors.slack_api import SCOPES, SERVICE, RefusedError, SlackApi
from connectors.slack_directory import Channel, Directory
from connectors.slack_threads import Export, export_of
from context_engine.errors import AccessDeniedError, ContextEngineError
from context_engine.events import BadRecord, UnknownRecord

KINDS = ("public_channel", "private_channel", "mpim", "im")
"""Types of conversations; each needs scopes of its own, and may be missing."""

_DOMAIN = re.compile(r"https://([a-z0-9][a-z0-9-]{0,60}(?:\.enterprise)?)\.slack\.com")


@dataclass
class Workspace:
    """What is known of a workspace. `wanted`: names and ids of channels, empty for one's own.

    told: problems that were reported, which are reported once.
    """

    api: SlackApi
    export: Export
    user_id: str
    wanted: frozenset[str]
    channel_ids: list[str] = field(default_factory=list)
    told: set[BadRecord | UnknownRecord] = field(default_factory=set)

    def channels(self) -> list[Channel]:
        """Return the channels that are to be read, as they are called now."""
        return [self.channel(channel_id) for channel_id in self.channel_ids]

    def refresh(self) -> Iterator[BadRecord | UnknownRecord]:
        """Ask which channels there are now; yields problems that were not told before."""
        before, self.channel_ids = self.channel_ids, []
        problems: list[BadRecord | UnknownRecord] = []
        try:
            for kind in KINDS:
                problems += _list(self, kind)
            problems += _not_found(self)
        except ContextEngineError:
            self.channel_ids = before
            raise
        for problem in problems:
            if problem not in self.told:
                self.told.add(problem)
                yield problem

    def channel(self, channel_id: str) -> Channel:
        """Return a channel by its id."""
        return self.export.directory.channel(channel_id, self.export.speaker.owners)

    def learn(self, record: dict[str, Any]) -> None:
        """Take in a channel, and read it from now on when it is one of those to be read."""
        channel_id = record.get("id")
        if not isinstance(channel_id, str):
            return
        if record.get("is_im") and "members" not in record:
            record = {**record, "members": [self.user_id, record.get("user")]}
        self.export.directory.take("channels.json", [record])
        if channel_id not in self.channel_ids and self._is_wanted(record):
            self.channel_ids.append(channel_id)

    def rename(self, change: dict[str, Any]) -> None:
        """Take in a channel's new name; the old one goes on to be found."""
        known = self.export.directory.channels.get(str(change.get("id")), {})
        if known and isinstance(change.get("name"), str):
            self.learn({**known, "name": change["name"], "name_normalized": change["name"]})

    def _is_wanted(self, record: dict[str, Any]) -> bool:
        if self.wanted:
            names = (record["id"], record.get("name"), record.get("name_normalized"))
            return any(isinstance(name, str) and name_key(name) in self.wanted for name in names)
        return any(record.get(key) is True for key in ("is_member", "is_im", "is_mpim"))

    def find(self, channel_id: str) -> bool:
        """Say whether a channel is to be read, asking Slack about one not heard of before."""
        if channel_id not in self.export.directory.channels:
            try:
                found = self.api.call("conversations.info", channel=channel_id).get("channel")
            except RefusedError:
                found = {"id": channel_id}
            if isinstance(found, dict):
                self.learn(found)
        return channel_id in self.channel_ids


def load_workspace(api: SlackApi, options: ReadOptions) -> Workspace:
    """Ask who there is. Raises AccessDeniedError when the token does not allow it."""
    directory = Directory()
    try:
        me = api.call("auth.test")
        for users in api.pages("users.list", "members"):
            directory.take("users.json", users)
    except RefusedError as error:
        raise AccessDeniedError(SERVICE, f"{error.reason}. It needs: {SCOPES}") from error
    domain = _DOMAIN.match(str(me.get("url")))
    directory.domain = domain[1] if domain else None
    return Workspace(
        api=api,
        export=export_of(directory, options.owner_name),
        user_id=str(me.get("user_id") or ""),
        wanted=frozenset(name_key(name.removeprefix("#")) for name in options.live.slack.channels),
    )


def _list(workspace: Workspace, kind: str) -> Iterator[UnknownRecord]:
    try:
        for records in workspace.api.pages("conversations.list", "channels", types=kind):
            for record in records:
                if isinstance(record, dict):
                    workspace.learn(record)
    except RefusedError as error:
        # a token without the scopes for direct messages is a choice, and no mistake
        yield UnknownRecord(SERVICE, f"{kind} ({error.reason})")


def _not_found(workspace: Workspace) -> Iterator[BadRecord]:
    directory = workspace.export.directory
    found = {
        name_key(str(name))
        for channel_id in workspace.channel_ids
        for name in (channel_id, directory.channels[channel_id].get("name"))
    }
    for name in sorted(workspace.wanted - found):
        yield BadRecord("slack.channels", f"the token sees no channel {name!r}")
    if not workspace.channel_ids and not workspace.wanted:
        yield BadRecord(
            SERVICE,
            "the token's user is a member of no channel: /invite the app to one, or name "
            "public channels in [slack] channels",
        )

"""Slack's events as they happen, over Socket Mode: no public address is needed.

An event is acknowledged after its messages are committed, so Slack sends again what a kill left.
Each new connection may leave a gap behind it, which catching up by the Web API closes.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from connectors.base import Item, ReadOptions
from connectors.credentials import secret
from connectors.live import TryAgainError, persistent
from connectors.slack_api import SERVICE, RefusedError, meaning, web_client
from connectors.slack_directory import Channel
from connectors.slack_history import CatchUp
from connectors.slack_messages import TOMBSTONE, Message, in_thread
from connectors.slack_threads import Messages
from context_engine.clock import Clock
from context_engine.errors import AccessDeniedError, DependencyDownError
from context_engine.events import BadRecord, Checkpoint, UnknownRecord

if TYPE_CHECKING:
    from slack_sdk.socket_mode import SocketModeClient

CATCH_UP_SECONDS = 1800.0
"""How often everything is compared although no connection was lost."""

AGAIN_SECONDS = 60.0
"""How soon after a catching up that failed the next is tried."""

HELLO_SECONDS = 10.0
"""How long the first connection is waited for before catching up without it."""

PING_SECONDS = 5.0
"""How often the connection is tried, and made again when it is lost."""

_CHANGED = frozenset({"message_changed", "message_replied"})
_RENAMED = frozenset({"channel_rename", "group_rename"})
_PEOPLE = frozenset({"user_change", "team_join"})


class Follower:
    """Turns what a connection tells into items, for as long as it is iterated."""

    def __init__(
        self, catch_up: CatchUp, messages: Messages, options: ReadOptions, clock: Clock
    ) -> None:
        self._catch_up, self._messages = catch_up, messages
        self._options, self._clock = options, clock
        self._inbox: SimpleQueue[str] = SimpleQueue()
        # a connection says hello when it stands; it may also fail to
        self._due = clock.monotonic() + HELLO_SECONDS
        self._client: SocketModeClient | None = None

    def items(self) -> Iterator[Item]:
        """Yield news without end; resumed after a checkpoint, it takes it for committed.

        Raises AccessDeniedError when a token is missing or refused, DependencyDownError when
        no connection can be made at first; later it waits for the next one.
        """
        self._client = client = self._connect()
        try:
            while True:
                yield from self._next()
        finally:
            client.close()

    def _connect(self) -> SocketModeClient:
        from slack_sdk.errors import SlackApiError
        from slack_sdk.socket_mode import SocketModeClient

        settings = self._options.live.slack
        token = secret(settings, "slack", "app_token", "an app-level token, connections:write")
        logger = logging.getLogger("connectors.slack_follow.client")
        logger.setLevel(logging.CRITICAL)
        client = SocketModeClient(
            app_token=token,
            web_client=web_client(settings.base_url),
            ping_interval=PING_SECONDS,
            logger=logger,
            # in the order of arrival, which its other listeners do not keep
            on_message_listeners=[self._inbox.put],
        )

        def once() -> None:
            try:
                client.connect()
            except SlackApiError as error:
                raise meaning(error, "apps.connections.open") from None
            except (OSError, ValueError) as error:
                raise TryAgainError(f"{type(error).__name__}: {error}") from error

        try:
            persistent(SERVICE, once, self._options.pause)
        except BaseException as error:
            client.close()
            if isinstance(error, RefusedError):
                raise AccessDeniedError(SERVICE, error.reason) from error
            raise
        return client

    def _next(self) -> Iterator[Item]:
        """Yield what the next message of the connection brings, or catch up when it is time."""
        wait = self._due - self._clock.monotonic()
        if wait <= 0:
            yield from self._caught_up()
            return
        try:
            text = self._inbox.get(timeout=wait)
        except Empty:
            return
        yield from self._told(text)

    def _caught_up(self) -> Iterator[Item]:
        self._due = self._clock.monotonic() + CATCH_UP_SECONDS
        try:
            for item in self._catch_up.items():
                yield item
                if isinstance(item, Checkpoint):
                    # Slack waits seconds for an acknowledgement, and this may take hours
                    yield from self._waiting()
        except DependencyDownError as error:
            self._due = self._clock.monotonic() + AGAIN_SECONDS
            yield BadRecord(SERVICE, error.reason)

    def _waiting(self) -> Iterator[Item]:
        while not self._inbox.empty():
            yield from self._told(self._inbox.get())

    def _told(self, text: str) -> Iterator[Item]:
        try:
            envelope = json.loads(text)
        except ValueError:
            return
        if not isinstance(envelope, dict):
            return
        if envelope.get("type") == "hello":
            self._due = self._clock.monotonic()
        envelope_id = envelope.get("envelope_id")
        if not isinstance(envelope_id, str):
            return
        payload = envelope.get("payload")
        event = payload.get("event") if isinstance(payload, dict) else None
        try:
            yield from self._event(event if isinstance(event, dict) else {})
        except DependencyDownError as error:
            # not acknowledged: Slack tells of it again, and so does catching up
            self._due = self._clock.monotonic() + AGAIN_SECONDS
            yield BadRecord(SERVICE, error.reason)
            return
        self._acknowledge(envelope_id)

    def _acknowledge(self, envelope_id: str) -> None:
        from slack_sdk.errors import SlackClientNotConnectedError

        try:
            if self._client is not None:
                self._client.send_socket_mode_response({"envelope_id": envelope_id})
        except SlackClientNotConnectedError:
            # Slack sends it again by the next connection, where it brings nothing new
            return

    def _event(self, event: dict[str, Any]) -> Iterator[Item]:
        kind = event.get("type")
        workspace = self._catch_up.workspace
        if kind == "message":
            channel_id = event.get("channel")
            if isinstance(channel_id, str) and workspace.find(channel_id):
                yield from self._message(event, workspace.channel(channel_id))
        elif kind in _PEOPLE:
            workspace.export.directory.take("users.json", [event.get("user")])
        elif kind in _RENAMED and isinstance(event.get("channel"), dict):
            workspace.rename(event["channel"])
            self._due = self._clock.monotonic()
        else:
            yield UnknownRecord(SERVICE, f"event {str(kind)[:60]}")

    def _message(self, event: dict[str, Any], channel: Channel) -> Iterator[Item]:
        parsed = self._messages.parse(_record(event), f"slack {channel.label}")
        if not isinstance(parsed, Message):
            yield parsed
            return
        if parsed.subtype != TOMBSTONE and in_thread(parsed):
            yield from self._thread(channel, parsed)
        self._catch_up.fresh.add((channel.channel_id, parsed.ts))
        unit = self._messages.open(channel, f"{parsed.at:%Y-%m-%d}")
        yield from self._messages.take(unit, parsed, self._catch_up.place(channel))
        yield from self._messages.close(unit)

    def _thread(self, channel: Channel, reply: Message) -> Iterator[Item]:
        """Yield the thread of a first reply: its first message was said on its own till now."""
        ts = reply.thread_ts or ""
        first = self._messages.parse({"type": "message", "ts": ts}, "")
        if not isinstance(first, Message):
            return
        unit = self._messages.open(channel, f"{first.at:%Y-%m-%d}")
        lies = unit.document_of(f"{channel.channel_id}:{ts}")
        if lies is None or not lies.endswith(f"/{ts}"):
            try:
                yield from self._catch_up.thread(channel, ts)
            except RefusedError as error:
                yield BadRecord(f"slack {channel.label}", error.reason)


def _record(event: dict[str, Any]) -> dict[str, Any]:
    """Return the message that an event tells of: a new one, its new state, or its end."""
    subtype = event.get("subtype")
    inner = event.get("message")
    if subtype in _CHANGED and isinstance(inner, dict):
        return inner
    if subtype == "message_deleted":
        before = event.get("previous_message")
        thread = before.get("thread_ts") if isinstance(before, dict) else None
        known = {"thread_ts": thread, "reply_count": 1} if isinstance(thread, str) else {}
        stone = {"type": "message", "subtype": TOMBSTONE, "ts": event.get("deleted_ts")}
        return {**stone, **known}
    return event

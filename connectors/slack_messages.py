"""One Slack message: whether it is speech, whose, when, and what it says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from connectors.slack_directory import Channel, Directory, name_in, one_line
from connectors.slack_render import Renderer, files
from connectors.text import clean_text, parse_time
from context_engine.clock import Clock
from context_engine.events import Role, Utterance
from context_engine.markers import strip_injected

TOMBSTONE = "tombstone"

NOISE = frozenset(
    {
        *(f"channel_{what}" for what in ("join", "leave", "topic", "purpose", "name")),
        *(f"group_{what}" for what in ("join", "leave", "topic", "purpose", "name")),
        *(f"{kind}_{what}" for kind in ("channel", "group") for what in ("archive", "unarchive")),
        *("channel_convert_to_private", "channel_convert_to_public"),
        *("channel_posting_permissions", "channel_canvas_updated"),
        *("bot_add", "bot_remove", "pinned_item", "unpinned_item", "reminder_add"),
        *("sh_room_created", "huddle_thread", "ekm_access_denied", "app_conversation_join"),
    }
)
"""Subtypes that tell what was done to a channel; nobody says anything in them."""

SPEECH = frozenset(
    {
        *("bot_message", "file_share", "file_comment", "file_mention", "thread_broadcast"),
        *("me_message", "reply_broadcast", "assistant_app_thread", "slackbot_response"),
        *("document_comment_root", "reminder", "message_replied"),
    }
)

_TS = re.compile(r"(\d{9,10})\.(\d{1,6})\Z")


@dataclass(frozen=True, slots=True)
class Message:
    """A message that may be taken in. `ts` names it within its channel."""

    ts: str
    at: datetime
    thread_ts: str | None
    subtype: str | None
    record: Mapping[str, Any]

    @property
    def edited(self) -> int:
        """When it was edited last, in microseconds since 1970; 0 for never."""
        edit = self.record.get("edited")
        ts = edit.get("ts") if isinstance(edit, dict) else None
        match = _TS.match(ts) if isinstance(ts, str) else None
        return int(match[1] + match[2].ljust(6, "0")) if match else 0

    @property
    def order(self) -> tuple[int, str]:
        """Sorts messages of a channel by time."""
        seconds, _, fraction = self.ts.partition(".")
        return int(seconds), fraction.ljust(6, "0")


def parse_message(record: Mapping[str, Any], clock: Clock) -> Message | str:
    """Return the message, or the reason why there is none."""
    ts, subtype = record.get("ts"), record.get("subtype")
    at = time_of(ts, clock)
    if not isinstance(ts, str) or at is None:
        return "has no ts that is a time" if isinstance(ts, str) else "ts is no string"
    thread = record.get("thread_ts")
    return Message(
        ts=ts,
        at=at,
        thread_ts=thread if isinstance(thread, str) and _TS.match(thread) else None,
        subtype=subtype[:60] if isinstance(subtype, str) and subtype else None,
        record=record,
    )


def time_of(ts: Any, clock: Clock) -> datetime | None:
    """Return the UTC time of a `ts`, which is a string: as a float it would lose digits."""
    match = _TS.match(ts) if isinstance(ts, str) else None
    moment = parse_time(int(match[1]), clock) if match else None
    if match is None or moment is None:
        return None
    return moment + timedelta(microseconds=int(match[2].ljust(6, "0")))


def in_thread(message: Message) -> bool:
    """Say whether a message is a reply or has replies."""
    if message.thread_ts is None:
        return False
    record = message.record
    replies = (record.get(key) for key in ("reply_count", "replies", "slackdump_thread_replies"))
    return message.thread_ts != message.ts or any(replies)


@dataclass(frozen=True, slots=True)
class Speaker:
    """Renders messages of one export as utterances."""

    directory: Directory
    renderer: Renderer
    owners: frozenset[str]
    owner_name: str

    def utterances(self, message: Message, channel: Channel) -> Iterator[Utterance]:
        """Yield what a message says; what it shows of others' words is never its owner's."""
        native_id = f"{channel.channel_id}:{message.ts}"
        author, role = self._author(message.record)
        text = said(self.renderer, message)
        shown = clean(self.renderer.attachments(message.record))
        if role is Role.OTHER and text and shown:
            text, shown = f"{text}\n\n{shown}", ""
        if text or (role is Role.OTHER and shown):
            yield Utterance(native_id, author, role, message.at, text or shown)
            shown = shown if text else ""
        if shown:
            shared = f"shared by {author}"
            yield Utterance(f"{native_id}/shown", shared, Role.OTHER, message.at, shown)

    def _author(self, record: Mapping[str, Any]) -> tuple[str, Role]:
        comment = record.get("comment")
        user = record.get("user")
        if record.get("subtype") == "file_comment" and isinstance(comment, dict):
            user = comment.get("user")
        if not isinstance(user, str):
            user = ""
        if user in self.owners and not is_by_bot(record):
            return self.owner_name, Role.OWNER
        return self._name(record, user), Role.OTHER

    def _name(self, record: Mapping[str, Any], user: str) -> str:
        profiles = (record.get("bot_profile"), record.get("user_profile"))
        names = [name_in(profile) for profile in profiles if isinstance(profile, dict)]
        username = record.get("username")
        # a bot speaks for itself, whoever installed it
        own = [one_line(username)] if isinstance(username, str) else []
        known = self.directory.person_name(user) if user else None
        bot = record.get("bot_id") if isinstance(record.get("bot_id"), str) else ""
        program = self.directory.person_name(bot) if bot else None
        by_bot = [*own, program, *names, known]
        order = by_bot if is_by_bot(record) else [known, *names, *own]
        fallback = user or bot or "unknown"
        return next((name for name in order if name), one_line(fallback))


def is_by_bot(record: Mapping[str, Any]) -> bool:
    """Say whether a program wrote it, be it in a person's name."""
    return bool(record.get("bot_id") or record.get("subtype") == "bot_message")


def said(renderer: Renderer, message: Message) -> str:
    """Return the text of a message with the files it names; may be empty."""
    record = message.record
    comment = record.get("comment")
    if message.subtype == "file_comment" and isinstance(comment, dict):
        record = {**record, "text": comment.get("comment"), "blocks": None}
    text = clean(renderer.message(record))
    if message.subtype == "me_message" and text:
        text = f"_{text}_" if "\n" not in text else text
    lines = list(files(record, text))
    return clean("\n\n".join(part for part in (text, "\n".join(lines)) if part))


def clean(text: str) -> str:
    """Return `text` without control characters and without context that we injected."""
    return clean_text(strip_injected(text))

"""What the files of a Slack export are, and the JSON in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from connectors.archive import Member
from connectors.jsonl import LINE_LIMIT, parse_object
from connectors.slack_directory import Channel, one_line
from context_engine.errors import BadInputError
from context_engine.events import BadRecord, UnknownRecord

FILE_LIMIT = LINE_LIMIT
"""Bytes of one file: a day of a channel, or a dump of a channel."""

_DAY_FILE = re.compile(r"\d{4}-\d{2}-\d{2}\.json\Z")
_ROOT = re.compile(r"(.*?)[^/!]*\Z", re.DOTALL)


def root_of(place: str) -> str:
    """Return `place` up to and with its last separator: the folder or archive that holds it."""
    match = _ROOT.match(place)
    return match[1] if match else ""


def value_in(member: Member) -> Any:
    """Return the list or object in a JSON file. Raises BadInputError when there is none."""
    with member.open() as stream:
        data = stream.read(FILE_LIMIT + 1)
    if len(data) > FILE_LIMIT:
        raise BadInputError(member.place, f"larger than {FILE_LIMIT >> 20} MiB")
    data = data.removeprefix(b"\xef\xbb\xbf").strip()
    # a list becomes an object, so that one parser with one set of limits does for both
    value = parse_object(b'{"":' + data + b"}" if data.startswith(b"[") else data)
    if not isinstance(value, dict):
        raise BadInputError(member.place, value or "empty")
    return value[""] if data.startswith(b"[") else value


def list_in(member: Member) -> list[Any]:
    """Return the list in a JSON file. Raises BadInputError when there is none."""
    value = value_in(member)
    if not isinstance(value, list):
        raise BadInputError(member.place, "not a JSON list")
    return value


def is_day(path: str) -> bool:
    """Say whether a file is a day of a channel, by its name."""
    return bool(_DAY_FILE.match(path.rpartition("/")[2]))


def channel_and_messages(member: Member, value: Any) -> tuple[str, list[Any] | None]:
    """Return the folder (or id) of the channel and its messages, None for something else."""
    stem = member.name.removesuffix(".json")
    if isinstance(value, dict):
        messages = value.get("messages")
        named = value.get("channel_id") or value.get("id") or stem.partition("-")[0]
        return str(named), messages if isinstance(messages, list) else None
    if not isinstance(value, list) or not _DAY_FILE.match(member.name):
        return "", None
    inside = "/" in member.path
    folders = member.path.split("/") if inside else member.place.replace("!", "/").split("/")
    return (folders[-2] if len(folders) > 1 else stem), value


def named_by_dump(channel: Channel, value: dict[str, Any]) -> Channel:
    """Return `channel` with the name that a dump gives it."""
    name = value.get("name")
    return (
        Channel(channel.channel_id, f"#{one_line(name)}")
        if isinstance(name, str) and name
        else channel
    )


def with_replies(records: list[Any]) -> Iterator[Any]:
    """Yield messages, each followed by the replies that slackdump puts inside it."""
    for record in records:
        yield record
        replies = record.get("slackdump_thread_replies") if isinstance(record, dict) else None
        yield from replies if isinstance(replies, list) else ()


def not_ours(member: Member) -> BadRecord | UnknownRecord:
    """Return the report of a file that is no part of an export."""
    if member.named:
        return BadRecord(member.place, "not a Slack export: no messages in it")
    return UnknownRecord(member.place, f"file {member.name.lower()[-40:]}")

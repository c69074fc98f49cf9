"""One record of a Claude Code transcript: who said what in it, which files it touched."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

from connectors.claude_speech import Stretch, Voice, assistant_words, user_words
from connectors.claude_vocabulary import (
    EDITING_TOOLS,
    MACHINE_ORIGINS,
    NOT_SPOKEN_FLAGS,
    PERSON_ORIGINS,
    SPEECHLESS_BLOCKS,
)
from connectors.places import file_ref
from connectors.text import clean_text, parse_time
from context_engine.clock import Clock
from context_engine.events import Ref, Role
from context_engine.ids import long_id

Record = dict[str, Any]
"""A line of a transcript as parsed; nothing in it can be relied on."""

_PATH_LENGTH = 1000
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_PLAIN_KEY = re.compile(r"[\x21-\x7e]{1,120}")


@dataclass(frozen=True, slots=True)
class Said:
    """One utterance of a record. `message` names the API message it is a block of."""

    key: str
    role: Role
    voice: Voice
    at: datetime | None
    text: str
    message: str | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a part of a record could not be read."""

    reason: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """A part of a record of a kind that is not known here."""

    kind: str


Spoken = Said | Problem | Unknown


@dataclass(frozen=True, slots=True)
class Context:
    """What reading a record needs besides the record.

    by_agent: the `user` of this transcript is the assistant that started a subagent. (In a record
    of an inline sidechain it always is.)
    """

    clock: Clock
    document: str
    by_agent: bool


def is_silent(record: Record) -> bool:
    """Say quickly that a message is nothing but tool results, thinking and calls that only read.

    Most of a transcript is; False means that it has to be looked at.
    """
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return isinstance(content, list) and all(map(_is_silent_block, content))


def _is_silent_block(block: Any) -> bool:
    kind = block.get("type") if isinstance(block, dict) else None
    if kind == "tool_use":
        return str(block.get("name")) not in EDITING_TOOLS
    return isinstance(kind, str) and kind in SPEECHLESS_BLOCKS


def said_in(record: Record, context: Context) -> Iterator[Spoken]:
    """Yield what was said in a `user` or `assistant` record."""
    message = record.get("message")
    if any(record[flag] is True for flag in NOT_SPOKEN_FLAGS & record.keys()):
        return
    if not isinstance(message, dict):
        yield Problem(f"{record.get('type')} record without a readable message")
    elif record.get("type") == "assistant":
        if message.get("model") != "<synthetic>":
            yield from _assistant(record, message, context)
    else:
        yield from _user(record, message.get("content"), record.get("origin"), context)


def said_in_attachment(record: Record, context: Context) -> Iterator[Spoken]:
    """Yield what a person typed while the assistant worked; all else attached is machine text."""
    attachment = record.get("attachment")
    if not isinstance(attachment, dict) or attachment.get("type") != "queued_command":
        return
    if attachment.get("commandMode") not in {None, "prompt"} or attachment.get("isMeta") is True:
        return
    yield from _user(record, attachment.get("prompt"), attachment.get("origin"), context)


def said_in_queue(record: Record, context: Context) -> Iterator[Spoken]:
    """Yield a prompt that a running turn took in, as versions without attachments noted it."""
    if record.get("operation") == "remove":
        yield from _user(record, record.get("content"), None, context)


def title_in(record: Record) -> tuple[int, str] | None:
    """Return (rank, title) of a title record: a person's choice before a generated one."""
    names = {
        "custom-title": (3, "customTitle"),
        "ai-title": (2, "aiTitle"),
        "summary": (1, "summary"),
    }
    rank, field = names[record["type"]]
    title = record.get(field)
    return (rank, title) if isinstance(title, str) and title.strip() else None


def touched_files(record: Record, cwd: str | None) -> Iterator[Ref]:
    """Yield the files that the tools called in an assistant record change."""
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    for block in content if isinstance(content, list) and cwd else ():
        if not isinstance(block, dict) or block.get("type") != "tool_use":
            continue
        arguments, field = block.get("input"), EDITING_TOOLS.get(str(block.get("name")))
        path = arguments.get(field) if field and isinstance(arguments, dict) else None
        if isinstance(path, str) and 0 < len(path) <= _PATH_LENGTH and cwd:
            yield file_ref(cwd, clean_text(path))


def _assistant(record: Record, message: Record, context: Context) -> Iterator[Spoken]:
    identity = message.get("id")
    name = f"{identity}|{record.get('requestId')}"[:200] if isinstance(identity, str) else None
    blocks = _blocks(message.get("content"))
    yield from _utterances(record, blocks, context, assistant_words, message=name)


def _user(record: Record, content: Any, origin: Any, context: Context) -> Iterator[Spoken]:
    kind = origin.get("kind") if isinstance(origin, dict) else record.get("turnOrigin")
    name = None if kind is None else str(kind)
    if name in PERSON_ORIGINS:
        yield from _utterances(record, _blocks(content), context, user_words)
    elif name not in MACHINE_ORIGINS:
        yield Unknown(f"origin/{name}")


def _blocks(content: Any) -> Iterator[str | Problem | Unknown]:
    """Yield the texts of a message's content."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for block in content:
            yield from _block(block)
    elif content is not None:
        yield Problem("content is neither text nor a list of blocks")


def _block(block: Any) -> Iterator[str | Problem | Unknown]:
    if not isinstance(block, dict):
        yield Problem("a content block is not an object")
        return
    kind = block.get("type")
    if kind == "text":
        text = block.get("text")
        yield text if isinstance(text, str) else Problem("a text block holds no text")
    elif not isinstance(kind, str) or kind not in SPEECHLESS_BLOCKS:
        yield Unknown(f"block/{kind}")


def _utterances(
    record: Record,
    blocks: Iterator[str | Problem | Unknown],
    context: Context,
    words: Callable[[str], list[Stretch]],
    message: str | None = None,
) -> Iterator[Spoken]:
    stretches: list[Stretch] = []
    for block in blocks:
        if isinstance(block, str):
            stretches += words(block)
        else:
            yield block
    spoken = [
        (voice, "\n\n".join(stretch.text for stretch in group))
        for voice, group in groupby(stretches, lambda stretch: stretch.voice)
    ]
    if not spoken:
        return
    key = record_key(record, context.document, [text for _, text in spoken])
    at = parse_time(record.get("timestamp"), context.clock)
    by_agent = context.by_agent or record.get("isSidechain") is True
    for number, (voice, text) in enumerate(spoken, 1):
        role = _role(voice, by_agent=by_agent)
        yield Said(key if number == 1 else f"{key}.{number}", role, voice, at, text, message)


def _role(voice: Voice, *, by_agent: bool) -> Role:
    if voice is Voice.AGENT or by_agent:
        return Role.ASSISTANT
    return Role.OWNER if voice is Voice.PERSON else Role.OTHER


def record_key(record: Record, document: str, texts: Sequence[str]) -> str:
    """Return the stable id of a record.

    Claude Code's uuid as it is. Other tools write ids that are unique within a session at most:
    those are told apart by type and time. Without any id, who said what when is the id; without
    a time as well, in which document.
    """
    uuid, time = record.get("uuid"), record.get("timestamp")
    moment = time if isinstance(time, str | int | float) else ""
    if isinstance(uuid, str) and _UUID.fullmatch(uuid):
        return uuid.lower()
    if isinstance(uuid, str) and _PLAIN_KEY.fullmatch(uuid):
        return f"{record.get('type')}:{uuid}@{clean_text(str(moment))}"[:200]
    place = str(moment) or document
    return "said-" + long_id("claude", str(uuid), place, str(record.get("type")), *texts)

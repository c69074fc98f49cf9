"""The records of a claude.ai export: conversations, design chats, projects, memory."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from connectors.branches import Node
from connectors.conversation_records import (
    MESSAGE_LIMIT,
    Context,
    Findings,
    Parsed,
    Thread,
    key_field,
    spoken,
    text_field,
)
from connectors.text import clean_text, parse_time
from context_engine.clock import Clock
from context_engine.events import BadRecord, Role, UnknownRecord, Utterance
from context_engine.ids import short_id
from context_engine.markers import strip_injected

SPEECHLESS_BLOCKS = frozenset(
    {
        "flag",
        "image",
        "knowledge",
        "local_resource",
        "redacted_thinking",
        "server_tool_use",
        "thinking",
        "token_budget",
        "tool_result",
        "tool_use",
        "web_search_tool_result",
    }
)
_PLACEHOLDER = re.compile(
    r"```\s*This block is not supported on your current device yet\.\s*```"
    r"|This block is not supported on your current device yet\."
)
_PERSONS = frozenset({"human", "user"})
_ACCOUNT_FIELDS = frozenset({"full_name", "email_address", "verified_phone_number", "events"})


def parse_record(record: dict[str, Any], place: str, context: Context) -> Parsed:
    """Return the thread that a record holds, or what is to be said of it."""
    if "chat_messages" in record or isinstance(record.get("messages"), list):
        return _conversation(record, place, context)
    if "docs" in record or "prompt_template" in record:
        return _project(record, place, context)
    if record.keys() & {"conversations_memory", "project_memories", "memory_files"}:
        return _memory(record)
    return _not_ours(record, place)


def _not_ours(record: dict[str, Any], place: str) -> Parsed:
    if record.keys() & _ACCOUNT_FIELDS:
        return UnknownRecord(place, "account data")
    if "mapping" in record:
        return BadRecord(place, "a ChatGPT conversation: read it with the source chatgpt")
    if "uuid" in record:
        return BadRecord(place, "a conversation without messages")
    return UnknownRecord(place, "record of another kind")


def _conversation(record: dict[str, Any], place: str, context: Context) -> Parsed:
    key = key_field(record, "uuid", "id")
    messages = record.get("chat_messages", record.get("messages"))
    if not key:
        return BadRecord(place, "a conversation without an id")
    if not isinstance(messages, list):
        return BadRecord(place, "a conversation without messages")
    if len(messages) > MESSAGE_LIMIT:
        return BadRecord(place, f"a conversation of more than {MESSAGE_LIMIT:,} messages")
    found = Findings()
    authors = _Authors.among(messages)
    nodes = [node for message in messages for node in _node(message, key, authors, found, context)]
    design = "chat_messages" not in record
    return Thread(
        native_id=key,
        title=text_field(record, "name") or text_field(record, "title"),
        nodes=nodes,
        updated=parse_time(record.get("updated_at"), context.clock),
        started=parse_time(record.get("created_at"), context.clock),
        project=_project_of(record, context),
        # where a design chat is to be seen is not told by its id
        url=None if design else f"https://claude.ai/chat/{key}",
        meta=_meta(record, found, design=design),
        problems=tuple(found.problems),
        unknown=tuple(found.unknown),
    )


def _meta(record: Mapping[str, Any], found: Findings, *, design: bool) -> dict[str, str]:
    meta = {"kind": "design chat" if design else "", "model": text_field(record, "model")}
    meta["files"] = found.file_names()
    return {name: value for name, value in meta.items() if value}


def _project_of(record: Mapping[str, Any], context: Context) -> str | None:
    project = record.get("project")
    if isinstance(project, dict):
        named = text_field(project, "name")
        return named or context.projects.get(key_field(project, "uuid")) or None
    uuid = key_field(record, "project_uuid", "project")
    return context.projects.get(uuid)


@dataclass(frozen=True, slots=True)
class _Authors:
    """The accounts that write in a conversation: of several, which is the owner is unknown."""

    accounts: frozenset[str]

    @staticmethod
    def among(messages: list[Any]) -> _Authors:
        contents = [each.get("content") for each in messages if isinstance(each, dict)]
        found = (
            key_field(each, "authorAccountUuid") for each in contents if isinstance(each, dict)
        )
        return _Authors(frozenset(account for account in found if account))

    def speaker(self, message: Mapping[str, Any], owner: str) -> tuple[str, Role] | None:
        sender = message.get("sender", message.get("role"))
        if sender == "assistant":
            return "assistant", Role.ASSISTANT
        if not isinstance(sender, str) or sender not in _PERSONS:
            return None
        content = message.get("content")
        name = text_field(content, "authorName", 80) if isinstance(content, dict) else ""
        if len(self.accounts) > 1 and name != owner:
            return name or "another person", Role.OTHER
        return owner, Role.OWNER


def _node(
    message: Any, conversation: str, authors: _Authors, found: Findings, context: Context
) -> Iterator[Node]:
    if not isinstance(message, dict):
        found.problems.append("a message that is not an object")
        return
    speaker = authors.speaker(message, context.options.owner_name)
    if speaker is None:
        sender = message.get("sender", message.get("role"))
        found.meet("sender", sender)
        return
    author, role = speaker
    at = _time_of(message, context.clock)
    text = _text_of(message, found)
    parent = key_field(message, "parent_message_uuid") or None
    key = key_field(message, "uuid") or short_id("message", conversation, str(at), role.value, text)
    name = f"{conversation}/{key}"
    words = spoken(name, author, role, at, strip_injected(text))
    said = (*_attached(message, name, at, found), *words)
    yield Node(key, parent, at, said)


def _time_of(message: Mapping[str, Any], clock: Clock) -> datetime | None:
    content = message.get("content")
    inner = content.get("timestamp") if isinstance(content, dict) else None
    return parse_time(message.get("created_at"), clock) or parse_time(inner, clock)


def _text_of(message: Mapping[str, Any], found: Findings) -> str:
    """Return the words of a message: its blocks, or the flat text of older exports."""
    content = message.get("content")
    if isinstance(content, dict):
        # a design chat: the message lies one level deeper
        if content.get("pill") is True:
            return ""
        blocks, flat = content.get("contentBlocks"), content.get("content")
        content = blocks if isinstance(blocks, list) and blocks else flat
    if isinstance(content, str):
        return content
    texts = list(_block_texts(content, found)) if isinstance(content, list) else []
    if any(text.strip() for text in texts):
        return "\n\n".join(text for text in texts if text.strip())
    flat = message.get("text")
    return _PLACEHOLDER.sub("", flat) if isinstance(flat, str) else ""


def _block_texts(content: list[Any], found: Findings) -> Iterator[str]:
    for block in content:
        kind = block.get("type") if isinstance(block, dict) else None
        if not isinstance(kind, str):
            found.problems.append("a block that is not an object with a type")
        elif kind in {"text", "voice_note"}:
            if isinstance(block.get("text"), str):
                yield block["text"]
            else:
                found.problems.append(f"a {kind} block that holds no text")
        elif kind not in SPEECHLESS_BLOCKS:
            found.meet("block", kind)


def _attached(
    message: Mapping[str, Any], key: str, at: datetime | None, found: Findings
) -> Iterator[Utterance]:
    """Yield the text of attachments: somebody else's words as far as anyone knows."""
    content = message.get("content")
    holders = [message, *([content] if isinstance(content, dict) else [])]
    for holder in holders:
        for item in _list_in(holder, "attachments") + _list_in(holder, "files"):
            name = text_field(item, "file_name", 80) or text_field(item, "name", 80)
            if name:
                found.files[name] = None
            text = item.get("extracted_content", item.get("content"))
            if isinstance(text, str) and item.get("hidden") is not True:
                part = f"{key}#{short_id('attachment', name, text)}"
                yield from spoken(part, name or "attachment", Role.OTHER, at, text)


def _list_in(holder: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    value = holder.get(name)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _project(record: dict[str, Any], place: str, context: Context) -> Parsed:
    """Return a project's description, instructions and documents as one thread."""
    key, name = key_field(record, "uuid"), text_field(record, "name")
    if not key:
        return BadRecord(place, "a project without an id")
    if record.get("is_starter_project") is True:
        return None
    owner, started = context.options.owner_name, parse_time(record.get("created_at"), context.clock)
    said: list[Utterance] = []
    for part in ("description", "prompt_template"):
        value = record.get(part)
        if isinstance(value, str):
            said += spoken(f"{key}#{part}", owner, Role.OWNER, started, value)
    for document in _list_in(record, "docs"):
        file = text_field(document, "filename", 80) or "document"
        text = document.get("content")
        part = key_field(document, "uuid") or short_id("document", key, file)
        at = parse_time(document.get("created_at"), context.clock)
        said += spoken(part, file, Role.OTHER, at, text if isinstance(text, str) else "")
    return Thread(
        native_id=f"project/{key}",
        title=name,
        nodes=_in_a_row(said),
        updated=parse_time(record.get("updated_at"), context.clock),
        started=started,
        project=name or None,
        url=f"https://claude.ai/project/{key}",
        meta={"kind": "project"},
    )


def _memory(record: dict[str, Any]) -> Parsed:
    """Return what claude.ai noted about the account's owner: the assistant's words."""
    account = key_field(record, "account_uuid") or "account"
    texts: dict[str, Any] = {"conversations": record.get("conversations_memory")}
    projects = record.get("project_memories")
    if isinstance(projects, dict):
        texts |= {f"project {clean_text(str(uuid))[:64]}": text for uuid, text in projects.items()}
    for file in _list_in(record, "memory_files"):
        texts[f"file {key_field(file, 'path')}"] = file.get("content")
    said: list[Utterance] = []
    for name, text in texts.items():
        key, words = f"memory/{account}#{name}", text if isinstance(text, str) else ""
        said += spoken(key, "assistant", Role.ASSISTANT, None, words)
    nodes = _in_a_row(said)
    return Thread(f"memory/{account}", "Claude's memory", nodes, meta={"kind": "memory"})


def _in_a_row(said: Sequence[Utterance]) -> list[Node]:
    """Return a page's parts as nodes that follow one another as they stand."""
    above = [None, *(each.native_id for each in said)]
    return [
        Node(each.native_id, parent, each.at, (each,))
        for each, parent in zip(said, above, strict=False)
    ]

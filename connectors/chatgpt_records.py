"""One conversation of a ChatGPT export: a tree of nodes, most of which nobody sees."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
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
from connectors.text import parse_time
from context_engine.events import BadRecord, Role, UnknownRecord
from context_engine.markers import strip_injected

_SPEECH = frozenset({"text", "multimodal_text"})
_SPEECHLESS = frozenset(
    {
        "app_pairing_content",
        "citable_code_output",
        "code",
        "computer_output",
        "execution_output",
        "model_editable_context",
        "reasoning_recap",
        "sonic_webpage",
        "super_widget",
        "system_error",
        "system_message",
        "tether_browsing_code",
        "tether_browsing_display",
        "tether_quote",
        "thoughts",
        "user_editable_context",
    }
)
_SPEECHLESS_PARTS = frozenset(
    {
        "audio_asset_pointer",
        "image_asset_pointer",
        "real_time_user_audio_video_asset_pointer",
        "video_container_asset_pointer",
    }
)
_MACHINES = frozenset({"system", "tool"})
# Marks in an answer that the page shows as chips: sources, and names of things.
_MARK = re.compile("\ue200([^\ue200\ue201]{0,2000})\ue201")
_SOURCE_MARK = re.compile(r"【[^【】]{0,20}†[^【】]{0,200}】")


def parse_record(record: dict[str, Any], place: str, context: Context) -> Parsed:
    """Return the conversation that a record holds, or what is to be said of it."""
    if "mapping" not in record:
        return _not_ours(record, place)
    key, mapping = key_field(record, "conversation_id", "id"), record["mapping"]
    if not key:
        return BadRecord(place, "a conversation without an id")
    if not isinstance(mapping, dict):
        return BadRecord(place, "a conversation whose mapping is not an object")
    if len(mapping) > MESSAGE_LIMIT:
        return BadRecord(place, f"a conversation of more than {MESSAGE_LIMIT:,} messages")
    found = Findings()
    nodes = [_node(name, item, f"{key}/{name}", found, context) for name, item in mapping.items()]
    return Thread(
        native_id=key,
        title=text_field(record, "title"),
        nodes=[node for node in nodes if node is not None],
        leaf=key_field(record, "current_node") or None,
        updated=parse_time(record.get("update_time"), context.clock),
        started=parse_time(record.get("create_time"), context.clock),
        url=f"https://chatgpt.com/c/{key}",
        meta=_meta(record, found),
        problems=tuple(found.problems),
        unknown=tuple(found.unknown),
    )


def _not_ours(record: dict[str, Any], place: str) -> Parsed:
    if "chat_messages" in record:
        return BadRecord(place, "a claude.ai conversation: read it with the source claude-ai")
    if "conversation_id" in record or "current_node" in record:
        return BadRecord(place, "a conversation without messages")
    return UnknownRecord(place, "record of another kind")


def _meta(record: Mapping[str, Any], found: Findings) -> dict[str, str]:
    meta = {
        "model": text_field(record, "default_model_slug", 80),
        "gpt": text_field(record, "gizmo_id", 80),
        "archived": "yes" if record.get("is_archived") is True else "",
        "files": found.file_names(),
    }
    return {name: value for name, value in meta.items() if value}


def _node(name: str, item: Any, native_id: str, found: Findings, context: Context) -> Node | None:
    if not isinstance(item, dict):
        found.problems.append("a node that is not an object")
        return None
    parent = key_field(item, "parent") or None
    message = item.get("message")
    if message is None:
        return Node(name, parent, None)
    if not isinstance(message, dict):
        found.problems.append("a message that is not an object")
        return Node(name, parent, None)
    at = parse_time(message.get("create_time"), context.clock)
    role = _role_of(message, found)
    if role is None or _is_hidden(message):
        return Node(name, parent, at)
    author = context.options.owner_name if role is Role.OWNER else "assistant"
    _note_files(message, found)
    text = strip_injected(_text_of(message, found))
    text = _shown(text) if role is Role.ASSISTANT else text
    native_id = native_id if len(native_id) <= 300 else key_field({"id": native_id}, "id")  # noqa: PLR2004 - two ids
    return Node(name, parent, at, tuple(spoken(native_id, author, role, at, text)))


def _role_of(message: Mapping[str, Any], found: Findings) -> Role | None:
    """Return who speaks: a person, or the assistant to that person, not to a tool."""
    author = message.get("author")
    role = author.get("role") if isinstance(author, dict) else None
    if role == "user":
        return Role.OWNER
    if role == "assistant":
        recipient = message.get("recipient")
        return Role.ASSISTANT if recipient is None or recipient == "all" else None
    if not isinstance(role, str) or role not in _MACHINES:
        found.meet("author", role)
    return None


def _is_hidden(message: Mapping[str, Any]) -> bool:
    metadata = message.get("metadata")
    if not isinstance(metadata, dict):
        return False
    return (
        metadata.get("is_visually_hidden_from_conversation") is True
        or metadata.get("is_user_system_message") is True
    )


def _note_files(message: Mapping[str, Any], found: Findings) -> None:
    metadata = message.get("metadata")
    attachments = metadata.get("attachments") if isinstance(metadata, dict) else None
    for item in attachments if isinstance(attachments, list) else ():
        if isinstance(item, dict) and (name := text_field(item, "name", 80)):
            found.files[name] = None


def _text_of(message: Mapping[str, Any], found: Findings) -> str:
    content = message.get("content")
    if not isinstance(content, dict):
        found.problems.append("a message without readable content")
        return ""
    kind = str(content.get("content_type"))
    if kind not in _SPEECH:
        if kind not in _SPEECHLESS:
            found.meet("content", kind)
        return ""
    parts = content.get("parts")
    if not isinstance(parts, list):
        # some very old exports hold the words beside the parts
        text = content.get("text")
        return text if isinstance(text, str) else ""
    return "\n\n".join(text for text in _part_texts(parts, found) if text.strip())


def _part_texts(parts: list[Any], found: Findings) -> Iterator[str]:
    for part in parts:
        if isinstance(part, str):
            yield part
            continue
        kind = part.get("content_type") if isinstance(part, dict) else None
        if kind == "audio_transcription" and isinstance(part.get("text"), str):
            yield part["text"]
        elif part is not None and (not isinstance(kind, str) or kind not in _SPEECHLESS_PARTS):
            found.meet("part", kind)


def _shown(text: str) -> str:
    """Return an answer as the page shows it: names stay, marks of sources go."""
    text = _MARK.sub(lambda match: _name_in(match.group(1)), text)
    return _SOURCE_MARK.sub("", text)


def _name_in(mark: str) -> str:
    kind, _, body = mark.partition("\ue202")
    if kind not in {"entity", "url"}:
        return ""
    if kind == "url":
        return body.split("\ue202")[0]
    try:
        values = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    is_name = isinstance(values, list) and len(values) > 1 and isinstance(values[1], str)
    return values[1] if is_name else ""

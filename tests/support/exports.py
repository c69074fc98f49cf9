"""Invented conversations as claude.ai and ChatGPT export them."""

from __future__ import annotations

from typing import Any

Record = dict[str, Any]

ROOT = "00000000-0000-4000-8000-000000000000"
CHAT = "c0ffee00-0000-4000-8000-000000000001"


def claude_message(
    name: str, text: str, parent: str = ROOT, minute: int = 0, **fields: Any
) -> Record:
    sender = "human" if name.startswith("h") else "assistant"
    time = f"2026-10-05T09:{minute:02d}:00.123456Z"
    return {
        "uuid": name,
        "parent_message_uuid": parent,
        "sender": sender,
        "text": text,
        "content": [{"type": "text", "text": text}],
        "created_at": time,
        "updated_at": time,
        "attachments": [],
        "files": [],
        **fields,
    }


def claude_chat(*messages: Record, uuid: str = CHAT, **fields: Any) -> Record:
    return {
        "uuid": uuid,
        "name": "Choosing a queue",
        "created_at": "2026-10-05T09:00:00.000000Z",
        "updated_at": "2026-10-05T10:00:00.000000Z",
        "account": {"uuid": "acct"},
        "chat_messages": list(messages),
        **fields,
    }


def gpt_node(
    name: str, text: Any = None, parent: str | None = None, minute: float = 0, **fields: Any
) -> Record:
    """A node: `u…` is the user's, `a…` the assistant's; a text of None has no message."""
    if text is None:
        return {"id": name, "parent": parent, "children": [], "message": None}
    content = {"content_type": "text", "parts": [text]} if isinstance(text, str) else text
    role = {"u": "user", "a": "assistant", "t": "tool", "s": "system"}[name[0]]
    message = {
        "id": name,
        "author": {"role": role},
        "create_time": 1_791_190_800.25 + 60 * minute,
        "content": content,
        "metadata": {},
        "recipient": "all",
        **fields,
    }
    return {"id": name, "parent": parent, "children": [], "message": message}


def gpt_chat(*nodes: Record, key: str = CHAT, **fields: Any) -> Record:
    return {
        "title": "Choosing a queue",
        "create_time": 1_791_190_800.0,
        "update_time": 1_791_194_400.0,
        "conversation_id": key,
        "current_node": nodes[-1]["id"] if nodes else None,
        "mapping": {node["id"]: node for node in nodes},
        **fields,
    }

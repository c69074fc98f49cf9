"""The same export as folder, zip and tar, one after the other: no message comes twice."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from connectors.registry import load
from context_engine.home import Home
from support.archives import tar_of, write_zip
from support.confluence import PAGE, body, comment, page, write
from support.exports import claude_chat, claude_message
from support.slack import CHANNELS, USERS, message
from support.sources import AKI
from vault.listing import list_notes
from vault.paths import vault_root
from vault.sources import known_utterances, write_source
from workers.collector import collect
from workers.outbox import Outbox

CAPTIONS = "".join(
    f"00:0{n}:00.{n}00 --> 00:0{n}:20.000\n<v Kim>sentence number {n}</v>\n\n" for n in range(9)
)


def as_json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def chatgpt() -> dict[str, Any]:
    said = {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["hello"]},
            "create_time": 1793610000.0, "metadata": {}, "recipient": "all"}  # fmt: skip
    mapping = {"1": {"id": "1", "parent": None, "message": said}}
    return {"conversation_id": "c1", "title": "x", "current_node": "1", "mapping": mapping}


def confluence(folder: Path) -> bytes:
    said = comment("65700", "<p>c</p>")
    return (write(folder, page(), body(PAGE, "<p>x</p>"), said) / "entities.xml").read_bytes()


EXPORTS: Mapping[str, Mapping[str, bytes]] = {
    "slack": {
        "users.json": as_json(USERS),
        "channels.json": as_json(CHANNELS),
        "general/2026-11-02.json": as_json([message(0, "一"), message(1, "二")]),
    },
    "chatgpt": {"conversations.json": as_json([chatgpt()])},
    "claude-ai": {"conversations.json": as_json([claude_chat(claude_message("h1", "会議は三時"))])},
    "github": {
        "comments.jsonl": as_json(
            {
                "node_id": "PRRC_1",
                "path": "compose.yaml",
                "user": {"login": "kim", "type": "User"},
                "body": "pin the tag",
                "html_url": "https://github.com/aki-labs/shop/pull/7#discussion_r1",
                "pull_request_url": "https://api.github.com/repos/aki-labs/shop/pulls/7",
                "created_at": "2026-11-02T09:05:00Z",
                "updated_at": "2026-11-02T09:05:00Z",
            }
        )
    },
    "meeting": {"2026-11-02 weekly.vtt": f"WEBVTT\n\n{CAPTIONS}".encode()},
    "takeout": {
        "Takeout/My Activity/Gemini Apps/MyActivity.json": as_json(
            [
                {
                    "header": "Gemini Apps",
                    "title": "Prompted なぜ",
                    "time": "2026-11-02T09:00:00.120Z",
                    "products": ["Gemini Apps"],
                    "safeHtmlItem": [{"html": "<p>because</p>"}],
                }
            ]
        )
    },
}


@pytest.mark.parametrize("source", [*EXPORTS, "confluence"])
def test_no_message_comes_twice_in_three_forms_of_an_export(
    home: Home, tmp_path: Path, source: str
) -> None:
    exported = EXPORTS.get(source) or {"entities.xml": confluence(tmp_path / "made")}
    folder = tmp_path / "folder"
    for name, data in exported.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    packed = tmp_path / "export.tgz"
    packed.write_bytes(tar_of(exported))
    forms = (folder, write_zip(tmp_path / "export.zip", exported), packed)
    outbox = Outbox(home.outbox)
    counts = [collect(load(source), [form], outbox, AKI).new for form in forms]
    assert counts[0] > 0
    assert counts[1:] == [0, 0]
    events = outbox.connection().execute("SELECT event_id FROM event").fetchall()
    for (event_id,) in events:
        document = outbox.document(str(event_id))
        assert document is not None
        write_source(home, document)
    markers = [marker for _, marker in known_utterances(home)]
    assert len(markers) == len(set(markers)) > 0
    notes = [file.path for file in list_notes(vault_root(home, AKI.default_scope), "sources")]
    assert len(notes) == len({path.rsplit("-", 1)[-1] for path in notes})

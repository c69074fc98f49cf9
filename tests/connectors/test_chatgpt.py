"""What a person said to ChatGPT arrives once, whole, and follows the next export."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from connectors.chatgpt import ChatGptConnector
from context_engine.clock import ManualClock
from context_engine.errors import UsageError
from support.archives import write_zip
from support.exports import CHAT, Record, gpt_chat, gpt_node
from support.sources import mutate, read_source, write_json
from support.transcripts import NOW, MemoryLedger, Reading

CONNECTOR = ChatGptConnector(ManualClock(NOW))

ROOT = gpt_node("root")
TALK = (
    ROOT,
    gpt_node("u1", "Valkey or Redis?", "root"),
    gpt_node("a1", "Valkey, for its license.", "u1", 1),
    gpt_node("u2", "決めた。Valkeyにする。", "a1", 2),
)
TEXTS = ["Valkey or Redis?", "Valkey, for its license.", "決めた。Valkeyにする。"]


def read(*paths: Path, ledger: MemoryLedger | None = None) -> Reading:
    return read_source(CONNECTOR, *paths, ledger=ledger)


def read_records(*records: Any, ledger: MemoryLedger | None = None) -> Reading:
    with tempfile.TemporaryDirectory() as folder:
        path = write_json(Path(folder) / "conversations.json", list(records))
        return read(path, ledger=ledger)


def parts(*values: Any, kind: str = "multimodal_text") -> Record:
    return {"content_type": kind, "parts": list(values)}


def test_a_conversation_keeps_its_words_speakers_times_title_and_address() -> None:
    reading = read_records(gpt_chat(*TALK, default_model_slug="gpt-5"))
    (document,) = reading.documents
    assert (document.title, document.native_id) == ("Choosing a queue", CHAT)
    assert document.url == f"https://chatgpt.com/c/{CHAT}"
    assert document.meta == {"model": "gpt-5"}
    assert [(u.author, u.role.value) for u in document.utterances] == [
        ("Aki", "owner"),
        ("assistant", "assistant"),
        ("Aki", "owner"),
    ]
    assert reading.texts == TEXTS
    assert document.utterances[0].at is not None
    assert document.utterances[0].at.isoformat() == "2026-10-05T09:00:00.250000+00:00"


def test_shards_with_a_manifest_are_read_and_nothing_else_of_the_export(tmp_path: Path) -> None:
    one, two = gpt_chat(*TALK, key="one"), gpt_chat(*TALK, key="two")
    path = write_zip(
        tmp_path / "export.zip",
        {
            "export_manifest.json": b'{"files":["conversations-000.json"]}',
            "conversations-000.json": json.dumps([one]).encode(),
            "conversations-001.json": json.dumps([two]).encode(),
            "user.json": b"{}",
            "message_feedback.json": b"[]",
            "shared_conversations.json": json.dumps([{"conversation_id": "one"}]).encode(),
            "chat.html": b"<html>",
            "file-1-image.png": b"x",
        },
    )
    reading = read(path)
    assert [document.native_id for document in reading.documents] == ["one", "two"]
    assert reading.bad == []
    ledger = MemoryLedger()
    read(path, ledger=ledger)
    whole = write_json(tmp_path / "conversations.json", [two, one])
    assert read(whole, ledger=ledger).documents == []


def test_the_branch_at_current_node_is_the_one_that_counts() -> None:
    chat = gpt_chat(
        ROOT,
        gpt_node("u1", "question", "root"),
        gpt_node("a1", "first answer", "u1", 1),
        gpt_node("a2", "second answer", "u1", 2),
        gpt_node("u2", "thanks", "a1", 3),
        current_node="a2",
    )
    (document,) = read_records(chat).documents
    assert [u.text for u in document.utterances][-1] == "thanks"
    assert document.meta["abandoned"] == f"{CHAT}/a1..{CHAT}/u2"
    lost = {**chat, "current_node": "gone"}
    assert read_records(lost).documents[0].meta["abandoned"] == f"{CHAT}/a2..{CHAT}/a2"


def test_hidden_messages_thoughts_code_and_tools_are_left_out() -> None:
    hidden = {"is_visually_hidden_from_conversation": True}
    context = {"content_type": "user_editable_context", "user_profile": "x"}
    thoughts = {"content_type": "thoughts", "thoughts": [{"summary": "s", "content": "c"}]}
    code = {"content_type": "code", "language": "sql", "text": "SELECT 1"}
    recap = {"content_type": "reasoning_recap", "content": "Thought for 5 s"}
    chat = gpt_chat(
        ROOT,
        gpt_node("s1", "You are helpful.", "root"),
        gpt_node("u0", context, "s1", metadata=hidden),
        gpt_node("u1", "question", "u0"),
        gpt_node("a1", thoughts, "u1", 1),
        gpt_node("a2", code, "a1", 2, recipient="python"),
        gpt_node("a3", "print(1)", "a2", 2, recipient="python"),
        gpt_node("t1", {"content_type": "execution_output", "text": "1"}, "a3", 3),
        gpt_node("s2", "mid-tree", "t1", 3),
        gpt_node("a4", recap, "s2", 4),
        gpt_node("a5", "answer", "a4", 5),
    )
    reading = read_records(chat)
    assert reading.texts == ["question", "answer"]
    assert (reading.bad, reading.unknown) == ([], [])
    assert "abandoned" not in reading.documents[0].meta


def test_what_was_spoken_is_kept_and_images_are_not() -> None:
    spoken = {"content_type": "audio_transcription", "text": "said aloud", "direction": "in"}
    image = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"}
    audio = {"content_type": "audio_asset_pointer"}
    chat = gpt_chat(
        ROOT,
        gpt_node("u1", parts(spoken, audio), "root"),
        gpt_node("u2", parts(image, "typed", None, {"content_type": "hologram"}), "u1", 1),
    )
    reading = read_records(chat)
    assert reading.texts == ["said aloud", "typed"]
    assert [item.kind for item in reading.unknown] == ["part hologram"]


def test_an_answer_reads_as_the_page_shows_it() -> None:
    cited = (
        'Go to \ue200entity\ue202["city","Kyoto","Japan"]\ue201'
        "\ue200cite\ue202turn0search1\ue201 now【4†source】."
    )
    chat = gpt_chat(ROOT, gpt_node("a1", cited, "root"))
    assert read_records(chat).texts == ["Go to Kyoto now."]


def test_missing_times_children_and_metadata_are_borne() -> None:
    bare = gpt_node("u1", "question", "root")
    del bare["children"], bare["message"]["metadata"]
    bare["message"]["create_time"] = None
    chat = gpt_chat(ROOT, bare, gpt_node("a1", "answer", "u1", 1))
    said = read_records(chat).said
    assert [u.text for u in said] == ["question", "answer"]
    assert said[0].at is None


def test_a_circle_of_parents_ends() -> None:
    chat = gpt_chat(gpt_node("u1", "one", "a1"), gpt_node("a1", "two", "u1"))
    assert sorted(read_records(chat).texts) == ["one", "two"]


def test_a_deep_conversation_is_read_without_recursion() -> None:
    nodes = [ROOT, gpt_node("u0", "0", "root")]
    nodes += [gpt_node(f"u{n}", f"{n}", f"u{n - 1}", n / 100) for n in range(1, 5_000)]
    assert read_records(gpt_chat(*nodes)).texts == [f"{n}" for n in range(5_000)]


def test_next_months_export_sends_what_is_new_and_what_was_edited() -> None:
    ledger = MemoryLedger()
    read_records(gpt_chat(*TALK[:3]), ledger=ledger)
    assert read_records(gpt_chat(*TALK), ledger=ledger).texts == TEXTS[2:]
    changed = gpt_chat(*TALK[:3], gpt_node("u2", "edited", "a1", 2), title="Decided")
    (document,) = read_records(changed, ledger=ledger).documents
    assert (document.title, [u.text for u in document.utterances]) == ("Decided", ["edited"])


def test_the_same_node_id_in_two_conversations_is_two_messages() -> None:
    ledger = MemoryLedger()
    read_records(gpt_chat(*TALK, key="one"), gpt_chat(*TALK, key="two"), ledger=ledger)
    assert len(ledger.ids) == 6


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ({"title": "x", "conversation_id": "1"}, "without messages"),
        ({"title": "x", "mapping": {}}, "without an id"),
        ({"id": "1", "mapping": []}, "not an object"),
        ({"id": "1", "mapping": {"a": 7}}, "a node that is not an object"),
        ({"id": "1", "mapping": {"a": {"message": 7}}}, "a message that is not an object"),
        ({"uuid": "1", "chat_messages": []}, "source claude-ai"),
        (7, "not a JSON object"),
    ],
)
def test_a_broken_record_is_named_and_the_rest_goes_on(broken: Any, reason: str) -> None:
    reading = read_records(broken, gpt_chat(*TALK))
    assert reading.texts == TEXTS
    (bad,) = reading.bad
    assert reason in bad.reason
    assert bad.place.endswith("conversations.json#1")


def test_a_file_that_was_cut_short_gives_what_is_whole(tmp_path: Path) -> None:
    data = json.dumps([gpt_chat(*TALK, key="one"), gpt_chat(*TALK, key="two")])
    path = tmp_path / "conversations.json"
    path.write_text(data[:-100], encoding="utf-8")
    reading = read(path)
    assert [document.native_id for document in reading.documents] == ["one"]
    assert "in the middle of this record" in reading.bad[0].reason


def test_what_is_not_there_or_not_ours_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        read(tmp_path / "nothing")
    photo = tmp_path / "photo.png"
    photo.write_bytes(b"x")
    assert "not an export of chatgpt" in read(photo).bad[0].reason


def test_a_conversation_made_to_fill_the_memory_is_refused_by_name() -> None:
    crowd = {str(n): None for n in range(100_001)}
    reading = read_records({"id": "1", "mapping": crowd}, {"id": "2", "x": [{}] * 400_001})
    assert "more than 100,000 messages" in reading.bad[0].reason
    assert "more than 400,000 objects" in reading.bad[1].reason


EXAMPLES = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
FULL = gpt_chat(
    ROOT,
    gpt_node("s1", "system", "root"),
    gpt_node("u1", parts("q", {"content_type": "audio_transcription", "text": "a"}), "s1"),
    gpt_node("a1", "answer", "u1", metadata={"attachments": [{"name": "x.txt"}]}),
)


@EXAMPLES
@given(st.data())
def test_records_with_any_field_turned_into_anything_are_read_to_their_end(
    data: st.DataObject,
) -> None:
    changed = mutate(FULL, data)
    ledger = MemoryLedger()
    reading = read_records(changed, gpt_chat(*TALK, key="good"), ledger=ledger)
    assert set(TEXTS) <= set(reading.texts)
    assert read_records(changed, gpt_chat(*TALK, key="good"), ledger=ledger).documents == []

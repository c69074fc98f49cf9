"""What a person said to claude.ai arrives once, whole, and follows the next export."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from connectors.base import ReadOptions
from connectors.claude_ai import ClaudeAiConnector
from context_engine.clock import ManualClock
from context_engine.errors import UsageError
from context_engine.events import Checkpoint, Role, SourceDocument
from context_engine.scopes import Scope
from support.archives import tar_of, write_zip
from support.exports import CHAT, Record, claude_chat, claude_message
from support.sources import AKI, mutate, read_source, write_json
from support.transcripts import NOW, MemoryLedger, Reading

CONNECTOR = ClaudeAiConnector(ManualClock(NOW))

TALK = (
    claude_message("h1", "Valkey or Redis?"),
    claude_message("a1", "Valkey, for its license.", "h1", 1),
    claude_message("h2", "決めた。Valkeyにする。", "a1", 2),
)


def read(*paths: Path, ledger: MemoryLedger | None = None, **options: Any) -> Reading:
    chosen = ReadOptions(**({"owner_name": "Aki"} | options)) if options else AKI
    return read_source(CONNECTOR, *paths, ledger=ledger, options=chosen)


def read_records(*records: Record, ledger: MemoryLedger | None = None) -> Reading:
    with tempfile.TemporaryDirectory() as folder:
        path = write_json(Path(folder) / "conversations.json", list(records))
        return read(path, ledger=ledger)


def test_a_conversation_keeps_its_words_speakers_times_title_and_address() -> None:
    reading = read_records(claude_chat(*TALK))
    (document,) = reading.documents
    assert (document.title, document.native_id) == ("Choosing a queue", CHAT)
    assert document.url == f"https://claude.ai/chat/{CHAT}"
    assert document.started is not None
    assert [(u.author, u.role.value, u.text) for u in document.utterances] == [
        ("Aki", "owner", "Valkey or Redis?"),
        ("assistant", "assistant", "Valkey, for its license."),
        ("Aki", "owner", "決めた。Valkeyにする。"),
    ]
    assert [u.at.isoformat()[:16] for u in document.utterances if u.at] == [
        "2026-10-05T09:00",
        "2026-10-05T09:01",
        "2026-10-05T09:02",
    ]


def test_the_same_export_as_folder_zip_tar_and_file_gives_everything_once(tmp_path: Path) -> None:
    data = json.dumps([claude_chat(*TALK)]).encode()
    ledger = MemoryLedger()
    plain = tmp_path / "a" / "conversations.json"
    plain.parent.mkdir()
    plain.write_bytes(data)
    assert len(read(plain, ledger=ledger).said) == 3
    zipped = write_zip(tmp_path / "data-2026-10-06-batch-0000.zip", {"conversations.json": data})
    assert read(zipped, ledger=ledger).documents == []
    tar = tmp_path / "export.tar.gz"
    tar.write_bytes(tar_of({"export/conversations.json": data}))
    assert read(tar, ledger=ledger).documents == []
    outer = write_zip(tmp_path / "all.zip", {"conversations-000.zip": zipped.read_bytes()})
    assert read(outer, ledger=ledger).documents == []
    assert read(tmp_path, ledger=ledger).documents == []
    assert len(read(tmp_path).said) == 3


def test_a_conversation_that_grew_sends_only_what_is_new(tmp_path: Path) -> None:
    ledger = MemoryLedger()
    read_records(claude_chat(*TALK[:2]), ledger=ledger)
    reading = read_records(claude_chat(*TALK), ledger=ledger)
    assert reading.texts == ["決めた。Valkeyにする。"]
    assert reading.documents[0].native_id == CHAT


def test_an_edited_message_is_sent_again_under_its_own_id() -> None:
    ledger = MemoryLedger()
    (first,) = read_records(claude_chat(TALK[0]), ledger=ledger).said
    edited = claude_message("h1", "Valkey or Redis, or neither?")
    (second,) = read_records(claude_chat(edited), ledger=ledger).said
    assert first.native_id == second.native_id
    assert second.text == "Valkey or Redis, or neither?"


def test_an_older_export_read_later_changes_nothing_but_adds_what_it_alone_holds() -> None:
    ledger = MemoryLedger()
    read_records(claude_chat(claude_message("h1", "new words")), ledger=ledger)
    older = claude_chat(
        claude_message("h1", "old words"),
        claude_message("h9", "since deleted", minute=5),
        name="Old title",
        updated_at="2026-10-05T09:30:00Z",
    )
    reading = read_records(older, ledger=ledger)
    assert reading.texts == ["since deleted"]
    assert [document.title for document in reading.documents] == [""]
    assert read_records(older, ledger=ledger).documents == []


def test_two_exports_in_one_folder_give_each_message_once(tmp_path: Path) -> None:
    write_json(tmp_path / "1" / "conversations.json", [claude_chat(*TALK[:2])])
    write_json(tmp_path / "2" / "conversations.json", [claude_chat(*TALK)])
    assert len(read(tmp_path).said) == 3


def test_a_new_title_reaches_its_note() -> None:
    ledger = MemoryLedger()
    read_records(claude_chat(*TALK), ledger=ledger)
    renamed = claude_chat(*TALK, name="Queue decided")
    assert [each.title for each in read_records(renamed, ledger=ledger).documents] == [
        "Queue decided"
    ]


def test_branches_are_all_kept_in_order_and_the_abandoned_ones_are_named() -> None:
    reading = read_records(
        claude_chat(
            claude_message("a3", "second answer", "h1", 5),
            claude_message("a2", "first answer", "h1", 1),
            claude_message("h1", "question"),
            claude_message("h2", "thanks", "a3", 6),
        )
    )
    assert reading.texts == ["question", "first answer", "second answer", "thanks"]
    assert reading.documents[0].meta["abandoned"] == f"{CHAT}/a2..{CHAT}/a2"


def test_an_edited_first_question_is_a_branch_too() -> None:
    chat = claude_chat(claude_message("h1", "typo"), claude_message("h2", "question", minute=1))
    assert read_records(chat).documents[0].meta["abandoned"] == f"{CHAT}/h1..{CHAT}/h1"


def test_question_and_answer_of_the_same_instant_stay_in_order() -> None:
    chat = claude_chat(claude_message("a1", "answer", "h1"), claude_message("h1", "question"))
    assert read_records(chat).texts == ["question", "answer"]


def test_a_parent_that_is_its_own_child_ends() -> None:
    chat = claude_chat(claude_message("h1", "one", "a1"), claude_message("a1", "two", "h1", 1))
    assert sorted(read_records(chat).texts) == ["one", "two"]


def test_blocks_go_before_the_flat_text_and_what_tools_said_is_left_out() -> None:
    placeholder = "```\nThis block is not supported on your current device yet.\n```"
    blocks = [
        {"type": "thinking", "thinking": "secret thoughts"},
        {"type": "text", "text": "spoken"},
        {"type": "tool_use", "name": "repl", "input": {"code": "x"}},
        {"type": "tool_result", "content": [{"type": "text", "text": "result"}]},
        {"type": "voice_note", "title": "", "text": "dictated"},
        {"type": "hologram"},
    ]
    reading = read_records(
        claude_chat(
            claude_message("a1", f"spoken {placeholder}", content=blocks),
            claude_message("a2", f"flat {placeholder}", content=[], minute=1),
            claude_message("a3", "   ", content=[], minute=2),
        )
    )
    assert reading.texts == ["spoken\n\ndictated", "flat"]
    assert [item.kind for item in reading.unknown] == ["block hologram"]


def test_text_of_attachments_is_kept_as_somebody_elses_words() -> None:
    attachment = {"file_name": "main.rs", "extracted_content": "fn main() {}"}
    message = claude_message(
        "h1", "why?", attachments=[attachment], files=[{"file_name": "shot.png"}]
    )
    reading = read_records(claude_chat(message))
    assert [(u.author, u.role, u.text) for u in reading.said] == [
        ("main.rs", Role.OTHER, "fn main() {}"),
        ("Aki", Role.OWNER, "why?"),
    ]
    assert reading.documents[0].meta["files"] == "main.rs, shot.png"


def test_messages_of_old_exports_without_ids_get_stable_ones() -> None:
    old = {"sender": "human", "text": "hello", "created_at": "2024-03-01T12:00:01Z"}
    ledger = MemoryLedger()
    assert read_records(claude_chat(old), ledger=ledger).texts == ["hello"]
    moved = claude_chat({**old, "text": "earlier", "created_at": "2024-03-01T11:00:00Z"}, old)
    assert read_records(moved, ledger=ledger).texts == ["earlier"]


def test_projects_give_their_name_to_conversations_and_their_documents_to_search(
    tmp_path: Path,
) -> None:
    project = {
        "uuid": "p1",
        "name": "Shop",
        "description": "The web shop",
        "prompt_template": "Answer in Japanese.",
        "docs": [{"uuid": "d1", "filename": "brief.md", "content": "Valkey is chosen."}],
        "created_at": "2026-10-01T00:00:00Z",
        "updated_at": "2026-10-01T00:00:00Z",
    }
    path = write_zip(
        tmp_path / "export.zip",
        {
            "conversations.json": json.dumps([claude_chat(*TALK, project_uuid="p1")]).encode(),
            "projects/p1.json": json.dumps(project).encode(),
            "users.json": b"[]",
        },
    )
    by_id = {document.native_id: document for document in read(path).documents}
    assert by_id[CHAT].project == "Shop"
    shown = by_id["project/p1"]
    assert (shown.title, shown.url) == ("Shop", "https://claude.ai/project/p1")
    assert [(u.role.value, u.text) for u in shown.utterances] == [
        ("owner", "The web shop"),
        ("owner", "Answer in Japanese."),
        ("other", "Valkey is chosen."),
    ]


def test_design_chats_and_memory_are_read(tmp_path: Path) -> None:
    inner = {"role": "user", "content": "Make it blue", "authorAccountUuid": "me"}
    design = {
        "uuid": "d1",
        "title": "Header",
        "project": {"uuid": "p1", "name": "Shop"},
        "messages": [
            {"uuid": "m1", "role": "user", "created_at": "2026-10-01T00:00:00Z", "content": inner},
            {
                "uuid": "m2",
                "role": "user",
                "content": {**inner, "content": "checked", "pill": True},
            },
        ],
    }
    write_json(tmp_path / "design_chats" / "d1.json", design)
    memory = {"account_uuid": "acct", "conversations_memory": "Aki runs a shop.",
              "memory_files": [{"path": "/areas/x.md", "content": "Prefers Valkey."}]}  # fmt: skip
    write_json(tmp_path / "memories" / "acct.json", memory)
    reading = read(tmp_path)
    by_id = {document.native_id: document for document in reading.documents}
    assert by_id["d1"].project == "Shop"
    assert [(u.author, u.text) for u in by_id["d1"].utterances] == [("Aki", "Make it blue")]
    memory_said = by_id["memory/acct"].utterances
    assert {u.text for u in memory_said} == {"Aki runs a shop.", "Prefers Valkey."}
    assert {u.role for u in memory_said} == {Role.ASSISTANT}


def test_in_a_design_chat_of_several_persons_only_the_owners_words_are_the_owners() -> None:
    def message(account: str, name: str) -> Record:
        return {"uuid": name, "role": "user", "created_at": "2026-10-01T00:00:00Z",
                "content": {"content": f"by {name}", "authorAccountUuid": account,
                            "authorName": name}}  # fmt: skip

    chat = {"uuid": "d1", "title": "x", "messages": [message("1", "Aki"), message("2", "Kim")]}
    assert [(u.author, u.role.value) for u in read_records(chat).said] == [
        ("Aki", "owner"),
        ("Kim", "other"),
    ]


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ({"uuid": "x", "name": "Broken"}, "without messages"),
        ({"chat_messages": []}, "without an id"),
        ({"uuid": "x", "chat_messages": 7}, "without messages"),
        (claude_chat({"sender": "human"} | {"content": [7]}), "not an object with a type"),
        ({"mapping": {}}, "source chatgpt"),
        ("text", "not a JSON object"),
    ],
)
def test_a_broken_record_is_named_and_the_rest_goes_on(broken: Any, reason: str) -> None:
    reading = read_records(broken, claude_chat(*TALK, uuid="good"))
    assert reading.texts[-3:] == [message["text"] for message in TALK]
    (bad,) = reading.bad
    assert reason in bad.reason
    assert bad.place.endswith("conversations.json#1")


def test_unrelated_files_are_counted_and_a_named_one_is_refused(tmp_path: Path) -> None:
    write_json(tmp_path / "package.json", {"name": "x"})
    (tmp_path / "photo.png").write_bytes(b"x")
    reading = read(tmp_path)
    assert sorted(item.kind for item in reading.unknown) == ["file .json", "file .png"]
    (bad,) = read(tmp_path / "photo.png").bad
    assert "not an export of claude-ai" in bad.reason
    with pytest.raises(UsageError):
        read(tmp_path / "nothing")


def test_a_hostile_member_costs_only_itself(tmp_path: Path) -> None:
    good = json.dumps([claude_chat(*TALK)]).encode()
    path = write_zip(
        tmp_path / "x.zip", {"../conversations.json": b"[]", "conversations.json": good}
    )
    reading = read(path)
    assert len(reading.said) == 3
    assert "leads out" in reading.bad[0].reason


def test_scope_and_project_of_the_caller_win() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = write_json(Path(folder) / "conversations.json", [claude_chat(*TALK)])
        (document,) = read(path, scope=Scope.WORK, project="shop").documents
    assert (document.scope, document.project) == (Scope.WORK, "shop")


def test_a_kill_anywhere_loses_nothing_and_sends_nothing_twice(tmp_path: Path) -> None:
    chats = [claude_chat(*TALK, uuid=f"chat-{n}") for n in range(450)]
    path = write_json(tmp_path / "conversations.json", chats)
    ledger = MemoryLedger()
    stream = CONNECTOR.read([path], ledger, AKI)
    pending, said = [], 0
    for item in stream:
        if isinstance(item, SourceDocument):
            pending.append(item)
        elif isinstance(item, Checkpoint):
            ledger.commit(pending, item)
            said += sum(len(document.utterances) for document in pending)
            pending = []
        if said > 900:
            break
    rest = read(path, ledger=ledger)
    assert said + len(rest.said) == 450 * 3
    assert read(path, ledger=ledger).documents == []


def test_a_very_long_message_and_a_very_long_conversation_are_cut_into_parts() -> None:
    chat = claude_chat(
        *(claude_message(f"h{n}", f"{n} " + "あ" * 90_000, minute=n) for n in range(4)),
        claude_message("h9", "長" * 400_000, minute=9),
    )
    reading = read_records(chat)
    assert max(len(u.text) for u in reading.said) <= 150_000
    assert [document.part for document in reading.documents][:3] == [1, 2, 3]
    assert sum(len(u.text) for u in reading.said) == 4 * 90_002 + 400_000


EXAMPLES = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
FULL = claude_chat(
    claude_message(
        "h1",
        "q",
        attachments=[{"file_name": "a", "extracted_content": "b"}],
        files=[{"file_name": "c"}],
    ),
    claude_message("a1", "a", "h1", content=[{"type": "text", "text": "a"}, {"type": "thinking"}]),
    project={"uuid": "p", "name": "n"},
)
DESIGN_MESSAGE = {"content": "x", "authorAccountUuid": "1"}
DESIGN = {
    "uuid": "d",
    "title": "t",
    "messages": [{"uuid": "m", "role": "user", "content": DESIGN_MESSAGE}],
}
PROJECT = {"uuid": "p", "name": "n", "docs": [{"uuid": "d", "filename": "f", "content": "c"}],
           "prompt_template": "t", "description": "d"}  # fmt: skip
MEMORY = {"account_uuid": "a", "conversations_memory": "m", "project_memories": {"p": "m"},
          "memory_files": [{"path": "/a", "content": "c"}]}  # fmt: skip


@EXAMPLES
@given(st.sampled_from([FULL, DESIGN, PROJECT, MEMORY]), st.data())
def test_records_with_any_field_turned_into_anything_are_read_to_their_end(
    record: Record, data: st.DataObject
) -> None:
    changed = mutate(record, data)
    ledger = MemoryLedger()
    reading = read_records(changed, claude_chat(*TALK, uuid="good"), ledger=ledger)
    assert {message["text"] for message in TALK} <= set(reading.texts)
    assert read_records(changed, claude_chat(*TALK, uuid="good"), ledger=ledger).documents == []

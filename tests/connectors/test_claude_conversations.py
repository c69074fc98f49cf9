"""One conversation is one document that grows; nothing is collected twice or under a wrong name."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from connectors.base import EVENT_LIMIT, PART_LIMIT, ReadOptions
from connectors.claude_conversation import EVENT_UTTERANCES
from context_engine.events import Ref, Role
from context_engine.scopes import Scope, ScopeRule
from support.transcripts import (
    CWD,
    SESSION,
    SLUG,
    MemoryLedger,
    append,
    assistant,
    at,
    lines,
    read,
    record,
    tool_result,
    tool_use,
    user,
    uuid,
    write,
)


@pytest.fixture
def projects(tmp_path: Path) -> Path:
    return tmp_path / "projects"


@pytest.fixture
def session(projects: Path) -> Path:
    return projects / SLUG / f"{SESSION}.jsonl"


def test_what_person_and_assistant_said_is_kept_with_author_role_time_and_id(session: Path) -> None:
    write(session, [user(0, "Valkeyにしよう。"), assistant(1, "了解しました。")])
    (document,) = read(session.parents[1]).documents
    assert document.native_id == f"{SLUG}/{SESSION}.jsonl"
    assert (document.source, document.part, document.started) == ("claude", 1, at(0))
    assert [
        (item.native_id, item.author, item.role, item.at, item.text) for item in document.utterances
    ] == [
        (uuid(0), "aki", Role.OWNER, at(0), "Valkeyにしよう。"),
        (uuid(1), "assistant", Role.ASSISTANT, at(1), "了解しました。"),
    ]


def test_scope_and_project_come_from_the_folder_the_session_was_started_in(session: Path) -> None:
    write(session, [user(0, "a"), user(1, "b", cwd="/srv/elsewhere")])
    rules = (ScopeRule("/home/aki/work/**", Scope.WORK),)
    (document,) = read(session, options=ReadOptions(scope_rules=rules)).documents
    assert (document.scope, document.project) == (Scope.WORK, "shop")
    assert document.meta["cwd"] == "/srv/elsewhere"
    (document,) = read(
        session, options=ReadOptions(scope=Scope.PUBLIC, project="other", scope_rules=rules)
    ).documents
    assert (document.scope, document.project) == (Scope.PUBLIC, "other")


def test_session_branch_version_and_model_are_kept(session: Path) -> None:
    write(session, [user(0, "a"), assistant(1, "b", gitBranch="feature/x")])
    (document,) = read(session).documents
    assert dict(document.meta) == {
        "session": SESSION,
        "git_branch": "feature/x",
        "version": "2.1.266",
        "cwd": CWD,
        "model": "claude-opus-5",
    }


def test_tools_thinking_and_images_are_left_out(session: Path) -> None:
    picture = {"type": "image", "source": {"type": "base64", "data": "QUJD" * 300_000}}
    write(
        session,
        [
            user(0, [{"type": "text", "text": "見て"}, picture]),
            assistant(1, [{"type": "thinking", "thinking": "secret thought", "signature": "x"}]),
            assistant(2, [tool_use("Bash", command="cat secret.txt")]),
            user(3, [tool_result("we decided to leak this")], toolUseResult={"stdout": "leak"}),
            assistant(4, "見ました。"),
        ],
    )
    reading = read(session)
    assert reading.texts == ["見て", "見ました。"]
    assert (reading.bad, reading.unknown) == ([], [])


@pytest.mark.parametrize(
    "flags",
    [
        {"isMeta": True},
        {"isCompactSummary": True, "isVisibleInTranscriptOnly": True},
        {"isVisibleInTranscriptOnly": True},
        {"turnCompanion": True},
        {"origin": {"kind": "task-notification"}},
        {"origin": {"kind": "peer", "fromSession": "other"}},
        {"turnOrigin": "scheduled"},
    ],
)
def test_what_was_not_typed_by_a_person_is_left_out(
    session: Path, flags: dict[str, object]
) -> None:
    write(session, [user(0, "typed", origin={"kind": "human"}), user(1, "not typed", **flags)])
    reading = read(session)
    assert reading.texts == ["typed"]
    assert reading.unknown == []


def test_an_origin_that_is_not_known_is_counted_and_never_the_owner(session: Path) -> None:
    write(session, [user(0, "from elsewhere", origin={"kind": "carrier-pigeon"})])
    reading = read(session)
    assert reading.texts == []
    assert [item.kind for item in reading.unknown] == ["origin/carrier-pigeon"]


def test_api_errors_in_the_assistants_name_are_left_out(session: Path) -> None:
    write(
        session,
        [
            user(0, "hello"),
            assistant(1, "API Error: 529", isApiErrorMessage=True),
            assistant(2, "No answer", message={"model": "<synthetic>"}),
        ],
    )
    assert read(session).texts == ["hello"]


def test_only_what_is_new_in_a_growing_session_is_yielded(session: Path) -> None:
    ledger = MemoryLedger()
    write(session, [user(0, "first"), assistant(1, "answer")])
    assert read(session, ledger=ledger).texts == ["first", "answer"]
    assert read(session, ledger=ledger).checkpoints == []
    append(session, lines([user(2, "second")]))
    reading = read(session, ledger=ledger)
    assert reading.texts == ["second"]
    assert reading.documents[0].started == at(0)
    assert reading.documents[0].title == "first"


def test_a_half_written_record_is_read_when_it_is_whole(session: Path) -> None:
    ledger = MemoryLedger()
    data = lines([user(0, "first"), user(1, "二つ目の依頼")])
    session.parent.mkdir(parents=True)
    session.write_bytes(data[:-20])
    assert read(session, ledger=ledger).texts == ["first"]
    session.write_bytes(data)
    reading = read(session, ledger=ledger)
    assert (reading.texts, reading.bad) == (["二つ目の依頼"], [])


def test_a_session_resumed_in_another_file_adds_only_what_is_new(projects: Path) -> None:
    first = write(projects / SLUG / "b.jsonl", [user(0, "old"), assistant(1, "old answer")])
    copied = [
        user(0, "old, written differently", sessionId="other", gitBranch="feature"),
        assistant(1, "old answer", sessionId="other"),
        user(2, "new", sessionId="other"),
    ]
    ledger = MemoryLedger()
    assert read(first, ledger=ledger).texts == ["old", "old answer"]
    write(projects / SLUG / "a.jsonl", copied)
    reading = read(projects, ledger=ledger)
    assert [(item.native_id, item.text) for item in reading.said] == [(uuid(2), "new")]


def test_within_one_run_the_older_file_keeps_what_both_hold(projects: Path) -> None:
    write(projects / SLUG / "z-first.jsonl", [user(0, "old")])
    write(projects / SLUG / "a-resumed.jsonl", [user(0, "old"), user(1, "new")])
    reading = read(projects)
    assert {name: [u.text for _, u in said] for name, said in reading.by_document.items()} == {
        f"{SLUG}/z-first.jsonl": ["old"],
        f"{SLUG}/a-resumed.jsonl": ["new"],
    }


def test_a_uuid_repeated_in_one_file_adds_nothing(session: Path) -> None:
    write(session, [user(0, "once"), assistant(1, "answer"), user(0, "once")])
    assert read(session).texts == ["once", "answer"]


def test_ids_that_only_a_session_can_tell_apart_do_not_hide_another_sessions_words(
    projects: Path,
) -> None:
    for name, text in (("a", "one"), ("b", "two")):
        entry = {"type": "user", "uuid": "msg-001", "message": {"content": text}}
        write(
            projects / f"{name}.jsonl", [entry | {"timestamp": f"2026-11-02T09:00:00.{len(text)}Z"}]
        )
    write(projects / "c.jsonl", [entry | {"timestamp": "2026-11-02T10:00:00Z"}])
    write(projects / "d.jsonl", [entry | {"timestamp": "2026-11-02T10:00:00Z", "sessionId": "x"}])
    assert sorted(read(projects).texts) == ["one", "two"]


def test_records_without_an_id_get_one_that_stays(session: Path) -> None:
    bare = {"type": "user", "timestamp": "2026-11-02T09:00:00Z", "message": {"content": "hello"}}
    write(session, [bare])
    (first,) = read(session).said
    moved = write(session.with_name("moved.jsonl"), [{"type": "summary", "summary": "x"}, bare])
    (second,) = read(moved).said
    assert first.native_id == second.native_id


def test_blocks_of_one_api_message_are_consecutive_and_its_rewrites_add_only_the_rest(
    session: Path,
) -> None:
    same = {"id": "msg_1"}
    write(
        session,
        [
            assistant(0, "I will look at the queue.", message=same, requestId="req_1"),
            assistant(1, [tool_use("Read", file_path="x")], message=same, requestId="req_1"),
            assistant(2, "I will look at the queue. Then fix it.", message=same, requestId="req_1"),
            assistant(3, "I will look at the queue.", message=same, requestId="req_1"),
            assistant(4, "I will look at the queue.", message={"id": "msg_2"}),
        ],
    )
    assert read(session).texts == [
        "I will look at the queue.",
        "Then fix it.",
        "I will look at the queue.",
    ]


def test_everything_said_before_a_rewind_is_kept_and_flagged(session: Path) -> None:
    write(
        session,
        [
            user(0, "start"),
            assistant(1, "ready"),
            user(2, "go left"),
            assistant(3, "went left"),
            user(4, "go right", parentUuid=uuid(1)),
            assistant(5, "went right"),
        ],
    )
    reading = read(session)
    assert reading.texts == ["start", "ready", "go left", "went left", "go right", "went right"]
    assert reading.documents[0].meta["abandoned"] == f"{uuid(2)}..{uuid(3)}"


def test_a_prompt_with_pasted_text_in_it_is_no_rewind(session: Path) -> None:
    paste = '<pasted_content id="1">log</pasted_content id="1">'
    write(session, [assistant(0, "hi"), user(1, f"look\n{paste}\nwhy?"), user(1, "look")])
    (document,) = read(session).documents
    assert [item.role.value for item in document.utterances[1:]] == ["owner", "other", "owner"]
    assert [item.native_id for item in document.utterances[1:]] == [
        uuid(1),
        f"{uuid(1)}.2",
        f"{uuid(1)}.3",
    ]
    assert "abandoned" not in document.meta


def test_compaction_starts_no_new_document_and_its_summary_is_nobodys_words(session: Path) -> None:
    write(
        session,
        [
            user(0, "before"),
            record(
                "system", 1, subtype="compact_boundary", parentUuid=None, logicalParentUuid=uuid(0)
            ),
            user(2, "Summary of what happened", isCompactSummary=True),
            user(3, "This session is being continued from a previous conversation that ran out."),
            user(4, "after"),
        ],
    )
    (document,) = read(session).documents
    assert [item.text for item in document.utterances] == ["before", "after"]


def test_a_chain_with_a_cycle_ends(session: Path) -> None:
    write(session, [user(0, "a", parentUuid=uuid(1)), user(1, "b", parentUuid=uuid(0))])
    assert read(session).texts == ["a", "b"]


def test_what_was_typed_while_the_assistant_worked_is_the_owners(session: Path) -> None:
    def queued(number: int, prompt: object, **fields: object) -> dict[str, object]:
        attachment = {"type": "queued_command", "prompt": prompt, "commandMode": "prompt"}
        return record("attachment", number, attachment=attachment | fields)

    write(
        session,
        [
            user(0, "go"),
            {"type": "queue-operation", "operation": "remove", "content": "先にテストを見て"},
            queued(1, "先にテストを見て", origin={"kind": "human"}),
            {"type": "queue-operation", "operation": "remove", "content": "先にテストを見て"},
            queued(2, [{"type": "text", "text": "and the docs"}]),
            queued(3, "done", commandMode="task-notification"),
            queued(4, "from a peer", origin={"kind": "peer"}),
            record("attachment", 5, attachment={"type": "hook_success", "content": "hook output"}),
        ],
    )
    said = read(session).said
    # the first stands in the queue before any attachment told that this version writes them
    assert [item.text for item in said][-2:] == ["先にテストを見て", "and the docs"]
    assert {item.role for item in said} == {Role.OWNER}


def test_before_attachments_existed_the_queue_holds_what_was_typed_meanwhile(session: Path) -> None:
    def queue(operation: str, content: object) -> dict[str, object]:
        return {
            "type": "queue-operation",
            "operation": operation,
            "timestamp": "2026-11-02T09:00:01Z",
            "content": content,
            "sessionId": SESSION,
        }

    write(
        session,
        [
            user(0, "go"),
            queue("enqueue", "use two workers"),
            queue("remove", [{"type": "text", "text": "use two workers"}]),
            queue("enqueue", "next"),
            queue("dequeue", None),
            user(1, "next"),
        ],
    )
    assert read(session).texts == ["go", "use two workers", "next"]


def test_edited_files_become_places_in_the_repository(session: Path) -> None:
    write(
        session,
        [
            user(0, "fix it"),
            assistant(1, [tool_use("Edit", file_path=f"{CWD}/src/queue.py", old_string="a")]),
            assistant(2, [tool_use("Write", file_path="/etc/hosts")]),
            assistant(3, [tool_use("Edit", file_path=f"{CWD}/src/queue.py")]),
            assistant(4, [tool_use("NotebookEdit", notebook_path=f"{CWD}/a.ipynb")]),
            assistant(5, [tool_use("Read", file_path=f"{CWD}/only-read.py")]),
            assistant(6, [tool_use("MultiEdit", file_path=7)]),
            assistant(7, "Done."),
        ],
    )
    (document,) = read(session).documents
    assert document.refs == (
        Ref(CWD, "src/queue.py"),
        Ref(CWD, "/etc/hosts"),
        Ref(CWD, "a.ipynb"),
    )


def test_files_edited_at_the_end_of_a_run_go_with_the_next_words(session: Path) -> None:
    ledger = MemoryLedger()
    edit = assistant(1, [tool_use("Write", file_path=f"{CWD}/a.py")])
    write(session, [user(0, "go"), edit])
    assert read(session, ledger=ledger).documents[0].refs == (Ref(CWD, "a.py"),)
    append(session, lines([assistant(2, [tool_use("Write", file_path=f"{CWD}/b.py")])]))
    assert read(session, ledger=ledger).documents == []
    append(session, lines([assistant(3, "done")]))
    assert read(session, ledger=ledger).documents[0].refs == (Ref(CWD, "b.py"),)


def test_a_chosen_title_goes_before_a_generated_one_and_applies_to_what_follows(
    session: Path,
) -> None:
    ledger = MemoryLedger()
    write(session, [user(0, "Why is the queue slow? It was fast."), assistant(1, "Let me look.")])
    assert read(session, ledger=ledger).documents[0].title == "Why is the queue slow?"
    append(session, lines([{"type": "ai-title", "aiTitle": "Slow queue"}, user(2, "b")]))
    assert read(session, ledger=ledger).documents[0].title == "Slow queue"
    titles = [
        {"type": "custom-title", "customTitle": "遅いキュー"},
        {"type": "ai-title", "aiTitle": "x"},
    ]
    append(session, lines([*titles, user(3, "c")]))
    assert read(session, ledger=ledger).documents[0].title == "遅いキュー"


def test_a_summary_names_the_session_only_when_it_is_about_it(session: Path) -> None:
    other = {"type": "summary", "summary": "Another session", "leafUuid": uuid(99)}
    own = {"type": "summary", "summary": "This session", "leafUuid": uuid(1)}
    write(session, [other, user(0, "hello"), assistant(1, "hi")])
    assert read(session).documents[0].title == "hello"
    append(session, lines([other, own, other]))
    assert read(session).documents[0].title == "This session"


def test_inline_subagents_are_documents_of_their_own_that_name_their_parent(session: Path) -> None:
    inside: dict[str, Any] = {"isSidechain": True}
    write(
        session,
        [
            user(0, "delegate"),
            user(1, "Find the bug.", parentUuid=None, **inside),
            assistant(2, "Looking.", **inside),
            user(3, [tool_result("…")], **inside),
            assistant(4, "Found it.", **inside),
            user(5, "Write the docs.", parentUuid=None, **inside),
            assistant(6, "Written.", **inside),
            assistant(7, "Looked again.", parentUuid=uuid(4), **inside),
            assistant(8, "Both are done.", parentUuid=uuid(0)),
        ],
    )
    reading = read(session)
    parent = f"{SLUG}/{SESSION}.jsonl"
    assert {name: [u.text for _, u in said] for name, said in reading.by_document.items()} == {
        parent: ["delegate", "Both are done."],
        f"{parent}#{uuid(1)}": ["Find the bug.", "Looking.", "Found it.", "Looked again."],
        f"{parent}#{uuid(5)}": ["Write the docs.", "Written."],
    }
    agents = [document for document in reading.documents if "#" in document.native_id]
    assert {document.meta["parent"] for document in agents} == {parent}
    assert {item.role for document in agents for item in document.utterances} == {Role.ASSISTANT}
    assert {document.title for document in agents} == {"Find the bug.", "Write the docs."}


@pytest.mark.parametrize(
    "moment",
    ["0001-01-01T00:00:00+14:00", "1970-01-01T00:00:00Z", "2999-01-01", "yesterday", 7, [], 1e300],
)
def test_a_time_that_cannot_be_is_no_time(session: Path, moment: object) -> None:
    write(session, [user(0, "hello", timestamp=moment)])
    (item,) = read(session).said
    assert item.at is None


def test_times_are_utc_whatever_the_source_writes(session: Path) -> None:
    write(
        session,
        [
            user(0, "a", timestamp="2026-11-02T18:00:00+09:00"),
            user(1, "b", timestamp="2026-11-02T09:00:00"),
            user(2, "c", timestamp=1_793_610_000_000),
        ],
    )
    assert {item.at for item in read(session).said} == {datetime(2026, 11, 2, 9, tzinfo=UTC)}


def test_a_long_conversation_falls_into_bounded_parts_and_events(session: Path) -> None:
    text = "長い話。\n" * 8_000
    count = 12
    write(session, [user(number, f"{number} {text}") for number in range(count)])
    reading = read(session)
    parts: dict[int, int] = {}
    for document in reading.documents:
        size = sum(len(item.text) for item in document.utterances)
        assert size <= EVENT_LIMIT
        parts[document.part] = parts.get(document.part, 0) + size
    assert max(parts.values()) <= PART_LIMIT
    assert sorted(parts) == list(range(1, len(parts) + 1))
    assert len(reading.said) == count


def test_one_message_longer_than_a_part_is_cut_at_line_ends(session: Path) -> None:
    text = "\n".join(f"line {number} of a pasted log" for number in range(20_000))
    write(session, [user(0, text), user(1, "what is wrong?")])
    reading = read(session)
    assert [item.native_id for item in reading.said][:2] == [uuid(0), f"{uuid(0)}~2"]
    assert "".join(reading.texts[:-1]) == text
    assert all(len(item.text) <= EVENT_LIMIT for item in reading.said)
    assert read(session, ledger=MemoryLedger()).by_document == reading.by_document


def test_very_many_short_messages_make_bounded_events(session: Path) -> None:
    write(session, [user(number, "はい") for number in range(EVENT_UTTERANCES * 2 + 1)])
    reading = read(session)
    assert [len(document.utterances) for document in reading.documents] == [500, 500, 1]
    assert len({document.event_id for document in reading.documents}) == 3


def test_parts_are_the_same_when_half_of_it_was_sent_before(session: Path) -> None:
    ledger = MemoryLedger()
    records = [user(number, f"{number} " + "x" * 40_000) for number in range(12)]
    whole = read(write(session, records)).by_document
    write(session, records[:5])
    first = read(session, ledger=ledger).by_document
    append(session, lines(records[5:]))
    second = read(session, ledger=ledger).by_document
    (name,) = whole
    assert first[name] + second[name] == whole[name]


def test_a_replaced_session_is_read_again_and_adds_only_what_is_new(session: Path) -> None:
    ledger = MemoryLedger()
    write(session, [user(0, "a"), user(1, "b"), user(2, "c")])
    read(session, ledger=ledger)
    write(session, [user(1, "b"), user(3, "d")])
    assert read(session, ledger=ledger).texts == ["d"]
    session.write_bytes(b"")
    assert read(session, ledger=ledger).texts == []
    write(session, [user(4, "e")])
    assert read(session, ledger=ledger).texts == ["e"]


def test_a_run_that_is_killed_anywhere_is_taken_up_without_loss_or_repetition(
    session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("connectors.claude.CHECKPOINT_BYTES", 2_000)
    texts = [f"message {number} " + "y" * 100 for number in range(60)]
    write(session, [user(number, text) for number, text in enumerate(texts)])
    total = len(read(session).checkpoints) + len(read(session).documents)
    for stop_after in range(1, total):
        ledger = MemoryLedger()
        read(session, ledger=ledger, stop_after=stop_after)
        committed = set(ledger.ids)
        rest = read(session, ledger=ledger)
        assert len(committed) + len(rest.said) == len(texts)
        assert ledger.ids == {uuid(number) for number in range(60)}


def test_a_checkpoint_covers_what_came_before_it_and_comes_often(
    session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("connectors.claude.CHECKPOINT_BYTES", 10_000)
    write(session, [user(number, "z" * 1_000) for number in range(100)])
    ledger = MemoryLedger()
    reading = read(session, ledger=ledger)
    assert len(reading.checkpoints) >= 10
    assert ledger.asked <= len(reading.documents) + 1, "ids are looked up in batches"
    assert len(str(dict(reading.checkpoints[-1].state))) < 20_000


def test_progress_adds_up_to_the_bytes_of_the_run(projects: Path, session: Path) -> None:
    seen: list[tuple[int, int]] = []
    write(session, [user(0, "a"), assistant(1, "b")])
    write(projects / SLUG / "c.jsonl", [user(2, "c")])
    (projects / SLUG / "odd.bin").write_bytes(b"x" * 100)

    def progress(read: int, total: int, place: str = "") -> None:
        assert place
        seen.append((read, total))

    options = ReadOptions(progress=progress)
    ledger = MemoryLedger()
    for _ in range(2):
        seen.clear()
        read(projects, ledger=ledger, options=options)
        total = sum(path.stat().st_size for path in projects.rglob("*.*"))
        assert sum(size for size, _ in seen) == total
        assert {each for _, each in seen} == {total}

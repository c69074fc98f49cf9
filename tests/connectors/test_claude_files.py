"""Which files are read, under which names, and what is said about the others."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from connectors.base import ReadOptions
from connectors.claude_layout import native_id, slug_of
from context_engine.errors import UsageError
from context_engine.events import Role
from context_engine.scopes import Scope, ScopeRule
from support.transcripts import (
    CWD,
    SESSION,
    SLUG,
    MemoryLedger,
    assistant,
    read,
    record,
    user,
    write,
)

WORK = ReadOptions(scope_rules=(ScopeRule("/home/aki/work/**", Scope.WORK),))


@pytest.fixture
def projects(tmp_path: Path) -> Path:
    return tmp_path / "projects"


@pytest.fixture
def folder(projects: Path) -> Path:
    return projects / SLUG


def test_a_document_has_one_name_whichever_path_is_given(projects: Path, folder: Path) -> None:
    session = write(folder / f"{SESSION}.jsonl", [user(0, "hello")])
    names = {
        document.native_id
        for path in (projects.parent, projects, folder, session)
        for document in read(path).documents
    }
    assert names == {f"{SLUG}/{SESSION}.jsonl"}


def test_a_backup_goes_on_where_the_original_was_left(projects: Path, tmp_path: Path) -> None:
    ledger = MemoryLedger()
    write(projects / SLUG / "a.jsonl", [user(0, "first")])
    read(projects, ledger=ledger)
    backup = tmp_path / "backup-2026-12"
    write(backup / SLUG / "a.jsonl", [user(0, "first"), user(1, "second")])
    (document,) = read(backup, ledger=ledger).documents
    assert (document.native_id, document.utterances[0].text) == (f"{SLUG}/a.jsonl", "second")


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/home/aki/.claude/projects/-home-aki/s.jsonl", "-home-aki/s.jsonl"),
        ("/home/aki/.claude/projects/C--Users-aki/s.jsonl", "C--Users-aki/s.jsonl"),
        ("/x/projects/plain/run/chat.jsonl", "plain/run/chat.jsonl"),
        ("/x/-a-b/s/subagents/agent-1.jsonl", "-a-b/s/subagents/agent-1.jsonl"),
        ("/x/exports/chat.jsonl", "x/exports/chat.jsonl"),
    ],
)
def test_names_begin_below_the_projects_folder(path: str, name: str) -> None:
    assert native_id(Path(path)) == name


def test_a_subagent_beside_its_session_names_its_parent(folder: Path) -> None:
    write(folder / f"{SESSION}.jsonl", [user(0, "delegate")])
    write(
        folder / "agent-3430b97e.jsonl",
        [
            user(1, "Find it.", isSidechain=True, cwd="/srv/elsewhere"),
            assistant(2, "Found.", isSidechain=True, cwd="/srv/elsewhere"),
        ],
    )
    agent, parent = sorted(read(folder, options=WORK).documents, key=lambda each: -len(each.meta))
    assert agent.native_id == f"{SLUG}/agent-3430b97e.jsonl"
    assert agent.meta["parent"] == parent.native_id
    assert (agent.meta["kind"], agent.meta["agent"]) == ("subagent", "3430b97e")
    assert {item.role for item in agent.utterances} == {Role.ASSISTANT}
    assert (agent.scope, agent.project) == (Scope.WORK, "shop"), "those of the parent's folder"


def test_a_subagent_in_the_sessions_folder_is_described_by_its_meta_file(folder: Path) -> None:
    write(folder / f"{SESSION}.jsonl", [user(0, "delegate")])
    agents = folder / SESSION / "subagents" / "workflows" / "wf_1"
    write(agents / "agent-ag1.jsonl", [user(1, "You are a reviewer.", isSidechain=True)])
    (agents / "agent-ag1.meta.json").write_text(
        json.dumps({"agentType": "Explore", "description": "Review the loader"})
    )
    write(agents / "journal.jsonl", [{"type": "started"}, {"type": "result", "result": "text"}])
    reading = read(folder / SESSION)
    (agent,) = reading.documents
    assert agent.title == "Review the loader"
    assert agent.meta["agent_type"] == "Explore"
    assert agent.meta["parent"] == f"{SLUG}/{SESSION}.jsonl"
    assert (reading.bad, reading.unknown) == ([], [])


@pytest.mark.parametrize("meta", [b"", b"[]", b"\xff\xfe", b'{"agentType": 7}', b"[" * 5000])
def test_a_broken_meta_file_costs_only_the_description(folder: Path, meta: bytes) -> None:
    agent = folder / SESSION / "subagents" / "agent-1.jsonl"
    write(agent, [user(0, "Look around.", isSidechain=True)])
    agent.with_suffix(".meta.json").write_bytes(meta)
    (document,) = read(folder).documents
    assert document.title == "Look around."


def test_memory_notes_are_the_assistants_and_replace_themselves_when_changed(
    projects: Path, folder: Path
) -> None:
    ledger = MemoryLedger()
    write(folder / "s.jsonl", [record("system", 0, cwd=CWD)])
    note = folder / "memory" / "build.md"
    note.parent.mkdir()
    note.write_text("---\nname: build\n---\n# ビルド\nRun `just ci`.\n", encoding="utf-8")
    (document,) = read(projects, ledger=ledger, options=WORK).documents
    (item,) = document.utterances
    assert (document.title, document.meta["kind"]) == ("ビルド", "memory")
    assert (document.scope, document.project, item.role) == (Scope.WORK, "shop", Role.ASSISTANT)
    assert (item.at, document.started) == (None, None), "a file's date is no time of speech"
    assert read(projects, ledger=ledger).documents == []
    note.write_text("Run `make ci`.", encoding="utf-8")
    (changed,) = read(projects, ledger=ledger).documents
    assert changed.utterances[0].native_id == item.native_id == f"{SLUG}/memory/build.md"
    assert changed.event_id != document.event_id


def test_a_memory_note_that_is_too_large_is_refused_by_name(folder: Path) -> None:
    note = folder / "memory" / "huge.md"
    note.parent.mkdir(parents=True)
    note.write_bytes(b"x" * (1024 * 1024 + 1))
    (bad,) = read(folder).bad
    assert (bad.place, bad.reason) == (str(note), "larger than 1 MiB")


def test_tool_results_and_run_states_are_left_out_and_other_files_counted(folder: Path) -> None:
    write(folder / f"{SESSION}.jsonl", [user(0, "hello")])
    for name in (
        f"{SESSION}/tool-results/toolu_1.txt",
        f"{SESSION}/tool-results/toolu_1.json",
        f"{SESSION}/workflows/wf_1.json",
        f"{SESSION}/session-memory/summary.md",
        "sessions-index.json",
        f"{SESSION}/notes.md",
        f"{SESSION}/picture.PNG",
        "strange.json",
        "README",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text('{"a": "We decided nothing."}')
    (folder / ".git").mkdir()
    reading = read(folder)
    assert reading.texts == ["hello"]
    assert sorted(item.kind for item in reading.unknown) == [
        "file .json",
        "file .md",
        "file .png",
        "file README",
        "hidden folder",
    ]
    assert reading.bad == []


def test_pipes_and_links_are_reported_and_not_opened(folder: Path, tmp_path: Path) -> None:
    write(folder / "a.jsonl", [user(0, "hello")])
    outside = write(tmp_path / "outside.jsonl", [user(1, "outside")])
    os.mkfifo(folder / "pipe.jsonl")
    (folder / "link.jsonl").symlink_to(outside)
    (folder / "circle").symlink_to(folder, target_is_directory=True)
    reading = read(folder)
    assert reading.texts == ["hello"]
    assert {Path(bad.place).name: bad.reason.split(":")[0] for bad in reading.bad} == {
        "pipe.jsonl": "neither a file nor a folder",
        "link.jsonl": "a link",
        "circle": "a link",
    }


def test_a_named_path_may_be_a_link(folder: Path, tmp_path: Path) -> None:
    write(folder / "a.jsonl", [user(0, "hello")])
    link = tmp_path / "projects-link"
    link.symlink_to(folder.parent, target_is_directory=True)
    assert read(link).texts == ["hello"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_reported_and_the_rest_goes_on(folder: Path) -> None:
    write(folder / "a.jsonl", [user(0, "hello")])
    write(folder / "b.jsonl", [user(1, "closed")]).chmod(0)
    reading = read(folder)
    assert reading.texts == ["hello"]
    assert reading.bad[0].reason == "may not be read: permission denied"


def test_a_missing_path_beside_a_good_one_is_reported(folder: Path) -> None:
    session = write(folder / "a.jsonl", [user(0, "hello")])
    reading = read(folder / "none.jsonl", session)
    assert reading.texts == ["hello"]
    assert [(bad.place, bad.reason) for bad in reading.bad] == [
        (str(folder / "none.jsonl"), "does not exist")
    ]


def test_nothing_but_missing_paths_is_wrong_use(folder: Path) -> None:
    with pytest.raises(UsageError, match=r"none.jsonl: does not exist; name a folder or"):
        read(folder / "none.jsonl")


def test_a_file_of_another_kind_that_was_named_is_refused(tmp_path: Path) -> None:
    for name in ("notes.txt", "other.json"):
        file = tmp_path / name
        file.write_text('{"a": 1}')
        (bad,) = read(file).bad
        assert (bad.place, "not a Claude Code transcript" in bad.reason) == (str(file), True)


@pytest.mark.parametrize("is_list", [True, False])
def test_a_transcript_exported_as_one_json_document_is_read(tmp_path: Path, is_list: bool) -> None:
    records = [user(0, "hello"), 7, assistant(1, "hi"), {"type": "brand-new"}]
    file = tmp_path / "session.json"
    file.write_bytes(
        b"\xef\xbb\xbf" + json.dumps(records if is_list else {"loglines": records}).encode()
    )
    ledger = MemoryLedger()
    reading = read(file, ledger=ledger)
    assert reading.texts == ["hello", "hi"]
    assert [bad.place for bad in reading.bad] == [f"{file}#2"]
    assert [item.kind for item in reading.unknown] == ["brand-new"]
    assert read(file, ledger=ledger).documents == []


def test_zero_byte_files_are_normal(folder: Path) -> None:
    write(folder / "a.jsonl", [])
    (folder / "b.json").write_bytes(b"")
    reading = read(folder / "a.jsonl")
    assert (reading.documents, reading.bad, reading.checkpoints) == ([], [], [])


def test_a_name_that_is_no_utf8_does_no_harm(folder: Path) -> None:
    write(folder / os.fsdecode(b"caf\xe9.jsonl"), [user(0, "hello")])
    (document,) = read(folder).documents
    assert document.native_id == f"{SLUG}/caf\\xe9.jsonl"


def test_slugs_are_formed_as_claude_code_forms_them() -> None:
    assert slug_of("/home/aki/work/shop.v2_日") == "-home-aki-work-shop-v2--"

"""Broken records cost themselves and nothing else; new ones are counted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from connectors.reports import BAD_RECORDS_SHOWN
from support.transcripts import (
    SESSION,
    SLUG,
    MemoryLedger,
    append,
    assistant,
    lines,
    read,
    record,
    tool_use,
    user,
    write,
)


@pytest.fixture
def session(tmp_path: Path) -> Path:
    path = tmp_path / "projects" / SLUG / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    return path


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (b'{"type": "user", "mess', "not JSON"),
        (b"[" * 10_000 + b"]" * 10_000, "nested too deeply"),
        (b'{"type":"user","x":' + b'{"a":' * 10_000 + b"1" + b"}" * 10_001, "nested too deeply"),
        (b"42", "a number"),
        (b'"massive error"', "a string"),
        (b"[1]", "a list"),
        (b"null", "null"),
        (b"\0\0\0\0", "only NUL characters"),
        (b'{"type":"user","message":"error"}', "without a readable message"),
        (b'{"type":"user","message":{"content":7}}', "neither text nor a list"),
        (b'{"type":"user","message":{"content":["wow error"]}}', "not an object"),
        (b'{"type":"user","message":{"content":[{"type":"text"}]}}', "holds no text"),
        (b'{"type":"ai-title","aiTitle":[]}', "without a title"),
    ],
)
def test_a_broken_record_is_named_with_file_line_and_reason(
    session: Path, broken: bytes, reason: str
) -> None:
    session.write_bytes(lines([user(0, "before")]) + broken + b"\n" + lines([user(1, "after")]))
    reading = read(session)
    assert reading.texts == ["before", "after"]
    (bad,) = reading.bad
    assert bad.place == f"{session}:2"
    assert reason in bad.reason


def test_line_numbers_go_on_in_the_next_run(session: Path) -> None:
    ledger = MemoryLedger()
    write(session, [user(0, "a"), user(1, "b")])
    read(session, ledger=ledger)
    append(session, b"\n{oops}\n")
    (bad,) = read(session, ledger=ledger).bad
    assert bad.place == f"{session}:4"


def test_invalid_bytes_and_half_characters_cost_only_themselves(session: Path) -> None:
    session.write_bytes(
        b"\xef\xbb\xbf"
        + json.dumps(user(0, "with a mark")).encode()
        + b"\r\n"
        + json.dumps(user(1, "caf?")).encode().replace(b"?", b"\xe9")
        + b"\r\n"
        + json.dumps(user(2, "half ? of it")).encode().replace(b"?", b"\\ud83d")
        + b"\r\n"
        + b"\0\0"
        + json.dumps(user(3, "padded \x00 here")).encode()
        + b"\n"
    )
    reading = read(session)
    assert reading.texts == ["with a mark", "caf\ufffd", "half \ufffd of it", "padded  here"]
    assert reading.bad == []


def half_characters(value: Any) -> Any:
    """Put half a character at the end of every text."""
    if isinstance(value, str):
        return value + "\ud83d"
    if isinstance(value, dict):
        return {
            key: inner if key == "type" else half_characters(inner) for key, inner in value.items()
        }
    return [half_characters(inner) for inner in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", ["s.jsonl", "agent-1.jsonl", os.fsdecode(b"agent-\xff.jsonl")])
def test_half_characters_in_every_field_break_nothing(session: Path, name: str) -> None:
    records = [
        user(0, "a"),
        user(1, "b", isSidechain=True, agentId="x"),
        user(2, "c", isSidechain=True),
        assistant(3, [tool_use("Edit", file_path="/home/aki/work/shop/a.py")]),
        assistant(4, "d"),
        {"type": "ai-title", "aiTitle": "title"},
        record("attachment", 5, attachment={"type": "queued_command", "prompt": "e"}),
        {"type": "pr-link", "prUrl": "https://example.invalid"},
        record("system", 6, subtype="new"),
    ]
    file = session.with_name(name)
    file.write_bytes(
        b"".join(json.dumps(half_characters(each)).encode() + b"\n" for each in records)
    )
    reading = read(file)
    assert sorted(text[0] for text in reading.texts if text[0] in "abcd") == ["a", "b", "c", "d"]
    for item in (*reading.bad, *reading.unknown):
        repr(item).encode()


def test_very_many_inline_subagents_end_soon_and_lose_nothing(session: Path) -> None:
    started = time.monotonic()
    count = 3000
    roots = (
        user(number, f"task {number}", parentUuid=None, isSidechain=True) for number in range(count)
    )
    write(session, roots)
    reading = read(session)
    assert len(reading.by_document) == count
    assert len(json.dumps(dict(reading.checkpoints[-1].state))) < 100_000
    assert time.monotonic() - started < 60


def test_a_record_appended_to_a_half_written_one_is_not_lost(session: Path) -> None:
    ledger = MemoryLedger()
    half = lines([user(1, "lost when the machine went down")])[:-30]
    session.write_bytes(lines([user(0, "a")]) + half)
    assert read(session, ledger=ledger).texts == ["a"]
    append(session, lines([user(2, "after the restart")]))
    reading = read(session, ledger=ledger)
    assert reading.texts == ["after the restart"]
    assert "the whole record that follows on the line was read" in reading.bad[0].reason


def test_unknown_kinds_of_records_and_blocks_are_counted_and_the_rest_is_read(
    session: Path,
) -> None:
    write(
        session,
        [
            {"type": "brand-new", "content": "We decided to …"},
            {"no": "type"},
            {"type": ["user"]},
            record("system", 0, subtype="hologram"),
            user(1, [{"type": "hologram", "text": "x"}, {"type": "text", "text": "said"}]),
            user(2, [{"type": ["text"]}, {"type": None}]),
        ],
    )
    reading = read(session)
    assert reading.texts == ["said"]
    assert [item.kind for item in reading.unknown] == [
        "brand-new",
        "no type",
        "no type",
        "system/hologram",
        "block/hologram",
        "block/['text']",
        "block/None",
    ]
    assert reading.unknown[0].place == f"{session}:1"
    assert reading.bad == []


def test_known_records_without_words_raise_no_alarm(session: Path) -> None:
    kinds = ["file-history-snapshot", "progress", "permission-mode", "last-prompt", "mode"]
    kinds += ["started", "result", "cost-state", "worktree-state", "atis-latch", "tag"]
    subtypes = ["stop_hook_summary", "turn_duration", "away_summary", "compact_boundary", None]
    write(
        session,
        [
            *({"type": kind, "content": "x"} for kind in kinds),
            *(record("system", 0, subtype=subtype, content="x") for subtype in subtypes),
            {"type": "pr-link", "prUrl": "https://example.invalid/pr/1"},
            assistant(1, [{"type": "redacted_thinking"}, {"type": "server_tool_use"}]),
            {"type": "user", "message": {}},
            {"type": "assistant", "message": {"usage": {}}},
        ],
    )
    reading = read(session)
    assert (reading.documents, reading.bad, reading.unknown) == ([], [], [])


def test_a_file_full_of_noise_is_named_a_hundred_times_and_then_counted(session: Path) -> None:
    session.write_bytes(b"noise\n" * 5000 + lines([user(0, "hello")]))
    reading = read(session)
    assert reading.texts == ["hello"]
    assert len(reading.bad) == BAD_RECORDS_SHOWN + 1
    assert reading.bad[-1].reason == f"{5000 - BAD_RECORDS_SHOWN} more records could not be read"


@pytest.mark.parametrize(
    "state",
    [
        {},
        {"version": 99},
        {"version": 1, "cursor": []},
        {"version": 1, "cursor": {"offset": 10**12}, "session": {}},
        {"digest": "x"},
    ],
)
def test_a_foreign_reading_state_means_reading_from_the_start(
    session: Path, state: dict[str, object]
) -> None:
    ledger = MemoryLedger()
    write(session, [user(0, "a")])
    ledger.states[f"claude:{SLUG}/{session.name}"] = json.dumps(state)
    assert read(session, ledger=ledger).texts == ["a"]


@pytest.mark.parametrize(
    "damage", [None, {"conversations": {"": {}}}, {"heard": 7}, {"rank": "x"}, []]
)
def test_a_damaged_session_state_repeats_nothing_and_loses_nothing(
    session: Path, damage: object
) -> None:
    ledger = MemoryLedger()
    write(session, [user(0, "a"), assistant(1, "b")])
    (checkpoint,) = read(session, ledger=ledger).checkpoints
    ledger.states[checkpoint.key] = json.dumps(dict(checkpoint.state) | {"session": damage})
    append(session, lines([{"type": "summary", "summary": "s"}, user(2, "c")]))
    assert read(session, ledger=ledger).texts == ["c"]


def test_a_line_over_the_limit_is_passed_over_in_bounded_memory(session: Path) -> None:
    with session.open("wb") as file:
        file.write(lines([user(0, "before")]) + b'{"type":"user","x":"')
        for _ in range(300):
            file.write(b"A" * 1_000_000)
        file.write(b'"}\n' + lines([user(1, "after")]))
    texts, bad, peak = read_in_a_fresh_process(session)
    assert texts == ["before", "after"]
    assert [place.rpartition(":")[2] for place, _ in bad] == ["2"]
    assert "longer than 32 MiB: 3000000" in bad[0][1]
    assert peak < 300


@pytest.mark.parametrize("value", [b"{}", b"[]", b'"ab"', b"1.5", '"日本😀"'.encode()])
def test_the_densest_line_that_is_still_read_stays_in_bounded_memory(
    session: Path, value: bytes
) -> None:
    count = min(999_000, 30_000_000 // (len(value) + 1))
    dense = b'{"type":"progress","x":[' + b",".join([value] * count) + b"]}\n"
    session.write_bytes(lines([user(0, "before")]) + dense + lines([user(1, "after")]))
    texts, bad, peak = read_in_a_fresh_process(session)
    assert (texts, bad) == (["before", "after"], [])
    assert peak < 300


PROGRAM = """
import json, sys
from pathlib import Path
from support.memory import peak_memory
from connectors.base import ReadOptions
from connectors.claude import CONNECTOR
from context_engine.events import BadRecord, SourceDocument

class Ledger:
    def checkpoint(self, key): return None
    def seen(self, ids): return set()

items = list(CONNECTOR.read([Path(sys.argv[1])], Ledger(), ReadOptions()))
texts = [u.text for d in items if isinstance(d, SourceDocument) for u in d.utterances]
bad = [(b.place, b.reason) for b in items if isinstance(b, BadRecord)]
print(json.dumps([texts, bad, peak_memory() / 1_000_000]))
"""


def read_in_a_fresh_process(path: Path) -> tuple[list[str], list[list[str]], float]:
    """Texts, bad records and the peak of resident memory in MB."""
    root = Path(__file__).parents[2]
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(path)],
        cwd=root,
        env={"PYTHONPATH": f"{root}:{root / 'tests'}"},
        check=True,
        capture_output=True,
        timeout=100,
    )
    texts, bad, peak = json.loads(run.stdout)
    return texts, bad, peak

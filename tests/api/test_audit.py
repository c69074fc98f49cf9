"""The audit log: one line a request, harmless on a terminal, or an error."""

from __future__ import annotations

import json
import stat
import threading
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.audit import AuditEntry, AuditError, AuditLog, encode
from context_engine.home import Home

ENTRY = AuditEntry(
    at=datetime(2026, 11, 2, 9, 5, 11, tzinfo=UTC),
    transport="rest",
    action="search_knowledge",
    outcome="ok",
    client="chatgpt",
    scope="work",
    results=("0123456789abcdef",),
    milliseconds=12.34,
)


def test_a_line_says_who_asked_for_what_and_what_left(home: Home) -> None:
    AuditLog(home.audit_log).write(ENTRY)

    (line,) = home.audit_log.read_text(encoding="ascii").splitlines()
    assert json.loads(line) == {
        "time": "2026-11-02T09:05:11Z",
        "client": "chatgpt",
        "scope": "work",
        "transport": "rest",
        "action": "search_knowledge",
        "outcome": "ok",
        "results": ["0123456789abcdef"],
        "ms": 12.3,
    }
    assert stat.S_IMODE(home.audit_log.stat().st_mode) == 0o600


@given(st.text(st.characters(codec=None), max_size=50))
def test_no_text_can_forge_a_line_or_reach_a_terminal(text: str) -> None:
    data = encode(replace(ENTRY, action=text, client=text, results=(text,)))

    assert data.endswith(b"\n")
    assert data.count(b"\n") == 1
    assert all(0x20 <= byte < 0x7F for byte in data[:-1])
    assert json.loads(data)["action"] == text


def test_lines_of_many_writers_stay_whole(home: Home) -> None:
    log = AuditLog(home.audit_log)
    entry = replace(ENTRY, results=tuple(f"{n:016x}" for n in range(50)))

    def work() -> None:
        for _ in range(50):
            log.write(entry)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    lines = home.audit_log.read_bytes().splitlines(keepends=True)
    assert lines == [encode(entry)] * 400


def test_a_log_that_cannot_be_opened_is_an_error(home: Home) -> None:
    home.audit_log.mkdir()
    log = AuditLog(home.audit_log)

    with pytest.raises(AuditError, match="cannot be written"):
        log.write(ENTRY)
    with pytest.raises(AuditError, match="cannot be written"):
        log.check()


def test_a_full_disk_is_an_error() -> None:
    full = AuditLog(Path("/dev/full"))
    with pytest.raises(AuditError, match="No space left"):
        full.write(ENTRY)


def test_a_link_is_not_followed(home: Home) -> None:
    victim = home.root / "victim"
    victim.write_text("precious", encoding="utf-8")
    home.audit_log.symlink_to(victim)

    with pytest.raises(AuditError):
        AuditLog(home.audit_log).write(ENTRY)
    assert victim.read_text(encoding="utf-8") == "precious"

"""The audit log's files: rotated by size without losing a line, read back by `audit`."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from api.audit import AuditEntry, AuditLog, encode
from api.audit_files import opened, rotate
from api.audit_reading import read_audit
from context_engine.home import Home
from context_engine.scopes import Scope
from support.api import RunningApi
from support.engine import run, run_json

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
LINE = len(encode(ENTRY))


def _numbered(number: int) -> AuditEntry:
    return replace(ENTRY, action=f"{number:06d}")


def _actions(path: Path, keep: int = 1000) -> Iterator[str]:
    with opened(path, keep) as files:
        for file in files:
            for line in file:
                yield json.loads(line)["action"]


def test_a_full_file_is_put_aside_and_the_oldest_dropped(home: Home) -> None:
    log = AuditLog(home.audit_log, max_bytes=3 * len(encode(_numbered(0))), keep=2)
    for number in range(14):
        log.write(_numbered(number))

    names = sorted(path.name for path in home.state.glob("audit.jsonl*"))
    assert names == ["audit.jsonl", "audit.jsonl.1", "audit.jsonl.2", "audit.jsonl.lock"]
    assert list(_actions(home.audit_log)) == [f"{number:06d}" for number in range(6, 14)]


def test_many_processes_and_threads_lose_no_line(home: Home) -> None:
    script = (
        "import sys, threading\n"
        "from dataclasses import replace\n"
        "from pathlib import Path\n"
        "from api.audit import AuditEntry, AuditLog\n"
        "from datetime import UTC, datetime\n"
        "first = int(sys.argv[2])\n"
        "log = AuditLog(Path(sys.argv[1]), max_bytes=4000, keep=100)\n"
        "def work(first):\n"
        "    for number in range(first, first + 250):\n"
        "        log.write(AuditEntry(datetime.now(UTC), 't', f'{number:06d}', 'ok'))\n"
        "threads = [threading.Thread(target=work, args=(first + n * 250,)) for n in range(2)]\n"
        "[thread.start() for thread in threads]\n"
        "[thread.join() for thread in threads]\n"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", script, str(home.audit_log), str(first)])
        for first in (0, 500, 1000)
    ]
    seen: set[str] = set()
    while any(writer.poll() is None for writer in writers):
        found = list(_actions(home.audit_log, keep=100))
        # a reader beside them misses nothing that it saw before, and sees nothing twice
        assert len(found) == len(set(found))
        assert seen <= set(found)
        seen = set(found)

    assert [writer.returncode for writer in writers] == [0, 0, 0]
    assert sorted(_actions(home.audit_log)) == [f"{number:06d}" for number in range(1500)]
    assert len(list(home.state.glob("audit.jsonl.*"))) > 3


def test_a_gap_that_a_killed_rotation_left_is_filled_and_nothing_overwritten(home: Home) -> None:
    for number, name in ((1, "audit.jsonl.3"), (2, "audit.jsonl.2"), (3, "audit.jsonl")):
        (home.state / name).write_bytes(encode(_numbered(number)))

    assert rotate(home.audit_log, 1, 5)

    assert list(_actions(home.audit_log)) == ["000001", "000002", "000003"]
    assert not home.audit_log.exists()


def test_a_rotation_that_fails_costs_no_request(home: Home) -> None:
    (home.state / "audit.jsonl.lock").mkdir()
    log = AuditLog(home.audit_log, max_bytes=1, keep=2)
    log.write(_numbered(1))
    log.write(_numbered(2))

    assert home.audit_log.read_bytes().count(b"\n") == 2


def test_a_file_is_put_aside_once_however_many_see_that_it_is_full(home: Home) -> None:
    home.audit_log.write_bytes(encode(ENTRY))
    done: list[bool] = []

    def work() -> None:
        try:
            done.append(rotate(home.audit_log, LINE, 5))
        except FileNotFoundError:
            done.append(False)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert done.count(True) == 1
    assert list(_actions(home.audit_log)) == ["search_knowledge"]


def test_reading_filters_and_keeps_the_last(home: Home) -> None:
    log = AuditLog(home.audit_log, max_bytes=4 * LINE)
    for number in range(20):
        client = "cursor" if number % 2 else "chatgpt"
        at = ENTRY.at + timedelta(hours=number)
        log.write(replace(_numbered(number), client=client, at=at))
    with home.audit_log.open("ab") as file:
        file.write(b'torn {"time": \n[]\n{}\n\xff\xfe\n{"time": 5}\n' + b"[" * 50_000 + b"\n")

    report = read_audit(
        home.audit_log, client="cursor", since=ENTRY.at + timedelta(hours=4), limit=5
    )

    assert [entry["action"] for entry in report.requests] == [
        f"{number:06d}" for number in (11, 13, 15, 17, 19)
    ]
    assert report.unreadable == 6
    assert len(read_audit(home.audit_log, limit=100).requests) == 20


def test_the_command_shows_requests_of_a_running_api(api: RunningApi) -> None:
    api.call(Scope.WORK, "search_knowledge", {"query": "Valkey"})
    api.http.get("/v1/evil\u202e%1b[31m")

    everything = run_json(api.home, "audit")["requests"]
    ours = run_json(api.home, "audit", "--client", "client-work", "--limit", "1")["requests"]
    shown = run(api.home, "audit", "--limit", "1")

    assert everything[-1]["client"] is None
    assert [entry["action"] for entry in ours] == ["search_knowledge"]
    assert shown.returncode == 0
    assert shown.stdout.isascii()
    assert "unauthorized" in shown.stdout
    assert "\x1b" not in shown.stdout
    assert "Valkey" not in run(api.home, "audit").stdout


def test_the_command_on_an_empty_log_and_on_a_wrong_date(home: Home) -> None:
    empty = run(home, "audit", "--client", "nobody", "--since", "2026-11-02")
    wrong = run(home, "audit", "--since", "yester\u202eday")

    assert (empty.returncode, empty.stdout) == (0, "")
    assert "no such requests" in empty.stderr
    assert wrong.returncode == 2
    assert "write 2026-11-02" in wrong.stderr
    assert wrong.stderr.isascii()


@pytest.mark.parametrize("name", ["\x1b[2J", "\u202eevil", "\n2026-11-02 forged"])
def test_a_name_in_the_log_cannot_reach_the_terminal(home: Home, name: str) -> None:
    AuditLog(home.audit_log).write(replace(ENTRY, client=name, action=name))

    for arguments in (("audit",), ("audit", "--json")):
        shown = run(home, *arguments).stdout
        assert name not in shown
        assert shown.isascii()
        assert all(character == "\n" or character.isprintable() for character in shown)
    assert len(run(home, "audit").stdout.splitlines()) == 1

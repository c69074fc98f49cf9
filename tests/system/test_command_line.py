"""The command line as a person and a script use it: real processes, real exit codes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import apsw
import httpx
import pytest

from api.cli.main import COMMANDS
from context_engine.home import Home
from context_engine.scopes import Scope
from support.engine import (
    COMMAND,
    environment,
    pids,
    run,
    run_json,
    running,
    wait_until,
    write_sessions,
)

WORK = {"CE_DEFAULT_SCOPE": "work"}


@pytest.mark.parametrize("command", [[], *[[name] for name in COMMANDS], ["token", "create"]])
def test_every_command_explains_itself(home: Home, command: list[str]) -> None:
    done = run(home, *command, "--help")
    assert done.returncode == 0
    assert done.stdout.startswith("Usage: context-engine")
    assert done.stderr == ""


def test_wrong_use_is_exit_code_2_with_a_reason_on_stderr(home: Home) -> None:
    for arguments in (["no-such-command"], ["query"], ["ingest", "claude", "/no/such/folder"]):
        done = run(home, *arguments)
        assert done.returncode == 2
        assert done.stdout == ""
        assert "Traceback" not in done.stderr
        assert done.stderr.strip()


def test_a_broken_setting_is_named_with_its_place(home: Home) -> None:
    home.config_file.write_text("[llm]\nnum_ctx = 12\n", encoding="utf-8")
    done = run(home, "status")
    assert done.returncode == 2
    assert "llm.num_ctx" in done.stderr
    assert str(home.config_file) in done.stderr


def test_a_session_becomes_notes_and_is_found_in_both_languages(home: Home, tmp_path: Path) -> None:
    write_sessions(tmp_path / "projects", sessions=2, messages=4)
    report = run_json(home, "ingest", "claude", str(tmp_path / "projects"), extra=WORK)
    assert (report["new"], report["unchanged"], report["quarantined"]) == (2, 0, 0)
    assert report["insights"]["decision"] > 0
    assert report["chunks"] > 0
    assert report["bad_records"] == []
    for question in ("なぜ Valkey にしたのか", "why did we move the cache"):
        found = run_json(home, "query", question, "--scope", "work", extra=WORK)
        best = found["results"][0]
        assert "Valkey" in best["summary"] + best["title"]
        assert best["bm25_rank"] is not None or best["vector_rank"] is not None
    hidden = run_json(home, "query", "Valkey", "--scope", "personal", extra=WORK)
    assert hidden["results"] == []


def test_reading_again_adds_nothing_and_a_grown_session_adds_only_what_is_new(
    home: Home, tmp_path: Path
) -> None:
    folder = tmp_path / "projects"
    write_sessions(folder, sessions=1, messages=4)
    run_json(home, "ingest", "claude", str(folder), extra=WORK)
    again = run_json(home, "ingest", "claude", str(folder), extra=WORK)
    assert (again["new"], again["notes"]) == (0, 0)
    assert again["unchanged"] == 1
    write_sessions(folder, sessions=1, messages=6)
    grown = run_json(home, "ingest", "claude", str(folder), extra=WORK)
    assert (grown["new"], grown["messages"]) == (1, 2)
    notes = list(home.vault(Scope.WORK).glob("sources/**/*.md"))
    assert len(notes) == 1
    assert notes[0].read_text(encoding="utf-8").count("<!-- ce:u=") == 6


def test_bad_lines_are_reported_by_file_and_line_and_the_rest_goes_on(
    home: Home, tmp_path: Path
) -> None:
    write_sessions(tmp_path / "projects", sessions=1, messages=2)
    (path,) = (tmp_path / "projects").rglob("*.jsonl")
    with path.open("a", encoding="utf-8") as file:
        file.write('{"type": "user", "broken\n{"type": "brand-new-type", "uuid": "x"}\n')
    write_sessions(tmp_path / "projects", sessions=1, messages=2, first=1)
    report = run_json(home, "ingest", "claude", str(tmp_path / "projects"), extra=WORK)
    (bad,) = report["bad_records"]
    assert bad["place"].endswith(f"{path.name}:3")
    assert report["unknown_types"] == {"brand-new-type": 1}
    assert report["messages"] == 4


def test_deleting_state_and_rebuilding_gives_the_same_answers(home: Home, tmp_path: Path) -> None:
    import shutil

    folder = tmp_path / "projects"
    write_sessions(folder, sessions=3, messages=6)
    run_json(home, "ingest", "claude", str(folder), extra=WORK)
    questions = ("Valkey のライセンス", "tok00001x002", "cache licence")
    before = [run_json(home, "query", q, extra=WORK)["results"] for q in questions]
    assert all(before)
    notes = {path: path.read_bytes() for path in home.vaults.rglob("*.md")}
    shutil.rmtree(home.state)
    run_json(home, "reindex", "--rebuild", extra=WORK)
    assert [run_json(home, "query", q, extra=WORK)["results"] for q in questions] == before
    # and a full import does not bring back what the vault holds
    again = run_json(home, "ingest", "claude", str(folder), extra=WORK)
    assert again["notes"] == 0
    assert {path: path.read_bytes() for path in home.vaults.rglob("*.md")} == notes


def test_up_serves_takes_over_ingests_and_follows_edits(home: Home, tmp_path: Path) -> None:
    write_sessions(tmp_path / "projects", sessions=2, messages=4)
    with running(home, WORK):
        second = run(home, "up", extra=WORK)
        assert second.returncode == 1
        assert "already runs" in second.stderr
        address = json.loads((home.state / "api.json").read_text(encoding="utf-8"))
        base = f"http://127.0.0.1:{address['port']}"
        assert httpx.get(f"{base}/healthz").status_code == 200
        assert httpx.post(f"{base}/v1/search_knowledge", json={"query": "x"}).status_code == 401
        report = run_json(
            home, "ingest", "claude", str(tmp_path / "projects"), "--wait", extra=WORK
        )
        assert report["handed_over"] is True
        assert report["pending"] == 0
        status = run_json(home, "status", extra=WORK)
        assert status["running"] is True
        assert {part["name"] for part in status["components"] if part["alive"]} == {
            "broker", "worker", "extractor", "indexer", "api",
        }  # fmt: skip
        assert status["outbox"]["pending"] == 0
        note = home.vault(Scope.WORK) / "my-note.md"
        note.write_text("# 手書きのメモ\n\n固有の合言葉は zanzibar42 です。\n", encoding="utf-8")
        begun = time.monotonic()
        wait_until(
            lambda: (
                [
                    hit["path"]
                    for hit in run_json(home, "query", "zanzibar42", extra=WORK)["results"][:1]
                ]
                == ["work/my-note.md"]
            ),
            15,
        )
        assert time.monotonic() - begun < 15
    status = run_json(home, "status", extra=WORK)
    assert status["running"] is False
    assert status["components"] == []


def test_a_part_that_dies_is_started_again(home: Home) -> None:
    with running(home):
        before = pids(home)
        for part in before:
            os.kill(before[part], signal.SIGKILL)
        wait_until(
            lambda: all(
                part in pids(home) and pids(home)[part] != pid for part, pid in before.items()
            )
        )


def test_a_killed_supervisor_leaves_no_process_behind_and_the_home_usable(home: Home) -> None:
    with (home.root / "log").open("wb") as log:
        process = subprocess.Popen([*COMMAND, "up"], env=environment(home), stderr=log, stdout=log)
    wait_until(lambda: len(pids(home)) == 5)
    left = pids(home)
    process.kill()
    process.wait()
    wait_until(lambda: not any(_alive(pid) for pid in left.values()), 30)
    with running(home):
        greeting = (home.root / "up.err").read_text(encoding="utf-8")
        assert "(OpenAPI, with a token: http://" in greeting


def _alive(pid: int) -> bool:
    try:
        with Path(f"/proc/{pid}/stat").open(encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_hostile_packages_in_the_working_directory_are_never_imported(
    home: Home, tmp_path: Path
) -> None:
    trap = tmp_path / "someones-project"
    for name in ("workers", "api", "index", "vault", "connectors", "context_engine", "redis"):
        (trap / name).mkdir(parents=True)
        (trap / name / "__init__.py").write_text("raise SystemExit('trapped')\n", encoding="utf-8")
    (trap / ".env").write_text("CE_DEFAULT_SCOPE=nonsense\n", encoding="utf-8")
    write_sessions(tmp_path / "projects", sessions=1, messages=2)
    for arguments in (
        ("ingest", "claude", str(tmp_path / "projects"), "--json"),
        ("query", "Valkey", "--json"),
        ("status", "--json"),
        ("sources", "--json"),
        ("reindex", "--json"),
        ("token", "list", "--json"),
    ):
        done = run(home, *arguments, cwd=trap)
        assert done.returncode == 0, (arguments, done.stderr)
        assert "trapped" not in done.stderr


def test_no_other_distribution_owns_our_package_names() -> None:
    from importlib.metadata import packages_distributions

    owners = packages_distributions()
    for name in ("context_engine", "connectors", "workers", "vault", "index", "api"):
        assert set(owners.get(name, [])) <= {"context-engine"}


def test_a_damaged_index_is_said_and_rebuilt_on_request(home: Home, tmp_path: Path) -> None:
    write_sessions(tmp_path / "projects", sessions=1, messages=4)
    run_json(home, "ingest", "claude", str(tmp_path / "projects"), extra=WORK)
    before = run_json(home, "query", "Valkey", extra=WORK)["results"]
    index = home.index(Scope.WORK)
    # what lies in the log beside it is not what is damaged here
    connection = apsw.Connection(str(index))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    connection.close()
    data = bytearray(index.read_bytes())
    data[4096:] = b"\xa5" * (len(data) - 4096)
    index.write_bytes(data)
    refused = run(home, "query", "Valkey", extra=WORK)
    assert refused.returncode == 1
    assert "reindex --rebuild" in refused.stderr
    assert run(home, "status", extra=WORK).returncode == 1
    run_json(home, "reindex", "--rebuild", extra=WORK)
    assert run_json(home, "query", "Valkey", extra=WORK)["results"] == before

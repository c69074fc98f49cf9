"""Databases migrate once, whoever comes first, and never downwards."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from context_engine.errors import ContextEngineError
from context_engine.sqlite import connect, immediate, migrate

FIRST = "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT) STRICT"
SECOND = "ALTER TABLE item ADD COLUMN size INTEGER; INSERT INTO item (name) VALUES ('seed')"

ORPHANS_REFUSED_AT_COMMIT = """
CREATE TABLE parent (id INTEGER PRIMARY KEY);
CREATE TABLE item (name TEXT, parent INTEGER REFERENCES parent DEFERRABLE INITIALLY DEFERRED)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "x.db"


def version(path: Path) -> int:
    return int(str(connect(path).execute("PRAGMA user_version").fetchall()[0][0]))


def names(path: Path) -> list[str]:
    return [str(row[0]) for row in connect(path).execute("SELECT name FROM item")]


def test_migrations_run_in_order_and_once(path: Path) -> None:
    migrate(connect(path), [FIRST])
    assert version(path) == 1
    migrate(connect(path), [FIRST, SECOND])
    migrate(connect(path), [FIRST, SECOND])
    assert version(path) == 2
    assert names(path) == ["seed"]


def test_a_migration_that_fails_leaves_the_schema_as_it_was(path: Path) -> None:
    migrate(connect(path), [FIRST])
    with pytest.raises(apsw.SQLError):
        migrate(connect(path), [FIRST, f"{SECOND}; CREATE TABLE item (id)"])
    assert version(path) == 1
    assert names(path) == []
    migrate(connect(path), [FIRST, SECOND])
    assert names(path) == ["seed"]


def test_a_file_of_a_newer_program_is_refused_and_left_alone(path: Path) -> None:
    migrate(connect(path), [FIRST, SECOND])
    before = names(path)
    with pytest.raises(ContextEngineError, match=r"x\.db has schema 2, this program knows 1"):
        migrate(connect(path), [FIRST])
    assert (version(path), names(path)) == (2, before)


MIGRATE = """
import sys
from pathlib import Path
from context_engine.sqlite import connect, migrate
slow = "INSERT INTO item (name) WITH RECURSIVE n(i) AS " \\
    "(SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) " \\
    "SELECT 'row' FROM n WHERE i % 1000 = 0"
steps = ["CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT)", slow]
print("ready", flush=True)
sys.stdin.readline()
migrate(connect(Path(sys.argv[1])), steps)
"""


def test_processes_that_start_at_once_migrate_once(path: Path) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", MIGRATE, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    errors = [process.communicate(timeout=60)[1] for process in processes]
    assert errors == [""] * 3
    assert [process.returncode for process in processes] == [0] * 3
    assert len(names(path)) == 200


def test_a_transaction_that_raises_leaves_nothing_and_the_next_one_works(path: Path) -> None:
    connection = connect(path)
    migrate(connection, [FIRST])
    with pytest.raises(apsw.SQLError), immediate(connection):
        connection.execute(
            "INSERT INTO item (name) VALUES ('lost'); INSERT INTO nowhere VALUES (1)"
        )
    with immediate(connection):
        connection.execute("INSERT INTO item (name) VALUES ('kept')")
    assert names(path) == ["kept"]


def test_a_commit_that_fails_leaves_no_transaction_open(path: Path) -> None:
    connection = connect(path)
    migrate(connection, [ORPHANS_REFUSED_AT_COMMIT])
    with pytest.raises(apsw.ConstraintError), immediate(connection):
        connection.execute("INSERT INTO item VALUES ('orphan', 7)")
    with immediate(connection):
        connection.execute("INSERT INTO item VALUES ('kept', NULL)")
    assert names(path) == ["kept"]


def test_readers_see_the_last_commit_while_somebody_writes(path: Path) -> None:
    writer = connect(path)
    migrate(writer, [FIRST, SECOND])
    with immediate(writer):
        writer.execute("INSERT INTO item (name) VALUES ('new')")
        assert names(path) == ["seed"]
    assert names(path) == ["seed", "new"]


def test_a_reader_cannot_write_and_creates_nothing(path: Path) -> None:
    with pytest.raises(apsw.CantOpenError):
        connect(path, readonly=True)
    assert not path.exists()
    migrate(connect(path), [FIRST])
    with pytest.raises(apsw.ReadOnlyError):
        connect(path, readonly=True).execute("INSERT INTO item (name) VALUES ('x')")


def test_the_files_are_the_owners_alone_whatever_the_umask(path: Path) -> None:
    before = os.umask(0)
    try:
        connection = connect(path)
        migrate(connection, [FIRST])
        modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in path.parent.iterdir()}
    finally:
        os.umask(before)
    assert set(modes.values()) == {0o600}, modes


def test_durable_commits_are_synced(path: Path) -> None:
    assert connect(path, durable=True).execute("PRAGMA synchronous").fetchall() == [(2,)]
    assert connect(path).execute("PRAGMA synchronous").fetchall() == [(1,)]

"""Whoever only reads makes no home, and what cannot be written is one sentence."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from context_engine.home import Home
from support.engine import run

READS = (
    ("query", "設計"),
    ("review", "list"),
    ("review", "summary"),
    ("audit",),
    ("logs",),
    ("receipt", "x"),
    ("token", "list"),
    ("identity", "show"),
    ("routine", "list"),
    ("forget", "x"),
    ("status",),
)


@pytest.mark.parametrize("command", READS, ids=" ".join)
def test_reading_a_mistyped_home_says_so_and_creates_none(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    absent = Home(tmp_path / "mistyped" / "home")
    done = run(absent, *command)
    assert done.returncode == 1
    assert f"there is no memory at {absent.root} yet" in done.stderr
    assert not absent.root.parent.exists()


def test_a_place_that_cannot_be_written_is_one_sentence(home: Home) -> None:
    archive = run(home, "backup", "--json")
    assert archive.returncode == 0, archive.stderr
    (made,) = (home.root / "backups").glob("*.tar.gz")
    nowhere = Home(Path("/proc/nowhere"))
    for where, *command in (
        (home, "backup", "--to", "/proc/nowhere"),
        (home, "restore", str(made), "--to", "/proc/nowhere"),
        (nowhere, "init", "--yes", "--no-git"),
    ):
        done = run(where, *command)
        assert done.returncode == 1
        assert "Traceback" not in done.stderr
        assert "/proc" in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_an_engine_whose_port_is_taken_says_only_that(home: Home) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        done = run(home, "up", extra={"CE_API__PORT": port})
    assert done.returncode == 1
    assert f"cannot listen on 127.0.0.1:{port}" in done.stderr
    assert "Traceback" not in done.stderr
    assert "File " not in done.stderr

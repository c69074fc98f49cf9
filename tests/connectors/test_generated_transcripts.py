"""The transcripts that the benchmarks generate are the same every time, and are transcripts."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path

import pytest

from context_engine.events import Role
from support.transcripts import read

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "generate_transcripts.py"


@pytest.fixture(scope="module")
def write_sessions() -> Callable[..., int]:
    function: Callable[..., int] = runpy.run_path(str(SCRIPT))["write_sessions"]
    return function


def test_the_same_arguments_give_the_same_bytes(
    tmp_path: Path, write_sessions: Callable[..., int]
) -> None:
    for name in ("one", "two"):
        assert write_sessions(tmp_path / name, megabytes=1, sessions=2) >= 1_000_000
    first, second = (
        {path.name: path.read_bytes() for path in (tmp_path / name).rglob("*.jsonl")}
        for name in ("one", "two")
    )
    assert first == second
    assert len(first) == 2


def test_the_connector_reads_them_without_a_complaint(
    tmp_path: Path, write_sessions: Callable[..., int]
) -> None:
    size = write_sessions(tmp_path, megabytes=3, sessions=3)
    reading = read(tmp_path)
    assert (reading.bad, reading.unknown) == ([], [])
    assert {item.role for item in reading.said} == {Role.OWNER, Role.ASSISTANT}
    said = sum(len(text) for text in reading.texts)
    assert said < size / 20, "most of a transcript is said by nobody"

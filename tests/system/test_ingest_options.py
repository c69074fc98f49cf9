"""`ingest` as a person calls it: told apart by itself, tried first, in part."""

from __future__ import annotations

import json
from pathlib import Path

from context_engine.home import Home
from support.engine import run
from support.sources import write_json

DAY = [
    {"type": "message", "user": "U1", "ts": "1793600000.000100", "text": "会議は三時から"},
    {"type": "message", "user": "U1"},
]


def export(folder: Path) -> Path:
    write_json(folder / "general" / "2026-11-02.json", DAY)
    return folder


def test_a_dry_run_says_what_each_path_is_and_leaves_no_home(home: Home, tmp_path: Path) -> None:
    path = str(export(tmp_path / "輸出"))
    fresh = {"CE_HOME": str(tmp_path / "fresh")}
    done = run(home, "ingest", "auto", path, "--dry-run", extra=fresh)
    assert done.returncode == 0, done.stderr
    assert f"{path} looks like a Slack export (1 channel): slack" in done.stderr
    size = (tmp_path / "輸出" / "general" / "2026-11-02.json").stat().st_size
    assert f"2026-11-02.json: {size} bytes, 1 message\n" in done.stderr
    assert "would take 1 message (1 new) of 1 document" in done.stdout
    assert "by year   2026: 1" in done.stdout
    assert "refused   1 record" in done.stdout
    assert not (tmp_path / "fresh").exists()
    done = run(home, "ingest", "auto", path, "--dry-run", "--json", extra=fresh)
    answer = json.loads(done.stdout)
    assert answer["recognised"] == [
        {"path": path, "source": "slack", "looks_like": "a Slack export (1 channel)"}
    ]
    assert answer["runs"][0]["bad_count"] == 1


def test_what_cannot_be_told_or_meant_is_refused_before_anything_is_read(
    home: Home, tmp_path: Path
) -> None:
    good, bad = export(tmp_path / "good"), tmp_path / "bad.bin"
    bad.write_bytes(b"\0")
    for arguments, reason in (
        (["auto", str(good), str(bad)], "looks like none of the sources"),
        (["auto"], "name what is to be looked at"),
        (["slack", str(good), "--since", "soon"], "write a day as"),
        (["slack-live", "--follow", "--dry-run"], "cannot follow"),
    ):
        done = run(home, "ingest", *arguments)
        assert done.returncode == 2
        assert reason in done.stderr
        assert done.stdout == ""
    assert not home.outbox.exists()

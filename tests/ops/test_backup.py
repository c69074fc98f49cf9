"""Backup and restore: what comes back is what was there, and damage is never called a backup."""

from __future__ import annotations

import io
import json
import os
import tarfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from api.backup import back_up, restore, scheduled_backup, verify
from context_engine.clock import ManualClock
from context_engine.errors import BadInputError, UsageError
from context_engine.home import Home
from context_engine.scopes import Scope
from context_engine.settings import Settings
from support.engine import run, run_json, running, write_sessions
from workers.outbox import Outbox
from workers.outbox_model import NewJob


@pytest.fixture
def filled(home: Home) -> Home:
    note = home.vault(Scope.WORK) / "knowledge" / "decision" / "設計の決定.md"
    note.parent.mkdir(parents=True)
    note.write_text("# 決定\n", encoding="utf-8")
    home.config_file.write_text('owner_name = "あき"\n', encoding="utf-8")
    (home.root / "keys").mkdir()
    (home.root / "keys" / "seal.key").write_bytes(os.urandom(32))
    (home.state / "index" / "work.db").write_bytes(b"rebuilt anyway")
    Outbox(home.outbox).add([NewJob("index", "index:x", {}, "x")])
    return home


def contents(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and "state" not in path.relative_to(root).parts
    }


def test_what_comes_back_is_what_was_there(filled: Home, tmp_path: Path) -> None:
    before = contents(filled.root)
    report = back_up(filled, tmp_path / "backups")
    assert report.notes == 1
    assert report.keys
    assert report.archive.stat().st_mode & 0o077 == 0
    restored = Home(tmp_path / "new" / "home")
    restore(report.archive, restored.root)
    assert contents(restored.root) == before
    folders = [restored.root, *(path for path in restored.root.rglob("*") if path.is_dir())]
    assert [path for path in folders if path.stat().st_mode & 0o077] == []
    jobs = Outbox(restored.outbox).publishable("index", 10)
    assert [job.key for job in jobs] == ["index:x"]
    assert not restored.index(Scope.WORK).exists()
    assert [p.name for p in (tmp_path / "backups").iterdir()] == [report.archive.name]


def test_a_backup_while_the_engine_works_is_whole(home: Home, tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    tokens = write_sessions(folder, sessions=20, messages=4)
    with running(home):
        assert run(home, "ingest", "claude", str(folder)).returncode == 0
        report = run_json(home, "backup", "--to", str(tmp_path / "b"))
    new = Home(tmp_path / "home2")
    restored = run_json(home, "restore", report["archive"], "--to", str(new.root))
    assert restored["files"] == report["files"]
    # each message is in a note, or in an event that is still to be worked off
    outbox = Outbox(new.outbox)
    waiting = outbox.connection().execute("SELECT payload FROM event WHERE payload NOT NULL")
    text = "".join(path.read_text("utf-8") for path in new.vaults.rglob("sources/**/*.md"))
    text += "".join(payload.decode() for (payload,) in waiting)
    assert all(token in text for token in tokens)


def test_a_damaged_archive_is_refused_and_leaves_nothing(filled: Home, tmp_path: Path) -> None:
    archive = back_up(filled, tmp_path / "b").archive
    data = archive.read_bytes()
    for cut in (0, 30, len(data) // 2, len(data) - 100):
        bad = tmp_path / "b" / "bad.tar.gz"
        bad.write_bytes(data[:cut])
        with pytest.raises(BadInputError):
            restore(bad, tmp_path / "new")
        assert not (tmp_path / "new").exists()
    done = run(filled, "backup", "--verify", str(bad))
    assert done.returncode == 1
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["../evil", "/evil-of-a-backup", "vault/../../evil"])
def test_an_archive_that_would_write_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    archive = tmp_path / "x.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        info = tarfile.TarInfo(name)
        info.size = 4
        tar.addfile(info, io.BytesIO(b"evil"))
        link = tarfile.TarInfo("vault/link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    with pytest.raises(BadInputError, match="does not belong"):
        verify(archive)
    assert not (tmp_path / "evil").exists()


def test_a_home_that_holds_something_is_never_overwritten(filled: Home, tmp_path: Path) -> None:
    archive = back_up(filled, tmp_path / "b").archive
    with pytest.raises(UsageError, match="not empty"):
        restore(archive, filled.root)
    assert run(filled, "restore", str(archive)).returncode == 2


def test_links_out_of_the_home_are_not_followed(filled: Home, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("hidden")
    (filled.vault(Scope.WORK) / "link.md").symlink_to(tmp_path / "secret")
    (filled.vault(Scope.WORK) / "folder").symlink_to(tmp_path)
    archive = back_up(filled, tmp_path / "b").archive
    with tarfile.open(archive) as tar:
        assert not any("link" in name or "secret" in name for name in tar.getnames())


def test_a_routine_keeps_the_last_seven(settings: Settings, tmp_path: Path) -> None:
    clock = ManualClock(datetime(2026, 11, 2, tzinfo=UTC))
    folder = tmp_path / "b"
    for _ in range(9):
        clock.advance(86_400)
        back_up(settings.paths, folder, clock=clock)
    report = scheduled_backup(settings, [str(folder)])
    names = sorted(path.name for path in folder.iterdir())
    assert len(names) == 7
    assert Path(report["archive"]).name in names
    assert json.dumps(dict(report))

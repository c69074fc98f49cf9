"""Files are written whole or not at all, through no link, and never over what was not seen."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from context_engine.errors import (
    BadInputError,
    ConfigError,
    DeadlineExceededError,
    NoteConflictError,
    NotFoundError,
    UnsafePathError,
)
from context_engine.home import Home
from context_engine.scopes import Scope
from vault import store
from vault.listing import list_notes
from vault.locks import note_lock
from vault.paths import vault_root
from vault.store import Snapshot, clean_leftovers, read, remove, rewrite, write

KILLED_WRITER = """
import sys
from pathlib import Path
from vault.store import read_or_none, write
root, size = Path(sys.argv[1]), 300_000
print("ready", flush=True)
number = 0
while True:
    number += 1
    letter = b"%c" % (97 + number % 26)
    write(root, "a/b.md", letter * size, read_or_none(root, "a/b.md"))
"""


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def root(home: Home) -> Path:
    return vault_root(home, Scope.WORK)


def test_what_was_written_is_read(root: Path) -> None:
    write(root, "knowledge/田中.md", "題".encode(), None)
    assert read(root, "knowledge/田中.md").data == "題".encode()
    assert names(root / "knowledge") == ["田中.md"]


def test_a_new_note_does_not_replace_one_that_appeared_meanwhile(root: Path) -> None:
    write(root, "a.md", b"mine", None)
    with pytest.raises(NoteConflictError):
        write(root, "a.md", b"theirs", None)
    assert read(root, "a.md").data == b"mine"


def test_a_note_that_a_person_saved_meanwhile_is_not_overwritten(root: Path) -> None:
    write(root, "a.md", b"one", None)
    seen = read(root, "a.md")
    (root / "a.md").write_bytes(b"a person's")
    with pytest.raises(NoteConflictError):
        write(root, "a.md", b"two", seen)
    with pytest.raises(NoteConflictError):
        remove(root, "a.md", seen)
    assert read(root, "a.md").data == b"a person's"
    assert names(root) == ["a.md"]


def test_a_rewrite_begins_again_with_what_a_person_saved_in_between(root: Path) -> None:
    write(root, "a.md", b"one", None)

    def change(seen: Snapshot | None) -> tuple[bytes | None, None]:
        assert seen is not None
        if seen.data == b"one":
            (root / "a.md").write_bytes(b"person")
        return seen.data + b"+", None

    rewrite(root, "a.md", change)
    assert read(root, "a.md").data == b"person+"


def test_a_note_that_never_stops_changing_is_given_up_with_its_name(root: Path) -> None:
    write(root, "a.md", b"0", None)

    def change(seen: Snapshot | None) -> tuple[bytes | None, None]:
        (root / "a.md").write_bytes((seen.data if seen else b"") + b"!")
        return b"mine", None

    with pytest.raises(NoteConflictError, match=r"a\.md"):
        rewrite(root, "a.md", change)


@pytest.mark.parametrize(
    "path",
    ["../x.md", "/etc/x.md", "a/../../x.md", "", "a//b.md", "./a.md", ".git/x.md", "a/.hidden.md",
     "a\x00.md", "a\nb.md", "a\\b.md", "x" * 2000],
)  # fmt: skip
def test_a_path_that_leaves_its_vault_or_hides_is_refused(root: Path, path: str) -> None:
    with pytest.raises(UnsafePathError):
        read(root, path)
    with pytest.raises(UnsafePathError):
        write(root, path, b"x", None)


def test_links_are_refused_for_reading_and_writing(root: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_bytes(b"secret")
    (root / "soft.md").symlink_to(secret)
    (root / "dangling.md").symlink_to(tmp_path / "nowhere.md")
    (root / "hard.md").hardlink_to(secret)
    (root / "folder").symlink_to(tmp_path)
    for path in ("soft.md", "dangling.md", "hard.md", "folder/secret.md"):
        with pytest.raises(UnsafePathError):
            read(root, path)
        with pytest.raises(UnsafePathError):
            write(root, path, b"x", None)
    assert secret.read_bytes() == b"secret"
    assert not (tmp_path / "nowhere.md").exists()


def test_what_is_no_file_is_refused_at_once(root: Path) -> None:
    os.mkfifo(root / "pipe.md")
    (root / "folder.md").mkdir()
    for path in ("pipe.md", "folder.md", "pipe.md/x.md"):
        with pytest.raises(UnsafePathError):
            read(root, path)


def test_an_absent_note_is_not_found(root: Path) -> None:
    with pytest.raises(NotFoundError):
        read(root, "no/such.md")


def test_a_huge_file_is_no_note(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MAX_NOTE_BYTES", 10)
    (root / "a.md").write_bytes(b"x" * 11)
    with pytest.raises(BadInputError, match="11 bytes"):
        read(root, "a.md")


def test_a_rewritten_note_keeps_its_mode_and_a_new_one_is_the_owners_alone(root: Path) -> None:
    write(root, "a.md", b"1", None)
    assert (root / "a.md").stat().st_mode & 0o777 == 0o600
    (root / "a.md").chmod(0o644)
    write(root, "a.md", b"2", read(root, "a.md"))
    assert (root / "a.md").stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("link", ["work", "work/inside"])
def test_vaults_that_overlap_are_refused(home: Home, link: str) -> None:
    home.vault(Scope.PUBLIC).rmdir()
    target = home.vaults / link
    target.mkdir(exist_ok=True)
    home.vault(Scope.PUBLIC).symlink_to(target)
    for scope in (Scope.WORK, Scope.PUBLIC):
        with pytest.raises(ConfigError, match="overlap"):
            vault_root(home, scope)


def test_a_vault_may_lie_elsewhere(home: Home, tmp_path: Path) -> None:
    home.vault(Scope.PUBLIC).rmdir()
    (tmp_path / "cloud").mkdir()
    home.vault(Scope.PUBLIC).symlink_to(tmp_path / "cloud")
    write(vault_root(home, Scope.PUBLIC), "a.md", b"x", None)
    assert (tmp_path / "cloud/a.md").read_bytes() == b"x"


def test_a_write_returns_when_its_folder_is_on_the_disk(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    monkeypatch.setattr(store, "sync_folder", synced.append)
    write(root, "a.md", b"x", None)
    assert len(synced) == 1
    write(root, "b.md", b"x", None)
    assert len(synced) == 2


def test_a_listing_passes_over_hidden_files_links_and_other_types(
    root: Path, tmp_path: Path
) -> None:
    for path in ("b.md", "a/c.md", "日本語/メモ.md"):
        write(root, path, b"x", None)
    (root / ".obsidian").mkdir()
    (root / ".obsidian/x.md").write_bytes(b"")
    (root / "image.png").write_bytes(b"")
    (root / "link.md").symlink_to(root / "b.md")
    (root / "elsewhere").symlink_to(tmp_path)
    (root / "folder.md").mkdir()
    Path(os.fsdecode(bytes(root) + b"/\xff.md")).write_bytes(b"")
    assert [file.path for file in list_notes(root)] == ["a/c.md", "b.md", "日本語/メモ.md"]


@pytest.mark.chaos
def test_a_writer_killed_at_any_moment_leaves_a_whole_note_and_no_litter(
    home: Home, root: Path
) -> None:
    for round_ in range(12):
        writer = subprocess.Popen(
            [sys.executable, "-c", KILLED_WRITER, str(root)], stdout=subprocess.PIPE
        )
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"ready\n"
        # a different moment of the write cycle each time
        time.sleep(0.01 + 0.0037 * round_)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        if (root / "a/b.md").exists():
            data = read(root, "a/b.md").data
            assert len(data) == 300_000
            assert set(data) == {data[0]}
    clean_leftovers(home, min_age_seconds=0)
    assert set(names(root / "a")) <= {"b.md"}


def test_a_living_writers_temporary_file_is_left_alone(home: Home, root: Path) -> None:
    inside, leave = threading.Event(), threading.Event()

    def slow_write() -> None:
        with store._temporary(os.open(root, os.O_RDONLY), b"x", 0o600):
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=slow_write)
    thread.start()
    assert inside.wait(10)
    assert clean_leftovers(home, min_age_seconds=0) == 0
    leave.set()
    thread.join()
    (root / ".ce-tmp-0000").write_bytes(b"of a dead one")
    assert clean_leftovers(home, min_age_seconds=60) == 0
    assert clean_leftovers(home, min_age_seconds=0) == 1


def test_a_lock_excludes_threads_and_ends_in_a_named_error(home: Home) -> None:
    with note_lock(home, Scope.WORK, "a"):
        outcome: list[object] = []

        def second() -> None:
            try:
                with note_lock(home, Scope.WORK, "a", seconds=0.05):
                    outcome.append("entered")
            except DeadlineExceededError as error:
                outcome.append(error)

        thread = threading.Thread(target=second)
        thread.start()
        thread.join()
    assert isinstance(outcome[0], DeadlineExceededError)
    with note_lock(home, Scope.WORK, "a", seconds=0.05):
        pass


def test_a_lock_survives_the_deletion_of_the_state_folder(home: Home) -> None:
    with note_lock(home, Scope.WORK, "a"):
        for path in home.locks.iterdir():
            path.unlink()
        # the file is new, so the lock is too: what matters is that nobody waits on the old one
        with note_lock(home, Scope.WORK, "a", seconds=1):
            pass

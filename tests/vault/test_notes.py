"""Every file of a vault is a note; what cannot be read is told, and the rest goes on."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from context_engine.errors import NotFoundError, UnsafePathError
from context_engine.events import BadRecord
from context_engine.home import Home
from context_engine.insights import Confidence, Kind
from context_engine.scopes import Scope
from support.vaults import conversation, insight, said
from vault.insights import remove_provisional, save_insight
from vault.notes import Note, NoteType, iter_notes, read_note, scan_notes
from vault.sources import write_source


def put(home: Home, path: str, data: str | bytes) -> Path:
    file = home.vault(Scope.WORK) / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data.encode() if isinstance(data, str) else data)
    return file


def test_a_persons_plain_file_is_a_note(home: Home) -> None:
    put(home, "メモ/設計.md", "# 設計メモ\n\nWALにする。[[他のメモ]]\n")
    note = read_note(home, Scope.WORK, "メモ/設計.md")
    assert (note.type, note.title, note.problem) == (NoteType.PLAIN, "設計メモ", None)
    assert (note.kind, note.confidence, note.front) == (None, None, {})
    assert [link.target for link in note.links] == ["他のメモ"]


def test_front_matter_of_a_person_is_understood_as_people_write_it(home: Home) -> None:
    put(home, "a.md", "---\ntitle: 2026\ntags: '#one'\ndate: 2026-11-02\npeople: 田中\n---\nx\n")
    note = read_note(home, Scope.WORK, "a.md")
    assert (note.title, note.tags, note.people) == ("2026", ("one",), ("田中",))
    assert note.date == datetime(2026, 11, 2, tzinfo=UTC)


def test_front_matter_of_the_wrong_shape_is_passed_over(home: Home) -> None:
    front = "---\n" + "".join(
        f"{key}: [a, {{b: c}}]\n"
        for key in ("title", "kind", "confidence", "date", "refs", "meta", "id", "extractor")
    )
    for path in ("inbox/a.md", "knowledge/value/a.md", "sources/x/a.md", "projects/a.md", "b.md"):
        put(home, path, f"{front}type: insight\n---\n# 題\n")
        note = read_note(home, Scope.WORK, path)
        assert (note.title, note.date, note.refs, note.messages) == ("題", None, (), ())
        assert note.confidence is not Confidence.VALIDATED
    assert remove_provisional(home, Scope.WORK, "c") == ()


def test_broken_front_matter_leaves_the_body_readable_and_believes_nothing(home: Home) -> None:
    broken = "---\nconfidence: validated\nkind: [\n---\n# 決定\n\nWALにする。\n"
    file = put(home, "knowledge/decision/x.md", broken)
    note = read_note(home, Scope.WORK, "knowledge/decision/x.md")
    assert note.problem is not None
    assert "WALにする。" in note.body
    assert (note.title, note.kind, note.confidence) == ("決定", Kind.DECISION, Confidence.RAW)
    assert file.read_text() == broken


def test_the_vault_decides_the_scope_and_the_place_decides_the_type(home: Home) -> None:
    claim = "---\ntype: identity\nscope: public\nkind: value\nconfidence: validated\n---\nx\n"
    put(home, "notes/x.md", claim)
    note = read_note(home, Scope.WORK, "notes/x.md")
    assert (note.scope, note.type, note.confidence) == (Scope.WORK, NoteType.PLAIN, None)


@pytest.mark.parametrize("path", ["x.md", "a/b.md", "x.txt", "x"])
def test_an_absent_note_and_a_file_that_is_none_are_the_same(home: Home, path: str) -> None:
    put(home, "x.txt", "x")
    with pytest.raises(NotFoundError):
        read_note(home, Scope.WORK, path)


def test_a_path_into_another_vault_is_refused(home: Home) -> None:
    put(home, "x.md", "x")
    with pytest.raises(UnsafePathError):
        read_note(home, Scope.PUBLIC, "../work/x.md")


def test_one_unreadable_file_is_told_and_the_rest_is_read(home: Home, tmp_path: Path) -> None:
    put(home, "a.md", "一")
    put(home, "b.md", "題".encode("shift_jis"))
    put(home, "c.md", "三")
    put(home, "d.md", "四")
    (tmp_path / "target.md").write_text("secret")
    (home.vault(Scope.WORK) / "hard.md").hardlink_to(tmp_path / "target.md")
    found = list(iter_notes(home, Scope.WORK))
    assert [note.path for note in found if isinstance(note, Note)] == ["a.md", "c.md", "d.md"]
    bad = {record.place: record.reason for record in found if isinstance(record, BadRecord)}
    assert set(bad) == {"b.md", "hard.md"}
    assert "UTF-8" in bad["b.md"]
    assert "link" in bad["hard.md"]


def test_a_scan_sees_every_note_that_reading_sees(home: Home) -> None:
    write_source(home, conversation(said(0, "一")))
    save_insight(home, insight())
    put(home, "メモ.md", "x")
    scanned = {file.path: (file.size, file.mtime_ns) for file in scan_notes(home, Scope.WORK)}
    notes = [note for note in iter_notes(home, Scope.WORK) if isinstance(note, Note)]
    assert scanned == {note.path: (note.size, note.mtime_ns) for note in notes}


def test_thousands_of_notes_are_read_in_seconds(home: Home) -> None:
    template = read_note(home, Scope.WORK, save_insight(home, insight()).path)
    text = template.text.head + template.body
    for number in range(2_000):
        put(home, f"knowledge/decision/{number}.md", text)
    started = time.process_time()
    kinds = {note.kind for note in iter_notes(home, Scope.WORK) if isinstance(note, Note)}
    assert kinds == {Kind.DECISION}
    assert time.process_time() - started < 8

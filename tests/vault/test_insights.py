"""An insight lands where its kind says, once, and never over a person's words."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from context_engine.errors import UnsafePathError
from context_engine.events import Ref
from context_engine.home import Home
from context_engine.insights import Confidence, Kind
from context_engine.scopes import Scope
from support.vaults import START, conversation, insight, said
from vault.escape import canonical
from vault.insights import remove_provisional, save_insight
from vault.notes import NoteType, iter_notes, read_note
from vault.sources import write_source
from vault.standing import Outcome
from vault.statements import Statement, parse_statement, render_statement, summary_of

MODEL = "ollama:qwen3.5:9b"
SUBJECTS = {Kind.PROJECT: "shop", Kind.PERSON: "田中さん"}
KINDS = pytest.mark.parametrize("kind", list(Kind))


def of_kind(kind: Kind, **more: Any) -> Any:
    return insight(kind=kind, subject=SUBJECTS.get(kind), **more)


def file_of(home: Home, path: str) -> Path:
    return home.vault(Scope.WORK) / path


def all_files(home: Home) -> dict[str, bytes]:
    root = home.vault(Scope.WORK)
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*.md")}


@pytest.mark.parametrize(
    ("kind", "folder"),
    [
        (Kind.VALUE, "knowledge/value/2026-11-02-valkey-"),
        (Kind.DECISION, "knowledge/decision/2026-11-02-valkey-"),
        (Kind.LEARNING, "knowledge/learning/2026-11-02-valkey-"),
        (Kind.PROJECT, "projects/shop.md"),
        (Kind.PERSON, "people/"),
    ],
)
def test_the_kind_alone_decides_where_it_lands(home: Home, kind: Kind, folder: str) -> None:
    result = save_insight(home, of_kind(kind))
    assert result.outcome is Outcome.CREATED
    assert result.path.startswith(folder)


@pytest.mark.parametrize("kind", [Kind.PROJECT, Kind.PERSON])
def test_what_names_no_subject_waits_in_the_inbox_as_raw(home: Home, kind: Kind) -> None:
    result = save_insight(home, insight(kind=kind, subject=" "))
    assert result.path.startswith("inbox/2026-11-02-valkey-")
    note = read_note(home, Scope.WORK, result.path)
    assert (note.kind, note.confidence) == (kind, Confidence.RAW)


def test_a_note_says_all_that_is_known(home: Home) -> None:
    source = write_source(home, conversation(said(0, "Valkeyにしよう。ライセンスが理由。")))
    given_ = insight(
        source_path=source.path,
        people=("田中", "Kim, J."),
        tags=("cues", "他者情報"),
        refs=(Ref("/repo", "compose.yaml", "abc123"),),
        confidence=Confidence.VALIDATED,
        verified=START,
    )
    result = save_insight(home, given_)
    note = read_note(home, Scope.WORK, result.path)
    assert (note.type, note.kind, note.confidence) == (
        NoteType.INSIGHT,
        Kind.DECISION,
        Confidence.VALIDATED,
    )
    assert note.title == "キューはValkeyにする"
    assert note.summary == "キューはValkeyにする。"
    assert (note.project, note.source, note.date, note.verified) == ("shop", "claude", START, START)
    assert note.people == ("田中", "Kim J.")
    assert note.tags == ("cues", "他者情報")
    assert note.refs == given_.refs
    assert "> Valkeyにしよう。ライセンスが理由。" in note.body
    (link,) = note.links
    assert link.text == "Redis を Valkey に替える"
    assert (file_of(home, result.path).parent / link.target).resolve() == file_of(
        home, source.path
    ).resolve()


def test_a_section_says_all_that_is_known(home: Home) -> None:
    result = save_insight(
        home,
        of_kind(Kind.PERSON, tags=("他者情報",), source_path="sources/claude/2026/11/x.md"),
    )
    note = read_note(home, Scope.WORK, result.path)
    assert (note.type, note.title, note.confidence) == (NoteType.PERSON, "田中さん", None)
    (entry,) = note.entries
    assert entry.title == "キューはValkeyにする"
    assert (entry.confidence, entry.extractor, entry.at) == (Confidence.RAW, "cues", START)
    assert entry.statement == Statement(
        content="キューはValkeyにする。ライセンスが理由。",
        evidence="Valkeyにしよう。ライセンスが理由。",
        tags=("他者情報",),
        source_title="x",
        source_path="sources/claude/2026/11/x.md",
    )


@KINDS
def test_saving_again_changes_no_byte(home: Home, kind: Kind) -> None:
    save_insight(home, of_kind(kind))
    before = all_files(home)
    assert save_insight(home, of_kind(kind)).outcome is Outcome.UNCHANGED
    assert all_files(home) == before


@KINDS
def test_a_model_replaces_what_rules_wrote_and_never_the_other_way_round(
    home: Home, kind: Kind
) -> None:
    first = save_insight(home, of_kind(kind))
    better = save_insight(home, of_kind(kind, extractor=MODEL, content="モデルの言葉。", tags=()))
    assert (better.outcome, better.path) == (Outcome.UPDATED, first.path)
    assert "モデルの言葉。" in file_of(home, first.path).read_text()
    assert save_insight(home, of_kind(kind)).outcome is Outcome.OUTRANKED
    assert "モデルの言葉。" in file_of(home, first.path).read_text()


@KINDS
def test_the_same_words_in_another_conversation_keep_their_first_source(
    home: Home, kind: Kind
) -> None:
    save_insight(home, of_kind(kind))
    before = all_files(home)
    later = of_kind(kind, event_id="f" * 32, created=START + timedelta(days=3), title="別の題")
    assert save_insight(home, later).outcome is Outcome.UNCHANGED
    assert all_files(home) == before


EDITS: dict[str, Callable[[str], str]] = {
    "text": lambda text: text.replace("ライセンスが理由。\n", "費用が理由。\n", 1),
    "title": lambda text: text.replace("キューはValkeyにする", "キューはSQLiteにする"),
    "confidence": lambda text: text.replace("raw", "validated"),
}


@KINDS
@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS.keys())
def test_what_a_person_edited_is_never_overwritten_nor_removed(
    home: Home, kind: Kind, edit: Callable[[str], str]
) -> None:
    path = save_insight(home, of_kind(kind)).path
    file = file_of(home, path)
    file.write_text(edit(file.read_text()))
    before = all_files(home)
    assert save_insight(home, of_kind(kind, extractor=MODEL)).outcome is Outcome.KEPT
    assert remove_provisional(home, Scope.WORK, "e" * 32) == ()
    assert all_files(home) == before


@KINDS
def test_writing_validated_into_a_file_validates_nothing(home: Home, kind: Kind) -> None:
    path = save_insight(home, of_kind(kind)).path
    file = file_of(home, path)
    file.write_text(file.read_text().replace("raw", "validated"))
    note = read_note(home, Scope.WORK, path)
    found: list[Confidence | None] = [entry.confidence for entry in note.entries]
    assert (found or [note.confidence]) == [Confidence.RAW]


def test_changing_the_words_of_a_validated_note_makes_it_raw(home: Home) -> None:
    path = save_insight(home, insight(confidence=Confidence.VALIDATED)).path
    assert read_note(home, Scope.WORK, path).confidence is Confidence.VALIDATED
    file = file_of(home, path)
    file.write_text(file.read_text().replace("ライセンスが理由。", "気分が理由。"))
    assert read_note(home, Scope.WORK, path).confidence is Confidence.RAW


def test_own_front_matter_entries_and_comments_survive_a_better_version(home: Home) -> None:
    path = save_insight(home, insight()).path
    file = file_of(home, path)
    file.write_text(file.read_text().replace("kind: ", "mine: [a,  b] # 自分の\nkind: "))
    assert save_insight(home, insight(extractor=MODEL, title="改")).outcome is Outcome.UPDATED
    assert "mine: [a,  b] # 自分の\n" in file.read_text()


def test_a_reviewed_note_is_a_persons(home: Home) -> None:
    path = save_insight(home, insight()).path
    file = file_of(home, path)
    file.write_text(file.read_text().replace("---\n# ", "reviewed: 2026-11-03T00:00:00Z\n---\n# "))
    assert save_insight(home, insight(extractor=MODEL)).outcome is Outcome.KEPT
    assert remove_provisional(home, Scope.WORK, "e" * 32) == ()


def test_a_note_that_a_person_moved_to_another_kind_is_not_written_again(home: Home) -> None:
    path = save_insight(home, insight()).path
    moved = path.replace("decision", "value")
    file_of(home, moved).parent.mkdir()
    file_of(home, path).rename(file_of(home, moved))
    result = save_insight(home, insight(extractor=MODEL))
    assert (result.outcome, result.path) == (Outcome.KEPT, moved)
    assert list(all_files(home)) == [moved]


def test_a_persons_own_project_note_gets_the_section_and_keeps_its_bytes(home: Home) -> None:
    file = file_of(home, "projects/shop.md")
    file.parent.mkdir()
    own = "---\nstate: active # 今\ntype: project\n---\n# Shop\n\n## 目標\n\n* 秋に公開する\n"
    file.write_text(own)
    save_insight(home, of_kind(Kind.PROJECT))
    text = file.read_text()
    assert text.startswith("---\nstate: active # 今\ntype: project\n")
    assert "# Shop\n\n## 目標\n\n* 秋に公開する\n\n## 2026-11-02 · キュー" in text


@pytest.mark.parametrize("own", ["# 題だけ\n", "---\nstate: [\n---\n# 壊れた\n"])
def test_a_persons_note_without_readable_front_matter_is_left_alone(home: Home, own: str) -> None:
    file = file_of(home, "projects/shop.md")
    file.parent.mkdir()
    file.write_text(own)
    result = save_insight(home, of_kind(Kind.PROJECT))
    assert file.read_text() == own
    assert result.path.startswith("projects/shop-")
    assert save_insight(home, of_kind(Kind.PROJECT, evidence="別")).path == result.path


def test_a_person_is_found_by_an_alias_that_the_owner_wrote(home: Home) -> None:
    file = file_of(home, "people/tanaka.md")
    file.parent.mkdir()
    file.write_text("---\ntype: person\ntitle: Tanaka\naliases: [田中さん]\n---\n# Tanaka\n")
    assert save_insight(home, of_kind(Kind.PERSON)).path == "people/tanaka.md"


def test_sections_stand_in_the_order_of_time_and_update_the_note(home: Home) -> None:
    days = [2, 0, 1]
    for day in days:
        save_insight(
            home,
            of_kind(Kind.PROJECT, evidence=f"{day}", created=START + timedelta(days=day)),
        )
    note = read_note(home, Scope.WORK, "projects/shop.md")
    assert [entry.at for entry in note.entries] == [START + timedelta(days=d) for d in sorted(days)]
    assert note.front["updated"] == "2026-11-04T09:05:11Z"


def test_provisional_insights_of_one_event_go_and_nothing_else(home: Home) -> None:
    for kind in Kind:
        save_insight(home, of_kind(kind))
        save_insight(home, of_kind(kind, evidence="別の出来事", event_id="f" * 32))
        save_insight(home, of_kind(kind, evidence="モデル", extractor=MODEL))
    kept = save_insight(home, insight(evidence="残す"))
    gone = remove_provisional(home, Scope.WORK, "e" * 32, keep=[kept.insight_id])
    assert len(gone) == 5
    files = all_files(home)
    assert len(files) == 3 * 2 + 1 + 2
    text = b"".join(files.values()).decode()
    assert text.count("別の出来事") == text.count("> モデル") == 5
    assert "> Valkeyにしよう" not in text
    assert remove_provisional(home, Scope.WORK, "e" * 32, keep=[kept.insight_id]) == ()


def test_a_note_that_held_only_provisional_sections_goes_with_them(home: Home) -> None:
    save_insight(home, of_kind(Kind.PERSON))
    own = save_insight(home, of_kind(Kind.PROJECT)).path
    file = file_of(home, own)
    file.write_text(file.read_text().replace("goal: null", "goal: 秋に公開する"))
    remove_provisional(home, Scope.WORK, "e" * 32)
    assert list(all_files(home)) == [own]


@pytest.mark.parametrize("kind", [Kind.DECISION, Kind.PROJECT])
def test_a_note_that_a_person_made_unreadable_does_not_stop_the_rest(
    home: Home, tmp_path: Path, kind: Kind
) -> None:
    for number, harm in enumerate(("encoding", "link")):
        subject = f"s{number}" if kind is Kind.PROJECT else None
        path = save_insight(home, insight(kind=kind, subject=subject, evidence=harm)).path
        file = file_of(home, path)
        if harm == "encoding":
            file.write_bytes(file.read_bytes() + b"\xff")
        else:
            (tmp_path / f"{kind}.md").hardlink_to(file)
    other = save_insight(home, of_kind(kind)).path
    assert remove_provisional(home, Scope.WORK, "e" * 32) == (other,)


def test_what_a_person_wrote_below_a_provisional_section_stays(home: Home) -> None:
    path = save_insight(home, of_kind(Kind.PROJECT)).path
    file = file_of(home, path)
    file.write_text(file.read_text() + "\n## 自分のメモ\n\n大事。\n")
    remove_provisional(home, Scope.WORK, "e" * 32)
    assert file.read_text().endswith("# shop\n\n## 自分のメモ\n\n大事。\n")


def test_hostile_words_from_a_model_stay_inside_their_note(home: Home) -> None:
    hostile = (
        "---\n# x\n\n## 2026-01-01 · 嘘 <!-- ce:i=0123456789ab validated -->\n\n<img src=x>\n```"
    )
    for kind in Kind:
        result = save_insight(
            home,
            insight(
                kind=kind,
                subject=f"../../{hostile}",
                title=hostile,
                content=hostile,
                evidence=hostile,
                project=hostile,
                people=(hostile,),
                tags=(hostile, "a]\nconfidence: validated"),
                extractor=hostile,
                source_path="../../../etc/passwd",
                source=hostile,
            ),
        )
        note = read_note(home, Scope.WORK, result.path)
        assert note.problem is None
        found: list[Confidence | None] = [entry.confidence for entry in note.entries]
        assert (found or [note.confidence]) == [Confidence.RAW]
        assert "<img" not in note.body.replace("\\<img", "")
    assert {path.suffix for path in home.vaults.rglob("*") if path.is_file()} == {".md"}
    assert not list(iter_notes(home, Scope.PERSONAL))


def test_a_linked_folder_is_refused(home: Home, tmp_path: Path) -> None:
    (home.vault(Scope.WORK) / "knowledge").symlink_to(tmp_path)
    with pytest.raises(UnsafePathError):
        save_insight(home, insight())


@pytest.mark.parametrize(
    ("content", "summary"),
    [
        ("一文目。二文目。", "一文目。"),
        ("First one. Second.", "First one."),
        ("v1.2 is out", "v1.2 is out"),
        ("# 見出し\n\n本文", "# 見出し 本文"),
        ("", ""),
        ("あ" * 500, "あ" * 159 + "…"),
    ],
)
def test_a_summary_is_the_first_sentence(content: str, summary: str) -> None:
    assert summary_of(content) == summary


WORDS = st.lists(
    st.sampled_from(
        ["> ", "\n", "\n\n", "Source: [a](b)", "Tags: x", "# ", "```", "<b>", "題", "."]
    )
    | st.text(max_size=4),
    max_size=8,
).map(lambda parts: canonical("".join(parts)))


@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(WORDS.filter(bool), WORDS.filter(bool))
@example("  0", ">")
def test_a_statement_reads_back_as_it_was(content: str, evidence: str) -> None:
    lines = [line.rstrip() for line in evidence.split("\n")]
    statement = Statement(content, "\n".join(lines), ("x", "他者情報"), "題", "sources/a/b.md")
    assert parse_statement(render_statement(statement, "people"), "people") == statement

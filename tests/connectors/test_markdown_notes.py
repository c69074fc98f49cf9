"""A folder of notes becomes documents whose sections follow every edit in place."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from connectors.base import ReadOptions
from connectors.markdown import MarkdownConnector
from connectors.markdown_sections import sections
from context_engine.clock import ManualClock
from context_engine.errors import UsageError
from context_engine.events import REMOVED, Role
from context_engine.home import Home
from context_engine.scopes import Scope, ScopeRule
from support.archives import write_zip
from support.sources import AKI, read_source
from support.transcripts import NOW, MemoryLedger, Reading

EXAMPLES = settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)

WORKLOG = """# 作業日誌

移行を始めた。

## キュー

Valkeyに決めた。理由はライセンス。

### 詳細

```sh
## not a heading
```

## Next

- write tests
"""


def read(*paths: Path, ledger: MemoryLedger | None = None, options: ReadOptions = AKI) -> Reading:
    return read_source(MarkdownConnector(ManualClock(NOW)), *paths, ledger=ledger, options=options)


def write(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_file_is_a_document_and_its_sections_are_the_owners_messages(tmp_path: Path) -> None:
    (document,) = read(write(tmp_path, "2026-11-02.md", WORKLOG)).documents
    assert (document.title, f"{document.started}") == ("作業日誌", "2026-11-02 00:00:00+00:00")
    assert [(u.author, u.role, u.text) for u in document.utterances] == [
        ("Aki", Role.OWNER, "移行を始めた。"),
        (
            "Aki",
            Role.OWNER,
            (
                "**キュー**\n\nValkeyに決めた。理由はライセンス。\n\n**詳細**\n\n"
                "```sh\n## not a heading\n```"
            ),
        ),
        ("Aki", Role.OWNER, "**Next**\n\n- write tests"),
    ]


def test_only_the_edited_section_is_sent_again_under_its_id(tmp_path: Path) -> None:
    ledger = MemoryLedger()
    path = write(tmp_path, "log.md", WORKLOG)
    (first,) = read(path, ledger=ledger).documents
    assert read(path, ledger=ledger).documents == []
    write(tmp_path, "log.md", WORKLOG.replace("write tests", "release"))
    (second,) = read(path, ledger=ledger).documents
    assert second.native_id == first.native_id
    assert [(u.native_id, u.text) for u in second.utterances] == [
        (first.utterances[2].native_id, "**Next**\n\n- release")
    ]


def test_a_new_section_is_added_and_a_removed_one_is_replaced_by_a_notice(tmp_path: Path) -> None:
    ledger = MemoryLedger()
    path = write(tmp_path, "log.md", "## A\none\n\n## B\ntwo\n")
    (first,) = read(path, ledger=ledger).documents
    write(tmp_path, "log.md", "## New\nzero\n\n## B\ntwo\n")
    (second,) = read(path, ledger=ledger).documents
    assert {(u.native_id, u.text) for u in second.utterances} == {
        (second.utterances[0].native_id, "**New**\n\nzero"),
        (first.utterances[0].native_id, REMOVED),
    }
    assert read(path, ledger=ledger).documents == []


def test_sections_of_the_same_name_below_different_headings_keep_apart(tmp_path: Path) -> None:
    ledger = MemoryLedger()
    text = "# Mon\n## Todo\na\n# Tue\n## Todo\nb\n## Todo\nc\n"
    path = write(tmp_path, "log.md", text)
    assert len({u.native_id for u in read(path, ledger=ledger).said}) == 3
    write(tmp_path, "log.md", text.replace("\na\n", "\na2\n"))
    assert read(path, ledger=ledger).texts == ["**Todo**\n\na2"]


def test_the_same_folder_read_from_elsewhere_brings_nothing_new(tmp_path: Path) -> None:
    ledger = MemoryLedger()
    write(tmp_path, "notes/2026/log.md", WORKLOG)
    read(tmp_path / "notes", ledger=ledger)
    assert read(tmp_path / "notes" / "2026", ledger=ledger).documents == []
    assert (
        read(tmp_path / "notes" / ".." / "notes" / "2026" / "log.md", ledger=ledger).documents == []
    )


def test_below_the_home_folder_notes_are_named_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (document,) = read(write(tmp_path, "notes/a.md", "x")).documents
    assert document.native_id == "~/notes/a.md"


@pytest.mark.parametrize(
    ("name", "text", "date"),
    [
        ("2026-11-02 log.md", "x", "2026-11-02"),
        ("20261102.txt", "x", "2026-11-02"),
        ("2026年11月2日.md", "x", "2026-11-02"),
        ("2026/11/02.md", "x", "2026-11-02"),
        ("2026-11-02.md", "---\ndate: 2026-10-01\n---\nx", "2026-10-01"),
        ("plan for 2027-05-01.md", "x", None),
        ("log.md", "## 2026-11-02 (月)\nx", None),
    ],
)
def test_the_date_comes_from_front_matter_or_the_name_and_never_lies_ahead(
    tmp_path: Path, name: str, text: str, date: str | None
) -> None:
    (document,) = read(write(tmp_path, name, text)).documents
    assert (f"{document.started:%F}" if document.started else None) == date


def test_sections_headed_by_a_date_are_dated_by_it(tmp_path: Path) -> None:
    text = "# Log\n## 2026-11-02 (月)\na\n## 2026-11-03\nb\n## Plan for 2026-11-20\nc\n"
    said = read(write(tmp_path, "log.md", text)).said
    assert [f"{u.at:%F}" if u.at else None for u in said] == ["2026-11-02", "2026-11-03", None]


def test_front_matter_gives_title_tags_and_project_and_is_no_message(tmp_path: Path) -> None:
    text = "---\ntitle: 設計メモ\ntags: [redis, キュー]\nproject: shop\n---\n\nText.\n"
    (document,) = read(write(tmp_path, "a.md", text)).documents
    assert (document.title, document.project, document.meta["tags"]) == (
        "設計メモ",
        "shop",
        "redis, キュー",
    )
    assert [u.text for u in document.utterances] == ["Text."]


def test_changed_tags_alone_update_the_note(tmp_path: Path) -> None:
    ledger = MemoryLedger()
    path = write(tmp_path, "a.md", "---\ntags: [a]\n---\nText.\n")
    read(path, ledger=ledger)
    write(tmp_path, "a.md", "---\ntags: [a, b]\n---\nText.\n")
    (document,) = read(path, ledger=ledger).documents
    assert document.meta["tags"] == "a, b"


def test_a_daily_note_without_a_title_is_named_by_folder_and_day(tmp_path: Path) -> None:
    (document,) = read(write(tmp_path, "worklog/2026-11-02.md", "x")).documents
    assert document.title == "worklog 2026-11-02"


@pytest.mark.parametrize(
    ("front", "author", "role"),
    [
        ("author: Kim", "Kim", Role.OTHER),
        ("author: aki", "Aki", Role.OWNER),
        ("authors: [Aki, Kim]", "Aki, Kim", Role.OTHER),
        ("source: https://x.example/post", "clipping", Role.OTHER),
        ("source: my head", "Aki", Role.OWNER),
    ],
)
def test_notes_that_name_another_author_or_a_web_page_are_not_the_owners_words(
    tmp_path: Path, front: str, author: str, role: Role
) -> None:
    (said,) = read(write(tmp_path, "a.md", f"---\n{front}\n---\nText.\n")).said
    assert (said.author, said.role) == (author, role)


def test_the_scope_follows_the_folder(tmp_path: Path) -> None:
    rules = (ScopeRule(f"{tmp_path}/work/**", Scope.WORK),)
    options = ReadOptions(owner_name="Aki", scope_rules=rules)
    write(tmp_path, "work/aa.md", "x")
    write(tmp_path, "bb.md", "y")
    scopes = {d.title: d.scope for d in read(tmp_path, options=options).documents}
    assert scopes == {"aa": Scope.WORK, "bb": Scope.PERSONAL}


def test_other_peoples_packages_hidden_places_and_other_files_are_counted_only(
    tmp_path: Path,
) -> None:
    for name in ["node_modules/x/readme.md", ".git/a.md", ".hidden.md", "a.png", "note.md"]:
        write(tmp_path, name, "text")
    reading = read(tmp_path)
    assert reading.texts == ["text"]
    kinds = {"below node_modules", "hidden folder", "hidden file", "file .png"}
    assert {u.kind for u in reading.unknown} == kinds


def test_the_engines_own_home_and_notes_are_never_read_again(home: Home, tmp_path: Path) -> None:
    write(home.vault(Scope.PERSONAL), "ideas.md", "mine")
    copied = "---\ntype: insight\ncontent_hash: sha256:ab\n---\nlearned\n"
    write(tmp_path, "copy/insight.md", copied)
    for path in (tmp_path, home.vaults, home.vault(Scope.PERSONAL) / "ideas.md"):
        reading = read(path)
        assert reading.documents == []
        assert {u.kind for u in reading.unknown} >= {"own note"}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\0\0\1", "not text in UTF-8, UTF-16 or Shift_JIS"),
        (b"x" * 9_000_000, "larger than 8 MiB"),
    ],
)
def test_binary_and_huge_files_are_refused_by_name(
    tmp_path: Path, data: bytes, reason: str
) -> None:
    path = write(tmp_path, "a.md", data)
    assert [(bad.place, bad.reason) for bad in read(tmp_path).bad] == [(str(path), reason)]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp932"])
def test_notes_in_other_encodings_are_read(tmp_path: Path, encoding: str) -> None:
    data = "## 決定\r\nValkeyにする\r\n".encode(encoding)
    assert read(write(tmp_path, "a.md", data)).texts == ["**決定**\n\nValkeyにする"]


def test_front_matter_that_is_no_yaml_is_reported_and_the_text_read(tmp_path: Path) -> None:
    bomb = "a: &a [x]\nb: &b [*a, *a]\n"
    reading = read(write(tmp_path, "a.md", f"---\n{bomb}---\nText.\n"))
    assert reading.texts == ["Text."]
    assert [bad.reason for bad in reading.bad] == ["front matter left out: aliases or too deep"]


def test_notes_in_a_zip_are_named_by_archive_and_path(tmp_path: Path) -> None:
    ledger = MemoryLedger()
    archive = write_zip(tmp_path / "notes.zip", {"a/b.md": b"x"})
    (document,) = read(archive, ledger=ledger).documents
    assert document.native_id == "notes.zip!a/b.md"
    assert read(archive, ledger=ledger).documents == []


def test_underlined_headings_cut_and_rules_and_lists_do_not() -> None:
    text = "Title\n=====\n\nPart\n----\na\n\n---\n\n- item\n---\nb\n"
    assert [(s.path, s.text) for s in sections(text)] == [
        (("Title", "Part"), "a\n\n---\n\n- item\n---\nb")
    ]


def test_a_run_without_a_path_says_what_to_name() -> None:
    with pytest.raises(UsageError, match="name a folder"):
        read()


fragments = st.sampled_from(
    ["# A\n", "## B\n", "## B\n", "---\n", "===\n", "```\n", "~~~~\n", "text\n", "\n", "a: b\n",
     "a: [", "  - x\n", "> q\n", "## \n", "title: x\n", "\t# no\n", "&a *a\n"]
)  # fmt: skip


@EXAMPLES
@given(st.lists(fragments | st.text(max_size=8), max_size=30))
def test_any_text_is_read_to_its_end_and_settles(tmp_path: Path, parts: list[str]) -> None:
    path = write(tmp_path, "m.md", "".join(parts).encode("utf-8", "replace"))
    ledger = MemoryLedger()
    first = read(path, ledger=ledger)
    assert len({u.native_id for u in first.said}) == len(first.said)
    assert read(path, ledger=ledger).documents == []


@EXAMPLES
@given(st.binary(max_size=400))
def test_any_bytes_are_read_to_their_end(tmp_path: Path, data: bytes) -> None:
    read(write(tmp_path, "m.md", data))


@pytest.mark.parametrize(
    "line", ["#" * 4000, "# " + " #" * 2000, "`" * 4000, "-" * 4000, "[" * 4000]
)
def test_hostile_lines_and_front_matter_are_read_quickly(tmp_path: Path, line: str) -> None:
    path = write(tmp_path, "m.md", f"---\na: {line}\n---\n" + f"{line}\n" * 300)
    before = time.process_time()
    read(path)
    assert time.process_time() - before < 3


def test_a_note_of_headings_alone_says_them_and_grows_in_place(tmp_path: Path) -> None:
    ledger = MemoryLedger()
    path = write(tmp_path, "c.md", "# 二つ目の決定\n")
    reading = read(path, ledger=ledger)
    assert [(d.title, u.text) for d in reading.documents for u in d.utterances] == [
        ("二つ目の決定", "二つ目の決定")
    ]
    path.write_text("# 二つ目の決定\n\nValkeyにした。\n")
    texts = [u.text for d in read(path, ledger=ledger).documents for u in d.utterances]
    assert sorted(texts) == sorted(["Valkeyにした。", REMOVED])


@pytest.mark.parametrize("text", ["", " \n\n", "---\ntitle: 題\n---\n"])
def test_a_note_without_text_is_counted(tmp_path: Path, text: str) -> None:
    reading = read(write(tmp_path, "leer.md", text))
    assert reading.documents == []
    assert [item.kind for item in reading.unknown] == ["note without text"]

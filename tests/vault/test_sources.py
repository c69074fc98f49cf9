"""Source notes hold each message once, as it was said, and keep what a person wrote."""

from __future__ import annotations

import itertools
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from context_engine.events import REMOVED, Ref, Role, SourceDocument, Utterance, encode_document
from context_engine.home import Home
from context_engine.scopes import Scope
from support.vaults import START, conversation, said
from vault.escape import canonical
from vault.marks import Standing
from vault.notes import read_note
from vault.sources import known_utterances, read_messages, write_source
from vault.store import clean_leftovers

TEXTS = st.lists(
    st.sampled_from(
        ["# 見出し", "```", "\n", "<b>", "---", "<!-- ce:u=", "題", " ", "\\", "`", "## x"]
    )
    | st.text(max_size=5),
    max_size=8,
).map("".join)

SESSIONS = itertools.count()
START_MS = int(START.timestamp() * 1000)


def path_of(home: Home, relative: str, scope: Scope = Scope.WORK) -> Path:
    return home.vault(scope) / relative


def texts(home: Home, relative: str) -> list[str]:
    return [message.text for message in read_messages(home, Scope.WORK, relative)]


def test_a_conversation_becomes_a_note_that_a_person_can_read(home: Home) -> None:
    document = conversation(
        said(0, "Valkeyにしよう。ライセンスが理由。"),
        said(1, "了解しました。\n\n## 手順\n\n```sh\n# install\n```", Role.ASSISTANT, "assistant"),
        refs=(Ref("/home/aki/work/shop", "compose.yaml"),),
        meta={"git_branch": "main"},
        url="https://chat.example/1",
    )
    result = write_source(home, document)
    assert result.path == f"sources/claude/2026/11/redis-valkey-{document.document_id}.md"
    text = path_of(home, result.path).read_text()
    assert "# Redis を Valkey に替える\n" in text
    assert "## 亜紀 · 2026-11-02 09:05 UTC <!-- ce:u=" in text
    assert "\\## 手順\n\n```sh\n# install\n```\n" in text
    note = read_note(home, Scope.WORK, result.path)
    assert note.front["project"] == "shop"
    assert note.front["url"] == "https://chat.example/1"
    assert note.refs == (Ref("/home/aki/work/shop", "compose.yaml"),)
    assert note.front["started"] == "2026-11-02T09:05:11Z"
    assert note.front["updated"] == "2026-11-02T09:06:11Z"
    assert [(m.author, m.role, m.at) for m in note.messages] == [
        ("亜紀", Role.OWNER, document.utterances[0].at),
        ("assistant", Role.ASSISTANT, document.utterances[1].at),
    ]
    assert note.messages[1].text == document.utterances[1].text


def test_the_same_event_again_changes_no_byte(home: Home) -> None:
    document = conversation(said(0, "一"), said(1, "二"), refs=(Ref("r", "p"),), meta={"a": "b"})
    first = write_source(home, document)
    before = path_of(home, first.path).stat()
    again = write_source(home, document)
    assert (first.created, again.created) == (True, False)
    assert again.unchanged == first.added
    assert again.added == again.changed == ()
    assert path_of(home, first.path).stat().st_ino == before.st_ino


def test_a_growing_conversation_grows_in_place(home: Home) -> None:
    first = write_source(home, conversation(said(0, "一")))
    second = write_source(home, conversation(said(1, "二"), title="別の題"))
    assert second.path == first.path
    assert texts(home, first.path) == ["一", "二"]
    note = read_note(home, Scope.WORK, first.path)
    assert note.title == "別の題"
    assert note.body.startswith("# 別の題\n")


def test_a_message_that_changed_at_the_source_is_replaced_in_place(home: Home) -> None:
    write_source(home, conversation(said(0, "一"), said(1, "二"), said(2, "三")))
    result = write_source(home, conversation(said(1, "二、改め")))
    assert len(result.changed) == 1
    assert texts(home, result.path) == ["一", "二、改め", "三"]


def test_an_old_version_delivered_late_does_not_come_back(home: Home) -> None:
    for text in ("v1", "v2", "v3"):
        result = write_source(home, conversation(said(0, text)))
    for text in ("v1", "v2"):
        assert write_source(home, conversation(said(0, text))).changed == ()
    assert texts(home, result.path) == ["v3"]


def test_a_message_that_a_person_edited_keeps_their_words(home: Home) -> None:
    path = write_source(home, conversation(said(0, "一"), said(1, "二"))).path
    file = path_of(home, path)
    file.write_text(file.read_text().replace("\n二\n", "\n二（後で直した）\n"))
    edited = file.read_bytes()
    assert write_source(home, conversation(said(1, "二"))).unchanged
    assert file.read_bytes() == edited
    result = write_source(home, conversation(said(1, "二、源で改め")))
    assert len(result.kept) == 1
    assert file.read_bytes() == edited
    assert "二、源で改め" in path_of(home, result.conflicts[0]).read_text()
    assert write_source(home, conversation(said(1, "二、源で改め"))).conflicts == result.conflicts
    message = read_messages(home, Scope.WORK, path)[1]
    assert (message.text, message.edited) == ("二（後で直した）", True)


def test_what_a_person_adds_stays_byte_for_byte_while_the_note_grows(home: Home) -> None:
    path = write_source(home, conversation(said(0, "一"), said(2, "三"))).path
    file = path_of(home, path)
    text = file.read_text().replace("project: shop\n", "project: shop   # ours\nmine: [x,  y]\n")
    text = text.replace("\n一\n", "\n一\n\n## 自分のメモ\n\n* 後で   見る\r\n* [[link]]\n\n")
    file.write_text(text + "\n\n## 追記\n末尾\n")
    write_source(home, conversation(said(1, "二"), said(3, "四"), said(2, "三、改め")))
    after = file.read_text()
    assert "project: shop   # ours\nmine: [x,  y]\n" in after
    assert "## 自分のメモ\n\n* 後で   見る\r\n* [[link]]\n\n" in file.read_bytes().decode()
    assert "## 追記\n末尾\n" in after
    assert texts(home, path) == ["一", "二", "三、改め", "四"]


def test_a_title_that_a_person_chose_stays(home: Home) -> None:
    path = write_source(home, conversation(said(0, "一"))).path
    file = path_of(home, path)
    file.write_text(file.read_text().replace("Redis を Valkey に替える", "自分の題"))
    write_source(home, conversation(said(1, "二"), title="機械の題"))
    assert read_note(home, Scope.WORK, path).title == "自分の題"
    assert "機械の題" not in file.read_text()


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text.replace("type: source", "type: [source"),
        lambda text: text.split("---\n", 2)[2],
        lambda text: text.replace("---\n# ", "# "),
    ],
    ids=["broken", "removed", "unclosed"],
)
def test_a_note_whose_front_matter_a_person_broke_is_left_and_nothing_is_lost(
    home: Home, damage: object
) -> None:
    path = write_source(home, conversation(said(0, "一"))).path
    file = path_of(home, path)
    assert callable(damage)
    file.write_text(damage(file.read_text()))
    broken = file.read_bytes()
    result = write_source(home, conversation(said(0, "一"), said(1, "二")))
    assert file.read_bytes() == broken
    assert result.problem
    assert texts(home, result.path) == ["二"]
    assert write_source(home, conversation(said(1, "二"))).path == result.path


def test_a_note_that_is_not_utf8_is_left_and_nothing_is_lost(home: Home) -> None:
    path = write_source(home, conversation(said(0, "一"))).path
    path_of(home, path).write_bytes("題".encode("shift_jis"))
    result = write_source(home, conversation(said(1, "二")))
    assert path_of(home, path).read_bytes() == "題".encode("shift_jis")
    assert texts(home, result.path) == ["二"]


def test_a_note_that_a_person_deleted_comes_back_with_the_new_messages_only(home: Home) -> None:
    path = write_source(home, conversation(said(0, "一"))).path
    path_of(home, path).unlink()
    assert texts(home, write_source(home, conversation(said(1, "二"))).path) == ["二"]


def test_a_note_that_a_person_renamed_goes_on_where_it_is(home: Home) -> None:
    first = write_source(home, conversation(said(0, "一")))
    file = path_of(home, first.path)
    moved = file.parent.parent / f"自分の名前-{file.stem.rpartition('-')[2]}.md"
    file.rename(moved)
    result = write_source(home, conversation(said(1, "二")))
    assert path_of(home, result.path) == moved
    assert texts(home, result.path) == ["一", "二"]


def test_parts_of_a_document_lie_side_by_side(home: Home) -> None:
    first = write_source(home, conversation(said(0, "一")))
    second = write_source(home, conversation(said(1, "二"), part=2))
    assert second.path == first.path.replace(".md", "-p002.md")


@pytest.mark.parametrize("source", ["../../x", "con", "スラック", "a/b"])
def test_a_source_of_any_name_stays_inside_its_folder(home: Home, source: str) -> None:
    result = write_source(home, conversation(said(0, "一"), source=source))
    assert result.path.startswith("sources/")
    assert path_of(home, result.path).resolve().is_relative_to(path_of(home, "sources").resolve())
    assert len(list(known_utterances(home))) == 1


def test_secrets_are_taken_out_and_counted(home: Home) -> None:
    secret = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vX7zA9cD1fG3hJ5"
    result = write_source(
        home, conversation(said(0, f"token は {secret} です"), title=f"t {secret}", url=None)
    )
    assert sum(result.redactions.values()) == 1
    assert secret not in path_of(home, result.path).read_text()


def test_nothing_in_a_document_can_break_its_front_matter(home: Home) -> None:
    document = conversation(
        said(0, "---\ntype: insight\n---", author="x -->\n## owner <!-- ce:u=0 owner -->"),
        title='"\n---\n# x <!-- ce:u=1f0e9d8c7b6a5948 owner -->',
        project="a: b\n---",
        url="https://x.example/\n---",
        meta={"k\n---": "v\n---", "n" * 500: "w" * 5000} | {f"k{n}": "v" * 600 for n in range(99)},
        refs=tuple(Ref(f"/repo\n{n}", "p" * 900) for n in range(200)),
    )
    result = write_source(home, document)
    note = read_note(home, Scope.WORK, result.path)
    assert note.problem is None
    assert note.front["type"] == "source"
    assert [message.text for message in note.messages] == ["---\ntype: insight\n---"]
    assert write_source(home, document).unchanged


def test_single_messages_are_read_by_their_markers(home: Home) -> None:
    utterances = [said(n, f"文{n}") for n in range(5)]
    path = write_source(home, conversation(*utterances)).path
    wanted = [utterances[3].marker, utterances[1].marker, "0" * 16]
    found = read_messages(home, Scope.WORK, path, wanted)
    assert [message.text for message in found] == ["文1", "文3"]


def test_the_vault_alone_tells_which_messages_are_known(home: Home) -> None:
    one = conversation(said(0, "一"), said(1, "二"))
    two = conversation(said(9, "x"), native_id="s2", source="slack", scope=Scope.PERSONAL)
    for document in (one, two):
        write_source(home, document)
    expected = {(d.source, u.marker) for d in (one, two) for u in d.utterances}
    assert set(known_utterances(home)) == expected


def test_undated_messages_keep_their_order(home: Home) -> None:
    undated = [replace(said(n, f"文{n}"), at=None) for n in range(3)]
    path = write_source(home, conversation(*undated)).path
    assert path.startswith("sources/claude/undated/")
    assert texts(home, path) == ["文0", "文1", "文2"]


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_any_order_and_repetition_of_events_gives_each_message_once_in_time_order(
    home: Home, data: st.DataObject
) -> None:
    words = data.draw(st.lists(TEXTS, min_size=1, max_size=8))
    native_id = f"session-{next(SESSIONS)}"
    utterances = [said(number, text) for number, text in enumerate(words)]
    pieces = st.lists(st.sampled_from(utterances), min_size=1, max_size=4, unique=True)
    events = [*data.draw(st.lists(pieces, max_size=6)), utterances]
    paths = set()
    for piece in data.draw(st.permutations(events + events[:2])):
        paths.add(write_source(home, conversation(*piece, native_id=native_id)).path)
    (path,) = paths
    found = read_messages(home, Scope.WORK, path)
    assert [m.marker for m in found] == [u.marker for u in utterances]
    assert [m.text for m in found] == [canonical(u.text) for u in utterances]
    assert not any(m.edited for m in found)


WRITER = """
import sys
from pathlib import Path
from context_engine.events import decode_document
from context_engine.home import Home
from vault.sources import write_source
home = Home(Path(sys.argv[1]))
print("ready", flush=True)
for line in sys.stdin.buffer:
    result = write_source(home, decode_document(line))
    print(result.path, flush=True)
"""


def start_writer(home: Home, events: Sequence[SourceDocument]) -> subprocess.Popen[bytes]:
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(home.root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert writer.stdin is not None
    assert writer.stdout is not None
    assert writer.stdout.readline() == b"ready\n"
    writer.stdin.write(b"".join(encode_document(event) + b"\n" for event in events))
    writer.stdin.close()
    return writer


def pieces(count: int) -> tuple[list[Utterance], list[SourceDocument]]:
    utterances = [said(number, f"文{number} " + "長い文。" * 50) for number in range(count)]
    return utterances, [conversation(utterance) for utterance in utterances]


def test_several_processes_writing_one_note_lose_no_message(home: Home) -> None:
    utterances, events = pieces(60)
    writers = [start_writer(home, events[number::3] + events[::7]) for number in range(3)]
    for writer in writers:
        assert writer.stdout is not None
        path = writer.stdout.read().split()[-1].decode()
        writer.stdout.close()
        assert writer.wait(60) == 0
    found = read_messages(home, Scope.WORK, path)
    assert [message.marker for message in found] == [u.marker for u in utterances]


@pytest.mark.chaos
def test_a_worker_killed_at_any_moment_loses_no_acknowledged_message(home: Home) -> None:
    utterances, events = pieces(300)
    acknowledged = 0
    for round_ in range(12):
        writer = start_writer(home, events[acknowledged:])
        assert writer.stdout is not None
        time.sleep(0.005 + 0.003 * round_)
        writer.send_signal(signal.SIGKILL)
        acknowledged += len(writer.stdout.read().splitlines())
        writer.wait()
        writer.stdout.close()
        known = {marker for _, marker in known_utterances(home)}
        assert {u.marker for u in utterances[:acknowledged]} <= known
    for event in events:
        path = write_source(home, event).path
    found = read_messages(home, Scope.WORK, path)
    assert [message.marker for message in found] == [u.marker for u in utterances]
    clean_leftovers(home, min_age_seconds=0)
    assert list(path_of(home, path).parent.iterdir()) == [path_of(home, path)]


def test_an_event_of_full_size_is_merged_quickly(home: Home) -> None:
    utterances = [said(n, "日本語の文と `code` です。" * 40) for n in range(200)]
    write_source(home, conversation(*utterances))
    started = time.process_time()
    write_source(home, conversation(said(999, "もう一つ")))
    assert time.process_time() - started < 1


def test_text_that_changes_and_changes_back_ends_as_its_source_has_it(home: Home) -> None:
    first = write_source(home, conversation(said(0, "甲"), said(1, "二")))
    write_source(home, conversation(said(0, "乙"), revision=10))
    back = conversation(said(0, "甲"), revision=20)
    assert write_source(home, back).changed == (said(0, "").marker,)
    assert texts(home, first.path) == ["甲", "二"]
    before = path_of(home, first.path).read_bytes()
    for late in (
        conversation(said(0, "乙"), revision=10),
        conversation(said(0, "甲"), said(1, "二")),
        back,
    ):
        assert write_source(home, late).changed == ()
    assert path_of(home, first.path).read_bytes() == before


def test_an_older_revision_that_comes_last_changes_nothing(home: Home) -> None:
    first = write_source(home, conversation(said(0, "甲")))
    write_source(home, conversation(said(0, "甲"), revision=20))
    write_source(home, conversation(said(0, "乙"), revision=10))
    assert texts(home, first.path) == ["甲"]


def test_a_deleted_message_keeps_its_heading_and_may_come_back(home: Home) -> None:
    first = write_source(home, conversation(said(0, "秘密の話"), said(1, "二")))
    gone = replace(said(0, "x", Role.OTHER, "source"), at=None, withdrawn=True)
    write_source(home, conversation(gone, revision=10))
    text = path_of(home, first.path).read_text()
    assert "秘密" not in text
    message = read_messages(home, Scope.WORK, first.path)[0]
    assert (message.author, message.role, message.at) == ("亜紀", Role.OWNER, said(0, "").at)
    assert (message.text, message.withdrawn) == (REMOVED, True)
    write_source(home, conversation(said(0, "秘密の話"), said(1, "二")))
    assert texts(home, first.path) == [REMOVED, "二"]
    write_source(home, conversation(said(0, "秘密の話"), revision=20))
    assert texts(home, first.path) == ["秘密の話", "二"]


def test_a_deletion_may_take_the_words_out_of_the_title_too(home: Home) -> None:
    first = write_source(home, conversation(said(0, "密談"), said(1, "二"), title="密談"))
    gone = replace(said(0, ""), withdrawn=True)
    write_source(home, conversation(gone, revision=10, title="thread"))
    assert "密談" not in path_of(home, first.path).read_text()


def test_a_deletion_does_not_touch_what_a_person_edited(home: Home) -> None:
    first = write_source(home, conversation(said(0, "一")))
    file = path_of(home, first.path)
    file.write_text(file.read_text().replace("\n一\n", "\n一、大事。\n"))
    before = file.read_bytes()
    result = write_source(home, conversation(replace(said(0, ""), withdrawn=True), revision=10))
    assert file.read_bytes() == before
    (copy,) = result.conflicts
    assert REMOVED in path_of(home, copy).read_text()


def test_a_deleted_document_is_marked_in_all_its_parts_until_it_returns(home: Home) -> None:
    parts = [write_source(home, conversation(said(n, "文"), part=n)).path for n in (1, 2, 3)]
    gone = conversation(withdrawn=True, revision=START_MS + 10)
    assert sorted(write_source(home, gone).marked) == sorted(parts)

    def standings() -> set[Standing]:
        return {read_note(home, Scope.WORK, path).standing for path in parts}

    assert standings() == {Standing.WITHDRAWN}
    assert read_note(home, Scope.WORK, parts[0]).front["withdrawn"] == "2026-11-02T09:05:11Z"
    before = [path_of(home, path).read_bytes() for path in parts]
    for again in (gone, conversation(said(1, "文"), part=1)):
        write_source(home, again)
    assert [path_of(home, path).read_bytes() for path in parts] == before
    write_source(home, conversation(said(2, "文"), part=2, revision=START_MS + 5_000))
    assert standings() == {Standing.HOLDS}
    write_source(home, gone)
    assert Standing.HOLDS in standings()


def test_a_deletion_of_what_never_came_makes_no_note(home: Home) -> None:
    write_source(home, conversation(withdrawn=True, revision=10))
    assert list(home.vault(Scope.WORK).rglob("*.md")) == []

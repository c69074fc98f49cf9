"""A transcript becomes one meeting: who said what, when, whatever wrote the file."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from connectors.base import ReadOptions
from connectors.meeting import MeetingConnector
from connectors.meeting_names import moment_in, title_in
from context_engine.clock import ManualClock
from context_engine.errors import UsageError
from context_engine.events import REMOVED, Role
from support.sources import AKI, read_source
from support.transcripts import NOW, MemoryLedger, Reading

EXAMPLES = settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)

ZOOM = """WEBVTT

1
00:00:01.500 --> 00:00:03.000
Aki: Morning everyone.

2
00:00:03.200 --> 00:00:06.000
Aki: Let's get going.

3
00:00:06.500 --> 00:00:09.000
Kim 金: Valkeyにしましょう。
"""


def read(*paths: Path, ledger: MemoryLedger | None = None, options: ReadOptions = AKI) -> Reading:
    return read_source(MeetingConnector(ManualClock(NOW)), *paths, ledger=ledger, options=options)


def write(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def said(path: Path) -> list[tuple[str, str]]:
    return [(item.author, item.text) for item in read(path).said]


def test_cues_of_one_speaker_are_one_utterance_with_author_role_and_time(tmp_path: Path) -> None:
    path = write(tmp_path, "GMT20261102-090000_Recording.transcript.vtt", ZOOM)
    (document,) = read(path).documents
    assert [(u.author, u.role, u.text, f"{u.at}") for u in document.utterances] == [
        (
            "Aki",
            Role.OWNER,
            "Morning everyone.\nLet's get going.",
            "2026-11-02 09:00:01.500000+00:00",
        ),
        ("Kim 金", Role.OTHER, "Valkeyにしましょう。", "2026-11-02 09:00:06.500000+00:00"),
    ]
    assert document.title == "Meeting 2026-11-02"
    assert document.meta["speakers"] == "Aki, Kim 金"


def test_one_speaker_is_cut_every_ninety_seconds(tmp_path: Path) -> None:
    cues = "".join(
        f"0{n // 60}:{n % 60:02}.000 --> 0{n // 60}:{n % 60:02}.900\nw{n}\n\n"
        for n in range(0, 200, 20)
    )
    assert [
        len(t.split("\n")) for t in read(write(tmp_path, "a.vtt", "WEBVTT\n\n" + cues)).texts
    ] == [5, 5]


SRT = "1\n00:00:01,000 --> 00:00:02,000\nKim: Hello\n\n2\n00:00:02,000 --> 00:00:03,000\nAki: Hi\n"
TEAMS = "WEBVTT\n\nab/1-0\n0:0:13.540 --> 0:0:15.540\n<v Kim>Hello</v>\n<v Aki>Hi\n"
MINUTES = "# Weekly\n\nDate: 2026-11-02\nAttendees: all\n\n**Kim:** Hello\n\n**Aki:** Hi\n"
CHAT = "10:00:05 From Kim to Everyone:\n\tHello\n10:00:08 From Aki to Everyone:\n\tHi\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("teams.vtt", TEAMS),
        ("prefix.srt", SRT),
        ("prefix.sbv", "0:00:01.000,0:00:02.000\nKim: Hello\n\n0:00:02.000,0:00:03.000\nAki: Hi\n"),
        ("plain.txt", "Kim: Hello\nAki: Hi\n"),
        ("full width.txt", "Kim：Hello\nAki：Hi\n"),
        ("bold.md", MINUTES),
        ("timed.txt", "[00:00:01] Kim: Hello\n[00:00:02] Aki: Hi\n"),
        ("otter.txt", "Kim  0:01\nHello\n\nAki  0:02\nHi\n"),
        ("captions.txt", "[Kim] 10:00:05\nHello\n\n[Aki] 10:00:08\nHi\n"),
        ("chat.txt", CHAT),
        ("paren.txt", "Kim (00:01): Hello\nAki (00:02): Hi\n"),
    ],
)
def test_speakers_are_recognised_in_every_usual_layout(
    tmp_path: Path, name: str, text: str
) -> None:
    turns = [turn for turn in said(write(tmp_path, name, text)) if turn[0] in {"Kim", "Aki"}]
    assert turns == [("Kim", "Hello"), ("Aki", "Hi")]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp932"])
def test_transcripts_in_japanese_encodings_are_read(tmp_path: Path, encoding: str) -> None:
    text = "田中： 来月に移行します。\r\n佐藤： 承知しました。\r\n"
    assert said(write(tmp_path, "議事.txt", text.encode(encoding))) == [
        ("田中", "来月に移行します。"),
        ("佐藤", "承知しました。"),
    ]


def test_prose_with_colons_makes_nobody_a_speaker(tmp_path: Path) -> None:
    text = "We met.\n\nResult: all fine. Then we left.\n\nSee https://x.example: it works.\n\nBye."
    assert {author for author, _ in said(write(tmp_path, "a.txt", text))} == {"unknown speaker"}
    assert "Result: all fine" in said(write(tmp_path, "a.txt", text))[0][1]


def test_notes_styles_headers_and_tags_are_left_out_but_the_word_note_is_text(
    tmp_path: Path,
) -> None:
    text = (
        "WEBVTT - Film night\nKind: captions\n\nSTYLE\n::cue { color: red }\n\n"
        "NOTE\nmade by Kim\nfor Aki\n\nREGION\nid:x\n\nintro\n00:01.000 --> 00:02.000 align:start\n"
        "<c.yellow>Note this</c> &amp; <i>that</i>\nNOTE is a word\n\nNOTE bye\n"
    )
    (document,) = read(write(tmp_path, "a.vtt", text)).documents
    assert document.title == "Film night"
    assert [u.text for u in document.utterances] == ["Note this & that\nNOTE is a word"]


def test_rolling_captions_say_every_line_once(tmp_path: Path) -> None:
    text = (
        "WEBVTT\nKind: captions\n\n"
        "00:00:01.000 --> 00:00:02.000\n \nwe<00:00:01.500><c> decided</c>\n\n"
        "00:00:02.000 --> 00:00:02.010\nwe decided\n \n\n"
        "00:00:02.010 --> 00:00:04.000\nwe decided\nto<00:00:03.000><c> move</c>\n\n"
        "00:00:04.000 --> 00:00:04.010\nto move\n \n"
    )
    assert read(write(tmp_path, "talk.vtt", text)).texts == ["we decided\nto move"]


def test_the_same_answer_given_twice_stays_twice(tmp_path: Path) -> None:
    said = enumerate(["Yes.", "Yes.", "No."])
    cues = "".join(f"00:0{n}.000 --> 00:0{n}.900\n<v Kim>{text}\n\n" for n, text in said)
    assert read(write(tmp_path, "a.vtt", "WEBVTT\n\n" + cues)).texts == ["Yes.\nYes.\nNo."]


def test_a_broken_time_is_reported_with_its_line_and_its_words_are_kept(tmp_path: Path) -> None:
    text = "WEBVTT\n\n00:01.000 --> 00:02.000\none\n\n00:02.000 --> 00:0x.000\ntwo\n\nthree\n"
    path = write(tmp_path, "a.vtt", text)
    reading = read(path)
    assert reading.texts == ["one\ntwo\nthree"]
    assert [(bad.place, bad.reason) for bad in reading.bad] == [
        (f"{path}:6", "not a time: 00:02.000 --> 00:0x.000"),
        (f"{path}:9", "text without a time"),
    ]


@pytest.mark.parametrize(
    ("name", "moment"),
    [
        ("2026-11-02 standup", "2026-11-02 00:00:00+00:00"),
        ("20261102_standup", "2026-11-02 00:00:00+00:00"),
        ("定例 2026年11月2日", "2026-11-02 00:00:00+00:00"),
        ("GMT20261102-090102_Recording", "2026-11-02 09:01:02+00:00"),
        ("Call-20261102T090102Z", "2026-11-02 09:01:02+00:00"),
        ("20269999", "None"),
        ("standup 12026110299", "None"),
        ("standup", "None"),
    ],
)
def test_the_date_comes_from_the_name_or_is_unknown(name: str, moment: str) -> None:
    assert str(moment_in(name)) == moment


def test_without_a_date_no_time_is_guessed(tmp_path: Path) -> None:
    (document,) = read(write(tmp_path, "standup.vtt", ZOOM)).documents
    assert (document.started, {u.at for u in document.utterances}) == (None, {None})


def test_a_folder_tells_date_and_title_where_the_file_does_not(tmp_path: Path) -> None:
    folder = tmp_path / "2026-11-02 09.00.00 Weekly sync"
    (document,) = read(
        write(folder, "meeting_saved_closed_caption.txt", "Kim: a\nAki: b\n")
    ).documents
    assert (document.title, f"{document.started:%F}") == ("Weekly sync", "2026-11-02")
    assert title_in("GMT20261102-090000_Recording.transcript") == ""


def test_front_matter_gives_title_and_date_and_is_not_speech(tmp_path: Path) -> None:
    text = "---\ntitle: 設計会議\ndate: 2026-11-02T09:00:00+09:00\n---\nKim: a\nAki: b\n"
    (document,) = read(write(tmp_path, "x.md", text)).documents
    assert (document.title, f"{document.started}") == ("設計会議", "2026-11-02 00:00:00+00:00")
    assert [u.text for u in document.utterances] == ["a", "b"]


def test_the_same_transcript_again_adds_nothing_whatever_its_name_and_format(
    tmp_path: Path,
) -> None:
    ledger = MemoryLedger()
    cues = [(n, f"Kim: point {n}") for n in range(12)]
    vtt = "WEBVTT\n\n" + "".join(f"00:{n:02}.000 --> 00:{n:02}.900\n{t}\n\n" for n, t in cues)
    srt = "".join(f"{n}\n00:00:{n:02},000 --> 00:00:{n:02},900\n{t}\n\n" for n, t in cues)
    path = write(tmp_path, "2026-11-02 sync.vtt", vtt)
    assert len(read(path, ledger=ledger).documents) == 1
    assert read(path, ledger=ledger).documents == []
    assert read(write(tmp_path, "b/transcript (1).vtt", vtt), ledger=ledger).documents == []
    assert read(write(tmp_path, "b/export.srt", srt), ledger=ledger).documents == []
    assert read(tmp_path, ledger=ledger).documents == []


def test_two_copies_in_one_run_are_one_meeting_and_settle(tmp_path: Path) -> None:
    ledger = MemoryLedger()
    write(tmp_path, "a.vtt", ZOOM)
    write(tmp_path, "b.vtt", ZOOM)
    assert len(read(tmp_path, ledger=ledger).documents) == 1
    assert read(tmp_path, ledger=ledger).documents == []


def test_corrected_words_replace_those_before_in_place(tmp_path: Path) -> None:
    ledger = MemoryLedger()
    cues = [f"00:{n:02}.000 --> 00:{n:02}.900\n<v S{n}>word {n}\n\n" for n in range(12)]
    path = write(tmp_path, "sync.vtt", "WEBVTT\n\n" + "".join(cues))
    (first,) = read(path, ledger=ledger).documents
    write(tmp_path, "sync.vtt", "WEBVTT\n\n" + "".join(cues).replace("word 3", "ワード3"))
    (second,) = read(path, ledger=ledger).documents
    assert second.native_id == first.native_id
    assert [(u.native_id, u.text) for u in second.utterances] == [
        (first.utterances[3].native_id, "ワード3")
    ]


def test_a_corrected_file_without_times_updates_its_meeting(tmp_path: Path) -> None:
    ledger = MemoryLedger()
    lines = [f"S{n % 2}: sentence number {n}" for n in range(8)]
    path = write(tmp_path, "sync.txt", "\n".join(lines))
    (first,) = read(path, ledger=ledger).documents
    write(tmp_path, "sync.txt", "\n".join(lines).replace("number 3", "number three"))
    (second,) = read(path, ledger=ledger).documents
    assert second.native_id == first.native_id
    assert [u.text for u in second.utterances] == ["sentence number three", REMOVED]
    assert read(path, ledger=ledger).documents == []


def test_another_meeting_in_a_file_of_the_same_name_is_another_document(tmp_path: Path) -> None:
    ledger = MemoryLedger()
    (first,) = read(write(tmp_path, "a/transcript.txt", "Kim: a\nAki: b"), ledger=ledger).documents
    (other,) = read(write(tmp_path, "b/transcript.txt", "Kim: x\nAki: y"), ledger=ledger).documents
    assert other.native_id != first.native_id


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.vtt", b"", "empty"),
        ("a.vtt", b"WEBVTT\n", "no words in it"),
        ("a.srt", b"some text", "no words in it"),
        ("a.txt", b"\0\1\2\3", "not text in UTF-8, UTF-16 or Shift_JIS"),
        ("a.txt", b"\xe9\xe8 latin", "not text in UTF-8, UTF-16 or Shift_JIS"),
        ("a.pdf", b"%PDF", "not a transcript (.vtt, .srt, .sbv, .txt, .md, .markdown)"),
        ("a.vtt", b"a" * 9_000_000, "larger than 8 MiB"),
    ],
)
def test_what_is_no_transcript_is_refused_with_its_reason(
    tmp_path: Path, name: str, data: bytes, reason: str
) -> None:
    path = write(tmp_path, name, data)
    assert [(bad.place, bad.reason) for bad in read(path).bad] == [(str(path), reason)]


def test_the_engines_own_notes_are_not_read_again(tmp_path: Path) -> None:
    text = "---\ntype: source\ncontent_hash: sha256:ab\n---\n# x\n\nKim: a\n"
    reading = read(write(tmp_path, "note.md", text))
    assert (reading.documents, [u.kind for u in reading.unknown]) == ([], ["own note"])


def test_a_run_without_a_path_says_what_to_name() -> None:
    with pytest.raises(UsageError, match="name a transcript"):
        read()


fragments = st.sampled_from(
    [
        "WEBVTT\n", "NOTE x\n", "STYLE\n", "\n", "1\n", "00:01.000 --> 00:02.000\n", "Kim: a\n",
        "00:00:01,000 --> 00:00:02,000 x:1\n", "0:00:01.000,0:00:02.000\n", "<v Kim>b</v>\n",
        "<v A><v B", "Kim  0:30\n", "[00:01] ", "9999:99:99.999 --> 1\n", "---\n", "a: &x [*x]\n",
        "[Kim] 10:00:05\n", "あ：い\n", "<00:00:01.000><c>w</c>\n", "# T\n", "From A to B:\n",
    ]
)  # fmt: skip


@EXAMPLES
@given(
    st.lists(fragments | st.text(max_size=8), max_size=30),
    st.sampled_from(["vtt", "srt", "txt", "md"]),
)
def test_any_mixture_is_read_to_its_end_and_settles(
    tmp_path: Path, parts: list[str], kind: str
) -> None:
    path = write(tmp_path, f"m.{kind}", "".join(parts).encode("utf-8", "replace"))
    ledger = MemoryLedger()
    first = read(path, ledger=ledger)
    assert sum(map(len, first.texts)) <= 2 * sum(map(len, parts)) + 100
    assert read(path, ledger=ledger).documents == []


@EXAMPLES
@given(st.binary(max_size=400))
def test_any_bytes_are_read_to_their_end(tmp_path: Path, data: bytes) -> None:
    read(write(tmp_path, "m.vtt", data), write(tmp_path, "m.txt", data))


@pytest.mark.parametrize(
    "line",
    ["<" * 4000, "<v " * 1500, "Kim: " * 900, "(" * 4000, "a " * 2000, "1:" * 2000, "[A" * 2000],
)
def test_a_file_of_hostile_lines_is_read_quickly(tmp_path: Path, line: str) -> None:
    path = write(tmp_path, "m.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\n" + f"{line}\n" * 250)
    text = write(tmp_path, "m.txt", f"{line}\n" * 250)
    before = time.process_time()
    read(path, text)
    assert time.process_time() - before < 5

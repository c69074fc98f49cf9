"""Conversations with Gemini arrive once, whichever form and language Google tells them in."""

from __future__ import annotations

import io
import itertools
import json
import tempfile
import time
import unicodedata
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from connectors.base import Connector
from connectors.takeout import TakeoutConnector
from connectors.takeout_activity import CONNECTOR as EVERYTHING_ELSE
from connectors.takeout_records import html_rows
from connectors.takeout_time import parse_local
from context_engine.clock import ManualClock
from context_engine.errors import UsageError
from context_engine.events import Checkpoint, Role, SourceDocument
from support.archives import named_zip, tar_of, write_zip
from support.sources import AKI, mutate, read_source, write_json
from support.takeout import (
    BRITISH,
    ENGLISH,
    GERMAN,
    JAPANESE,
    Locale,
    Turn,
    as_html,
    as_json,
    cell,
    keep_note,
    page,
)
from support.transcripts import NOW, MemoryLedger, Reading

CONNECTOR = TakeoutConnector(ManualClock(NOW))
START = datetime(2026, 11, 2, 9, 0, 5, tzinfo=UTC)

TURNS = (
    Turn(
        START, "Valkey or Redis?", ("<p>Valkey, for its <b>license</b>.</p>",), "c0ffee0123456789"
    ),
    Turn(START + timedelta(minutes=5), "決めた。\nValkeyにする。", thread="c0ffee0123456789"),
    Turn(START + timedelta(hours=3), 'Is 1 < 2 & "so"?', ("<ul><li>Yes</li></ul>", "<p>No</p>")),
    Turn(START + timedelta(hours=3, minutes=9), "And 3?"),
    Turn(START + timedelta(days=1), "Tomorrow"),
)


def read(
    *paths: Path, ledger: MemoryLedger | None = None, connector: Connector = CONNECTOR
) -> Reading:
    return read_source(connector, *paths, ledger=ledger)


def read_file(name: str, data: bytes, ledger: MemoryLedger | None = None) -> Reading:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        return read(path, ledger=ledger)


def read_json(*records: Any, ledger: MemoryLedger | None = None) -> Reading:
    return read_file("MyActivity.json", json.dumps(records).encode(), ledger)


def read_html(*cells: str, ledger: MemoryLedger | None = None) -> Reading:
    return read_file("MyActivity.html", page(cells), ledger)


def record(title: str, **fields: Any) -> dict[str, Any]:
    base = as_json([Turn(START, "", ())])[0]
    return {**base, "title": title, **fields}


def forms(turns: Any, locale: Locale) -> list[tuple[str, bytes]]:
    return [
        ("MyActivity.json", json.dumps(as_json(turns, locale)).encode()),
        ("MyActivity.html", as_html(turns, locale)),
    ]


def test_threads_are_joined_by_their_id_and_other_rows_by_silence() -> None:
    reading = read_json(*as_json(TURNS))
    documents = {document.title: document for document in reading.documents}
    assert list(documents) == ["Valkey or Redis?", 'Is 1 < 2 & "so"?', "Tomorrow"]
    thread = documents["Valkey or Redis?"]
    assert thread.url == "https://gemini.google.com/app/c0ffee0123456789"
    assert [(u.author, u.role.value, u.text) for u in thread.utterances] == [
        ("Aki", "owner", "Valkey or Redis?"),
        ("assistant", "assistant", "Valkey, for its **license**."),
        ("Aki", "owner", "決めた。\nValkeyにする。"),
        ("assistant", "assistant", "An answer."),
    ]
    group = documents['Is 1 < 2 & "so"?']
    assert group.url is None
    assert [u.text for u in group.utterances][1] == "- Yes\n\nNo"
    assert len(group.utterances) == 4


@pytest.mark.parametrize("locale", [ENGLISH, JAPANESE, GERMAN, BRITISH])
def test_html_and_json_of_every_language_give_the_same_messages(locale: Locale) -> None:
    readings = [read_file(name, data) for name, data in forms(TURNS, locale)]
    told = [{(u.native_id, u.role, u.at, u.text) for u in each.said} for each in readings]
    assert len(told[0]) == 10
    assert told[0] == told[1]
    assert [each.bad for each in readings] == [[], []]
    names = [{document.native_id for document in each.documents} for each in readings]
    assert names[0] == names[1]


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_the_same_log_in_three_forms_gives_no_duplicate(order: tuple[int, ...]) -> None:
    three = [*forms(TURNS, ENGLISH), forms(TURNS, JAPANESE)[1]]
    ledger, total = MemoryLedger(), 0
    for number in order:
        total += len(read_file(*three[number], ledger=ledger).said)
    assert total == 10


def test_both_forms_in_one_export_give_each_message_once(tmp_path: Path) -> None:
    for name, data in forms(TURNS, ENGLISH):
        (tmp_path / name).write_bytes(data)
    assert len(read(tmp_path).said) == 10


def test_next_months_export_adds_what_is_new_to_the_same_documents() -> None:
    ledger = MemoryLedger()
    later = Turn(START + timedelta(days=1, minutes=20), "One more thing")
    read_json(*as_json(TURNS), ledger=ledger)
    reading = read_file("MyActivity.html", as_html([*TURNS, later]), ledger)
    assert reading.texts == ["One more thing", "An answer."]
    (document,) = reading.documents
    assert document.title == "Tomorrow"


def test_rows_that_google_deleted_meanwhile_bring_nothing_back() -> None:
    ledger = MemoryLedger()
    read_json(*as_json(TURNS), ledger=ledger)
    assert read_json(*as_json(TURNS[3:]), ledger=ledger).documents == []


def test_every_layout_of_a_takeout_is_found(tmp_path: Path) -> None:
    for number, locale in enumerate([ENGLISH, JAPANESE, GERMAN]):
        for name, data in forms(TURNS, locale):
            suffix = name.rpartition(".")[2]
            path = f"Takeout/{locale.folder}/{locale.file}.{suffix}"
            nfd = unicodedata.normalize("NFD", path)
            for place in (path, nfd):
                archive = write_zip(tmp_path / f"{number}{suffix}.zip", {place: data})
                assert len(read(archive).said) == 10, place
            tar = tmp_path / "x.tgz"
            tar.write_bytes(tar_of({path: data}))
            assert len(read(tar).said) == 10, path
            plain = tmp_path / "x.zip"
            plain.write_bytes(named_zip([path.encode("cp932", "replace")], data))
            assert len(read(plain).said) == 10, path


def test_the_parts_of_a_takeout_are_one(tmp_path: Path) -> None:
    data = json.dumps(as_json(TURNS)).encode()
    path = "Takeout/My Activity/Gemini Apps/MyActivity.json"
    write_zip(tmp_path / "takeout-20261102T000000Z-001.zip", {path: data})
    write_zip(tmp_path / "takeout-20261102T000000Z-002.zip", {
        "Takeout/Keep/Queue.json": json.dumps(keep_note()).encode(),
        "Takeout/Google Photos/1.jpg": b"x",
        "Takeout/Drive/other.zip": b"PK not looked into",
    })  # fmt: skip
    reading = read(tmp_path)
    assert len(reading.said) == 11
    assert sorted(item.kind for item in reading.unknown) == ["file .jpg", "file .zip"]


def test_other_products_with_the_same_file_name_are_counted_not_taken() -> None:
    search = {"header": "Search", "title": "Searched for x", "time": "2026-11-02T09:00:00Z",
              "products": ["Search"]}  # fmt: skip
    reading = read_json(search, *as_json(TURNS[:1]))
    assert reading.texts == ["Valkey or Redis?", "Valkey, for its **license**."]
    assert [item.kind for item in reading.unknown] == ["activity: Search"]
    row = cell("YouTube", "Watched a film<br>Nov 2, 2026, 1:00:00 AM PST<br>")
    reading = read_html(row)
    assert reading.documents == []
    assert [item.kind for item in reading.unknown] == ["activity: YouTube"]


def test_other_activity_is_taken_on_request_as_nobodys_words() -> None:
    rows = [
        {"header": product, "title": title, "time": time, "products": [product]}
        for product, title, time in [
            ("Search", "Searched for valkey license", "2026-11-02T09:00:00Z"),
            ("Search", "Searched for redis", "2026-11-02T23:59:59Z"),
            ("Search", "Searched for lunch", "2026-11-03T00:00:00Z"),
            ("Chrome", "Visited a page", "2026-11-03T00:00:00Z"),
        ]
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = write_json(Path(folder) / "MyActivity.json", [*rows, *as_json(TURNS)])
        ledger = MemoryLedger()
        reading = read(path, ledger=ledger, connector=EVERYTHING_ELSE)
        assert read(path, ledger=ledger, connector=EVERYTHING_ELSE).documents == []
    assert [d.title for d in reading.documents] == ["Search 2026-11-02", "Search 2026-11-03"]
    assert {u.role for u in reading.said} == {Role.OTHER}
    assert "activity: Chrome" in {item.kind for item in reading.unknown}


@pytest.mark.parametrize(
    "title",
    ["Selected preferred draft", "Gave feedback: Good response", "Used an Assistant feature"],
)
def test_feedback_drafts_and_uses_are_no_conversation(title: str) -> None:
    reading = read_json(record(title, safeHtmlItem=[{"html": "x"}]))
    assert reading.documents == []
    assert "no conversation" in reading.unknown[0].kind


@pytest.mark.parametrize(
    ("title", "prompt"),
    [
        ("Prompted hello", "hello"),
        ("Prompted\u00a0hello", "hello"),
        ("送信したメッセージ: こんにちは", "こんにちは"),
        ("送信したメッセージ:こんにちは", "こんにちは"),
        ("「こんにちは」と入力しました", "こんにちは"),
        ("こんにちは と入力しました", "こんにちは"),
        ("Eingegebener Prompt: Hallo", "Hallo"),
        ("Requête inconnue : bonjour", "Requête inconnue : bonjour"),
    ],
)
def test_a_prompt_is_what_stands_beside_googles_own_words(title: str, prompt: str) -> None:
    reading = read_json(record(title, safeHtmlItem=[{"html": "<p>ok</p>"}]))
    assert reading.texts == [prompt, "ok"]


def test_a_prompt_without_an_answer_and_an_image_without_words_are_kept() -> None:
    rows = [record("Prompted alone", safeHtmlItem=[])]
    notes = [{"name": "Attached 1 file."}, {"name": "-  cat.png"}]
    answers = [{"html": "A cat."}]
    rows.append(
        record("Prompted", time="2026-11-02T09:10:00Z", safeHtmlItem=answers, subtitles=notes)
    )
    in_json = read_json(*rows)
    assert in_json.texts == ["alone", "A cat."]
    in_html = read_html(
        cell("Gemini Apps", "Prompted&nbsp;<br>Attached 1 file.<br>-&nbsp; "
             '<a href="cat.png">cat.png</a><br>Nov 2, 2026, 1:10:00\u202fAM PST<br>A cat.')
    )  # fmt: skip
    assert in_html.texts == ["A cat."]
    assert in_html.said[0].native_id == in_json.said[1].native_id


def test_canvas_text_is_the_assistants() -> None:
    reading = read_json(
        record("Created Gemini Canvas titled Plan", subtitles=[{"name": "1. Buy milk"}]),
        record("Created Gemini Canvas titled Empty"),
    )
    assert [(u.role, u.text) for u in reading.said] == [(Role.ASSISTANT, "Plan\n\n1. Buy milk")]


def test_thread_addresses_of_every_kind_lead_to_the_thread() -> None:
    urls = [
        "https://gemini.google.com/app/c0ffee0123456789",
        "https://gemini.google.com/app/c/c0ffee0123456789?hl=en",
        "https://gemini.google.com/u/1/app/c0ffee0123456789",
        "https://gemini.google.com/gem/abc/c0ffee0123456789",
        "https://www.google.com/url?q=https%3A%2F%2Fgemini.google.com%2Fapp%2Fc0ffee0123456789&usg=x",
    ]
    rows = [record(f"Prompted {n}", titleUrl=url, time=f"2026-11-0{n + 1}T09:00:00Z")
            for n, url in enumerate(urls)]  # fmt: skip
    details = [{"name": "a", "url": urls[0]}, {"name": "b", "url": f"{urls[0][:-4]}ffff"}]
    rows.append(record("Prompted two chats", details=details, time="2026-11-07T09:00:00Z"))
    (document,) = read_json(*rows).documents
    assert document.native_id == "app/c0ffee0123456789"
    assert len(document.utterances) == 6


def test_a_thread_told_in_only_one_form_is_still_one_document(tmp_path: Path) -> None:
    bare = [Turn(turn.at, turn.prompt, turn.answers) for turn in TURNS]
    (tmp_path / "a.json").write_text(json.dumps(as_json(bare)), encoding="utf-8")
    (tmp_path / "MyActivity.html").write_bytes(as_html(TURNS))
    reading = read(tmp_path)
    assert len(reading.said) == 10
    assert reading.documents[0].native_id == "app/c0ffee0123456789"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("2025/11/13 20:10:22 JST", "2025-11-13T11:10:22"),
        ("Jun 23, 2026, 12:25:59\u202fAM EDT", "2026-06-23T04:25:59"),
        ("May 4, 2026, 12:00:00\u202fPM PDT", "2026-05-04T19:00:00"),
        ("18 Sept 2025, 12:02:52 CET", "2025-09-18T11:02:52"),
        ("18 Sept 2025, 12:02:52 CEST", "2025-09-18T10:02:52"),
        ("13.11.2025, 20:10:22 MEZ", "2025-11-13T19:10:22"),
        ("13.07.2025, 20:10:22 MESZ", "2025-07-13T18:10:22"),
        ("Nov 2, 2025, 1:30:00 AM PDT", "2025-11-02T08:30:00"),
        ("Nov 2, 2025, 1:30:00 AM PST", "2025-11-02T09:30:00"),
        ("2025/11/13 20:10:22 GMT+09:00", "2025-11-13T11:10:22"),
        ("2025/11/13 20:10:22 UTC-3:30", "2025-11-13T23:40:22"),
        ("2025/11/13 午後8:10:22 JST", "2025-11-13T11:10:22"),
        ("2025. 11. 13. 오후 8:10:22 KST", "2025-11-13T11:10:22"),
        ("13 nov. 2025, 20:10:22 CET", "2025-11-13T19:10:22"),
    ],
)
def test_local_times_are_read_with_the_offset_they_name(line: str, expected: str) -> None:
    moment = parse_local(line)
    assert moment is not None
    assert moment.isoformat() == f"{expected}+00:00"


@pytest.mark.parametrize(
    "line",
    ["2025/11/13 20:10:22", "2025/11/13 20:10:22 XYZ", "Deploy it on 13.11.2025, 20:10:22 MEZ",
     "2025/13/45 20:10:22 JST", "2025/11/13 25:61:00 JST", "at 20:10:22 JST", "", "1" * 500],
)  # fmt: skip
def test_what_is_no_time_with_a_known_zone_is_none(line: str) -> None:
    assert parse_local(line) is None


def test_a_prompt_that_quotes_a_time_keeps_it() -> None:
    content = (
        "Prompted&nbsp;When was<br>2025/11/13 20:10:22 JST<br>in New York?<br>"
        "2026/11/02 18:00:05 JST<br><p>Six in the morning.</p>"
    )
    reading = read_html(cell("Gemini Apps", content))
    assert reading.texts == [
        "When was\n2025/11/13 20:10:22 JST\nin New York?",
        "Six in the morning.",
    ]
    assert reading.said[0].at == START


def test_a_row_whose_zone_is_not_known_is_refused_by_name_and_the_rest_is_read() -> None:
    odd = cell("Gemini Apps", "Prompted x<br>Nov 2, 2026, 1:00:00 AM QQQ<br><p>y</p>")
    good = cell("Gemini Apps", "Prompted z<br>Nov 2, 2026, 1:00:00 AM PST<br><p>y</p>")
    reading = read_html(odd, good)
    assert reading.texts == ["z", "y"]
    (bad,) = reading.bad
    assert bad.place.endswith("MyActivity.html#1")
    assert "zone" in bad.reason


def test_answers_keep_code_tables_and_lists_and_no_script() -> None:
    answer = (
        "<h3>Plan</h3><pre><code>SELECT 1;\n  -- two</code></pre>"
        "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>"
        '<script>alert(1)</script><img src="data:image/png;base64,AAAA">'
    )
    (_, text) = read_json(*as_json([Turn(START, "q", (answer,))])).texts
    assert "### Plan" in text
    assert "SELECT 1;\n  -- two" in text
    assert "| 1 | 2 |" in text
    assert "alert" not in text
    assert "AAAA" not in text


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (record("Prompted x", time="yesterday"), "without a usable time"),
        ({**record("x"), "title": None}, "without a title"),
        ("text", "not a JSON object"),
    ],
)
def test_a_broken_row_is_named_and_the_rest_goes_on(broken: Any, reason: str) -> None:
    reading = read_json(*as_json(TURNS[:1]), broken)
    assert len(reading.said) == 2
    assert reason in reading.bad[0].reason


def test_keep_notes_lists_labels_and_edits(tmp_path: Path) -> None:
    ledger = MemoryLedger()
    items = [{"text": "milk", "isChecked": True}, {"text": "茶", "isChecked": False}]
    path = tmp_path / "Keep" / "Queue.json"
    write_json(path, keep_note(listContent=items, labels=[{"name": "shop"}]))
    (document,) = read(tmp_path, ledger=ledger).documents
    assert document.utterances[0].text == "Valkeyにする\n\n- [x] milk\n- [ ] 茶"
    assert (document.title, document.meta["labels"]) == ("Queue", "shop")
    assert document.utterances[0].role is Role.OWNER
    edited = keep_note(textContent="Redisにする", userEditedTimestampUsec=1_791_290_800_000_000)
    write_json(path, edited)
    (again,) = read(tmp_path, ledger=ledger).documents
    assert (again.native_id, again.utterances[0].text) == (document.native_id, "Redisにする")
    write_json(tmp_path / "old" / "Queue.json", keep_note())
    assert read(tmp_path, ledger=ledger).documents == []


def test_notes_in_the_trash_are_counted_and_shared_ones_are_not_the_owners(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", keep_note(isTrashed=True))
    write_json(tmp_path / "b.json", keep_note(sharees=[{"email": "k@x.example"}]))
    (tmp_path / "c.json").write_text('{"isTrashed": false, "title": "x" oops}', encoding="utf-8")
    reading = read(tmp_path)
    assert [u.role for u in reading.said] == [Role.OTHER]
    assert [item.kind for item in reading.unknown] == ["Keep: note in the trash"]
    assert reading.bad[0].place == f"{tmp_path}/c.json#1"


def test_what_is_neither_is_counted_or_refused_by_name(tmp_path: Path) -> None:
    history = write_json(tmp_path / "BrowserHistory.json", {"Browser History": []})
    assert [item.kind for item in read(tmp_path).unknown] == ["file .json"]
    assert "neither Google activity" in read(history).bad[0].reason
    with pytest.raises(UsageError):
        read(tmp_path / "nothing")


def test_a_kill_anywhere_loses_nothing_and_sends_nothing_twice(tmp_path: Path) -> None:
    turns = [
        Turn(START - timedelta(hours=n), f"prompt {n}", (f"<p>{'x' * 2_000}</p>",))
        for n in range(1500)
    ]
    path = write_json(tmp_path / "MyActivity.json", as_json(turns))
    ledger, said = MemoryLedger(), 0
    pending: list[SourceDocument] = []
    for item in CONNECTOR.read([path], ledger, AKI):
        if isinstance(item, SourceDocument):
            pending.append(item)
        elif isinstance(item, Checkpoint):
            ledger.commit(pending, item)
            said += sum(len(document.utterances) for document in pending)
            pending = []
        if said > 1_000:
            break
    assert said < 3_000
    assert said + len(read(path, ledger=ledger).said) == 3_000
    assert read(path, ledger=ledger).documents == []


def test_a_long_thread_falls_into_the_same_parts_whenever_it_is_read() -> None:
    turns = [
        Turn(START + timedelta(minutes=n), f"p{n}", (f"<p>{'y' * 9_000}</p>",), "c0ffee0123456789")
        for n in range(40)
    ]
    whole = read_json(*as_json(turns)).by_document["app/c0ffee0123456789"]
    assert max(part for part, _ in whole) == 3
    ledger = MemoryLedger()
    first = read_json(*as_json(turns[:25]), ledger=ledger).by_document
    second = read_json(*as_json(turns), ledger=ledger).by_document
    parts = first["app/c0ffee0123456789"] + second["app/c0ffee0123456789"]
    assert parts == whole


def test_rows_of_a_page_are_found_wherever_chunks_end_and_large_ones_are_passed_over() -> None:
    class Dripping(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            del size
            return super().read(7)

    data = as_html(TURNS, styles="")
    whole = [row.data for row in html_rows(io.BytesIO(data))]
    assert [row.data for row in html_rows(Dripping(data))] == whole
    assert len(whole) == 5
    huge = page([cell("Gemini Apps", "x" * 9_000_000), cell("Gemini Apps", "small")])
    rows = list(html_rows(io.BytesIO(huge)))
    assert [bool(row.problem) for row in rows] == [True, False]
    assert b"small" in rows[1].data


EXAMPLES = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
FULL = record(
    "Prompted x",
    titleUrl="https://gemini.google.com/app/c0ffee0123456789",
    subtitles=[{"name": "n", "url": "u"}],
    details=[{"name": "n", "url": "https://gemini.google.com/app/c0ffee0123456780"}],
    safeHtmlItem=[{"html": "<p>x</p>"}],
)
NOTE = keep_note(
    listContent=[{"text": "a", "isChecked": True}],
    labels=[{"name": "l"}],
    annotations=[{"title": "t", "url": "https://x.example"}],
    attachments=[{"filePath": "f"}],
)


@EXAMPLES
@given(st.data())
def test_rows_with_any_field_turned_into_anything_are_read_to_their_end(
    data: st.DataObject,
) -> None:
    ledger = MemoryLedger()
    rows = [*as_json(TURNS), mutate(FULL, data)]
    assert {turn.prompt for turn in TURNS} <= set(read_json(*rows, ledger=ledger).texts)
    assert read_json(*rows, ledger=ledger).documents == []


@EXAMPLES
@given(st.data())
def test_notes_with_any_field_turned_into_anything_are_read_to_their_end(
    data: st.DataObject,
) -> None:
    note = {**mutate(NOTE, data), "isTrashed": False}
    assert len(read_file("x.json", json.dumps(note).encode()).said) <= 1


PIECES = [
    "<p>",
    "</p>",
    "<div>",
    "</div>",
    "<br>",
    "</a>",
    "<ul><li>",
    "&nbsp;",
    "&#0;",
    "&bogus;",
    "<!--",
    "-->",
    "<![CDATA[",
    "Prompted",
    "あ",
    "<table><tr><td>",
    "<pre>",
    "\u202e",
    "<<<<<<<<",
    "\x00",
]
PIECES += ["<a href='javascript:x'>", "2026/11/02 18:00:05 JST", '<div class="outer-cell']


@EXAMPLES
@given(st.lists(st.sampled_from(PIECES), max_size=40))
def test_pages_of_any_brokenness_are_read_to_their_end(pieces: list[str]) -> None:
    good = cell("Gemini Apps", "Prompted z<br>Nov 2, 2026, 1:00:00 AM PST<br><p>y</p>")
    reading = read_html(good, cell("Gemini Apps", "".join(pieces)))
    assert "z" in reading.texts


@pytest.mark.parametrize(
    "bomb",
    [
        "<div>" * 200_000,
        "<b>" * 200_000,
        "<table>" * 50_000,
        "<ul><li>" * 100_000,
        "&amp;" * 500_000,
        "<a href='" + "x" * 3_000_000 + "'>",
        "<br>" * 500_000,
        "<p " + "a=1 " * 300_000 + ">",
    ],
)
def test_html_made_to_hang_is_read_quickly(bomb: str) -> None:
    good = cell("Gemini Apps", "Prompted z<br>Nov 2, 2026, 1:00:00 AM PST<br><p>y</p>")
    started = time.process_time()
    reading = read_html(good, cell("Gemini Apps", bomb))
    assert "z" in reading.texts
    answer = record("Prompted q", safeHtmlItem=[{"html": bomb}])
    assert "q" in read_json(answer).texts
    assert time.process_time() - started < 10

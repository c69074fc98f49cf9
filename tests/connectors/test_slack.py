"""A Slack export becomes threads and days, each message once, under its own author's name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from connectors.base import ReadOptions
from connectors.slack import SlackConnector
from context_engine.clock import ManualClock
from context_engine.errors import UsageError
from context_engine.events import MOVED, REMOVED, Role
from context_engine.scopes import Scope
from support.archives import named_zip, write_zip
from support.slack import CHANNELS, USERS, export, message, rich, section, ts, words
from support.sources import AKI, json_values, mutate, read_source, write_json
from support.transcripts import NOW, MemoryLedger, Reading

EXAMPLES = settings(
    max_examples=80,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


def read(*paths: Path, ledger: MemoryLedger | None = None, options: ReadOptions = AKI) -> Reading:
    return read_source(SlackConnector(ManualClock(NOW)), *paths, ledger=ledger, options=options)


def read_one(tmp_path: Path, record: dict[str, Any]) -> str:
    (text,) = read(export(tmp_path, general=[record])).texts
    return text


def test_a_day_of_a_channel_is_a_document_with_authors_times_and_stable_ids(tmp_path: Path) -> None:
    root = export(tmp_path, general=[message(1, "Hi"), message(0, "朝", user="U00000AKI")])
    (document,) = read(root).documents
    assert (document.source, document.native_id) == ("slack", "C00000GEN/2026-11-02")
    assert document.title == "#general 2026-11-02"
    assert document.meta == {"kind": "day", "channel": "#general", "channel_id": "C00000GEN"}
    assert (document.scope, document.project) == (Scope.PERSONAL, None)
    assert [(u.native_id, u.author, u.role, u.text) for u in document.utterances] == [
        (f"C00000GEN:{ts(0)}", "Aki", Role.OWNER, "朝"),
        (f"C00000GEN:{ts(1)}", "Kim 金", Role.OTHER, "Hi"),
    ]
    assert f"{document.utterances[1].at}" == "2026-11-02 09:01:00.000001+00:00"


def test_a_thread_is_a_document_over_all_its_days_named_by_its_first_message(
    tmp_path: Path,
) -> None:
    root = export(
        tmp_path, general=[message(0, "Valkey? Or Redis?", thread_ts=ts(0), reply_count=1)]
    )
    late = message(3000, "Valkey", thread_ts=ts(0))
    write_json(root / "general" / "2026-11-04.json", [late, message(3001, "Unrelated")])
    reading = read(root)
    threads = [d for d in reading.documents if d.meta["kind"] == "thread"]
    assert {d.native_id for d in threads} == {f"C00000GEN/{ts(0)}"}
    assert {d.title for d in threads} == {"#general: Valkey? Or Redis?"}
    assert [u.text for d in threads for u in d.utterances] == ["Valkey? Or Redis?", "Valkey"]


def test_a_zip_reads_as_its_folder_does_and_brings_nothing_new_after_it(tmp_path: Path) -> None:
    root = export(tmp_path / "a", general=[message(0, "hello")], D00000KIM=[message(1, "secret")])
    names = sorted(root.rglob("*.json"), reverse=True)
    members = {f"export/{p.relative_to(root)}": p.read_bytes() for p in names}
    archive = write_zip(tmp_path / "export.zip", members)
    ledger = MemoryLedger()
    assert sorted(read(archive, ledger=ledger).texts) == ["hello", "secret"]
    assert read(root, ledger=ledger).documents == []


def test_channel_folders_with_japanese_names_in_a_zip_without_the_utf8_flag_are_read(
    tmp_path: Path,
) -> None:
    day = json.dumps([message(0, "了解")]).encode()
    path = tmp_path / "x.zip"
    path.write_bytes(named_zip(["雑談/2026-11-02.json".encode("cp932")], day))
    (document,) = read(path).documents
    assert document.title == "#雑談 2026-11-02"


def test_an_edited_message_is_sent_again_alone_under_the_same_id(tmp_path: Path) -> None:
    ledger = MemoryLedger()
    before = [message(0, "Redis"), message(1, "ok")]
    read(export(tmp_path, general=before), ledger=ledger)
    edited = message(0, "Valkey", edited={"user": "U00000KIM", "ts": ts(5)})
    reading = read(export(tmp_path, general=[edited, before[1]]), ledger=ledger)
    (document,) = reading.documents
    assert document.native_id == "C00000GEN/2026-11-02"
    assert [(u.native_id, u.text) for u in document.utterances] == [
        (f"C00000GEN:{ts(0)}", "Valkey")
    ]
    assert read(tmp_path, ledger=ledger).documents == []


def test_a_message_deleted_in_slack_is_replaced_by_a_notice(tmp_path: Path) -> None:
    ledger = MemoryLedger()
    read(export(tmp_path, general=[message(0, "oops"), message(1, "ok")]), ledger=ledger)
    gone = message(0, "This message was deleted.", user="USLACKBOT", subtype="tombstone")
    root = export(tmp_path, general=[gone, message(1, "ok")])
    reading = read(root, ledger=ledger)
    assert [(u.native_id, u.text) for u in reading.said] == [(f"C00000GEN:{ts(0)}", REMOVED)]
    assert read(root, ledger=ledger).documents == []


def test_the_words_of_a_deleted_first_message_leave_the_thread_s_title(tmp_path: Path) -> None:
    ledger = MemoryLedger()
    first = message(0, "the secret plan", thread_ts=ts(0), reply_count=1)
    reply = message(1, "ok", thread_ts=ts(0))
    begun = read(export(tmp_path, general=[first, reply]), ledger=ledger)
    assert begun.documents[0].title == "#general: the secret plan"
    gone = first | {"text": "This message was deleted.", "subtype": "tombstone"}
    root = export(tmp_path, general=[gone, reply])
    reading = read(root, ledger=ledger)
    assert [(d.title, d.revision > 0) for d in reading.documents] == [("#general thread", True)]
    assert read(root, ledger=ledger).documents == []


def test_a_tombstone_of_a_message_never_seen_is_counted_only(tmp_path: Path) -> None:
    reading = read(export(tmp_path, general=[message(0, "x", subtype="tombstone")]))
    assert reading.documents == []
    assert [u.kind for u in reading.unknown] == ["tombstone"]


def test_a_message_that_gets_its_first_reply_moves_into_the_thread(tmp_path: Path) -> None:
    ledger = MemoryLedger()
    read(export(tmp_path, general=[message(0, "Anyone?")]), ledger=ledger)
    parent = message(0, "Anyone?", thread_ts=ts(0), reply_count=1)
    reply = message(1, "Me", thread_ts=ts(0))
    reading = read(export(tmp_path, general=[parent, reply]), ledger=ledger)
    said = {d.native_id: [u.text for u in d.utterances] for d in reading.documents}
    assert said == {
        f"C00000GEN/{ts(0)}": ["Anyone?", "Me"],
        "C00000GEN/2026-11-02": [MOVED],
    }
    assert read(tmp_path, ledger=ledger).documents == []


def test_replies_exported_without_their_first_message_leave_the_threads_title_alone(
    tmp_path: Path,
) -> None:
    ledger = MemoryLedger()
    parent = message(0, "Which queue?", thread_ts=ts(0), reply_count=1)
    read(export(tmp_path / "october", general=[parent]), ledger=ledger)
    november = export(tmp_path / "november", general=[message(9, "Late.", thread_ts=ts(0))])
    (document,) = read(november, ledger=ledger).documents
    assert (document.native_id, document.title) == (f"C00000GEN/{ts(0)}", "")
    (alone,) = read(november).documents
    assert alone.title == "#general: Late."


def test_a_renamed_channel_keeps_its_documents_and_renames_them(tmp_path: Path) -> None:
    ledger = MemoryLedger()
    read(export(tmp_path / "a", general=[message(0, "hello")]), ledger=ledger)
    root = export(tmp_path / "b", lobby=[message(0, "hello")])
    write_json(root / "channels.json", [{**CHANNELS[0], "name": "lobby"}])
    (document,) = read(root, ledger=ledger).documents
    assert (document.native_id, document.title) == ("C00000GEN/2026-11-02", "#lobby 2026-11-02")
    assert read(root, ledger=ledger).documents == []


def test_a_folder_still_named_as_the_channel_was_before_belongs_to_it(tmp_path: Path) -> None:
    root = export(tmp_path, oldname=[message(0, "hello")])
    write_json(root / "channels.json", [{**CHANNELS[0], "previous_names": ["oldname"]}])
    assert read(root).documents[0].native_id == "C00000GEN/2026-11-02"


def test_a_broadcast_reply_stands_once_in_its_thread_and_does_not_repeat_the_root(
    tmp_path: Path,
) -> None:
    parent = message(0, "Root", thread_ts=ts(0), reply_count=1)
    reply = message(1, "Look", thread_ts=ts(0), subtype="thread_broadcast", root=parent)
    reading = read(export(tmp_path, general=[parent, reply, reply]))
    assert reading.texts == ["Root", "Look"]


def test_notices_are_left_out_and_counted_by_type(tmp_path: Path) -> None:
    notices = [message(n, "x", subtype=s) for n, s in enumerate(["channel_join", "pinned_item"])]
    reading = read(export(tmp_path, general=[*notices, message(5, "hello")]))
    assert reading.texts == ["hello"]
    assert [u.kind for u in reading.unknown] == ["channel_join", "pinned_item"]


def test_a_message_of_an_unknown_kind_is_kept_and_counted(tmp_path: Path) -> None:
    reading = read(export(tmp_path, general=[message(0, "new", subtype="hologram")]))
    assert (reading.texts, [u.kind for u in reading.unknown]) == (["new"], ["hologram"])


def test_an_app_that_posts_in_the_owners_name_is_not_the_owner(tmp_path: Path) -> None:
    record = message(0, "Deployed", user="U00000AKI", bot_id="B00000001")
    (said,) = read(export(tmp_path, general=[record])).said
    assert (said.author, said.role) == ("ci", Role.OTHER)


@pytest.mark.parametrize("name", ["aki", "AKI@x.example", "U00000AKI", "Aki", "ａｋｉ"])
def test_the_owner_is_found_by_any_name_that_is_theirs_alone(tmp_path: Path, name: str) -> None:
    root = export(tmp_path, general=[message(0, "mine", user="U00000AKI"), message(1, "theirs")])
    said = read(root, options=ReadOptions(owner_name=name)).said
    assert [u.role for u in said] == [Role.OWNER, Role.OTHER]


@pytest.mark.parametrize("name", ["owner", "Nobody", "", "shared"])
def test_nobody_is_the_owner_when_the_name_is_unset_unknown_or_shared(
    tmp_path: Path, name: str
) -> None:
    root = export(tmp_path, general=[message(0, "a", user="U00000AKI"), message(1, "b")])
    same = [{**user, "real_name": "shared"} for user in USERS]
    write_json(root / "users.json", same)
    said = read(root, options=ReadOptions(owner_name=name)).said
    assert {u.role for u in said} == {Role.OTHER}


def test_a_message_that_the_owner_shares_is_not_the_owners_word(tmp_path: Path) -> None:
    shared = {"author_name": "Kim", "text": "We always use Redis", "is_share": True}
    record = message(0, "Look", user="U00000AKI", attachments=[shared])
    said = read(export(tmp_path, general=[record])).said
    assert [(u.role, u.text) for u in said] == [
        (Role.OWNER, "Look"),
        (Role.OTHER, "> Kim\n> We always use Redis"),
    ]


def test_authors_who_are_not_listed_keep_the_name_the_message_gives_or_their_id(
    tmp_path: Path,
) -> None:
    guest = message(0, "a", user="U0STRANGE", user_profile={"display_name": "Guest"})
    bot = message(2, "c", user="", subtype="bot_message", username="deploy", bot_id="B9")
    slackbot = message(3, "d", user="USLACKBOT")
    messages = [guest, message(1, "b", user="U0UNKNOWN"), bot, slackbot]
    said = read(export(tmp_path, general=messages)).said
    assert [u.author for u in said] == ["Guest", "U0UNKNOWN", "deploy", "Slackbot"]


def test_a_direct_message_is_named_by_the_other_person(tmp_path: Path) -> None:
    (document,) = read(export(tmp_path, D00000KIM=[message(0, "psst")])).documents
    assert document.title == "DM with Kim 金 2026-11-02"


def test_text_markup_becomes_markdown_with_names_and_without_entities(tmp_path: Path) -> None:
    text = (
        "<@U00000AKI> see <#C00000GEN> and <#C9|other> &amp; *bold* ~old~ `a*b*c &lt;`\n"
        "<https://x.example/a_(b)|the page> <https://y.example> <mailto:a@b.example|a@b.example>\n"
        "<!here> <!subteam^S1|@ops> <!date^1793610000^{date}|Monday> <@U0GONE> &lt;tag&gt;"
    )
    assert read_one(tmp_path, message(0, text)) == (
        "@Aki see #general and #other & **bold** ~~old~~ `a*b*c <`\n"
        "[the page](https://x.example/a_%28b%29) https://y.example a@b.example\n"
        "@here @ops Monday @U0GONE <tag>"
    )


def test_a_code_block_in_text_keeps_its_characters(tmp_path: Path) -> None:
    text = "run ```if a &lt; b *and* c:\n  go()``` now"
    assert read_one(tmp_path, message(0, text)) == (
        "run \n```\nif a < b *and* c:\n  go()\n```\n now"
    )


def test_rich_text_is_preferred_and_keeps_lists_quotes_code_and_mentions(tmp_path: Path) -> None:
    blocks = rich(
        section(
            words("Plan for "), {"type": "user", "user_id": "U00000AKI"}, words(" ok", bold=True)
        ),
        section(
            section(words("one")), section(words("two")), kind="rich_text_list", style="ordered"
        ),
        section(section(words("inner")), kind="rich_text_list", style="bullet", indent=1),
        section(words("said\nbefore"), kind="rich_text_quote"),
        section(words("x = '*'\n"), kind="rich_text_preformatted", language="python"),
        section(
            {"type": "channel", "channel_id": "C00000GEN"},
            {"type": "emoji", "name": "tada", "unicode": "1f389"},
            {"type": "emoji", "name": "shipit"},
            {"type": "usergroup", "usergroup_id": "S1"},
            {"type": "broadcast", "range": "here"},
            {"type": "date", "timestamp": 1793610000},
            {"type": "link", "url": "https://x.example", "text": "page"},
        ),
    )
    assert read_one(tmp_path, message(0, "fallback", blocks=blocks)) == (
        "Plan for @Aki **ok**\n"
        "1. one\n2. two\n"
        "   - inner\n\n"
        "> said\n> before\n\n"
        "```python\nx = '*'\n```\n\n"
        "#general🎉:shipit:@S1@here2026-11-02 09:00 UTC[page](https://x.example)"
    )


def test_layout_blocks_of_apps_are_read_and_unknown_ones_keep_their_text_and_are_counted(
    tmp_path: Path,
) -> None:
    blocks = [
        {"type": "header", "text": {"type": "plain_text", "text": "Build"}},
        {"type": "divider"},
        {"type": "section", "text": {"type": "mrkdwn", "text": "*ok*"}},
        {"type": "context", "elements": [{"type": "mrkdwn", "text": "by <@U00000KIM>"}]},
        {"type": "hologram", "text": {"type": "mrkdwn", "text": "kept"}},
        {"type": "table", "rows": [[{"type": "raw_text", "text": "a|b"}], [{"text": "c"}]]},
    ]
    reading = read(export(tmp_path, general=[message(0, "", blocks=blocks)]))
    assert reading.texts == [
        "**Build**\n\n**ok**\n\nby @Kim 金\n\nkept\n\n| a\\|b |\n| --- |\n| c |"
    ]
    assert [u.kind for u in reading.unknown] == ["block hologram"]


def test_files_are_listed_by_name_and_no_address_carries_a_token(tmp_path: Path) -> None:
    file = {
        "title": "plan.pdf",
        "permalink": "https://shop.slack.com/files/U1/F1/plan.pdf?t=xoxe-1-2-abc",
        "url_private": "https://files.slack.com/files-pri/T1-F1/plan.pdf?t=xoxe-1-2-abc",
    }
    text = "see <https://files.slack.com/files-pri/T1-F1/plan.pdf?t=xoxe-1-2-abc|this>"
    root = export(tmp_path, general=[message(0, text, files=[file, {"mode": "tombstone"}])])
    (document,) = read(root).documents
    (said,) = document.utterances
    assert said.text == (
        "see [this](https://files.slack.com/files-pri/T1-F1/plan.pdf)\n\n"
        "- file: [plan.pdf](https://shop.slack.com/files/U1/F1/plan.pdf)\n"
        "- file: no longer there"
    )
    assert document.url == f"https://shop.slack.com/archives/C00000GEN/p{ts(0).replace('.', '')}"


def test_comments_on_files_belong_to_who_made_them(tmp_path: Path) -> None:
    old = message(
        0,
        "<@U00000KIM> commented on a file",
        user="",
        subtype="file_comment",
        comment={"user": "U00000AKI", "comment": "Nice &amp; short"},
        file={"name": "a.txt"},
    )
    (said,) = read(export(tmp_path, general=[old])).said
    assert (said.role, said.text) == (Role.OWNER, "Nice & short\n\n- file: a.txt")


def test_a_dump_of_one_channel_gives_the_documents_that_the_export_gives(tmp_path: Path) -> None:
    parent = message(0, "Root", thread_ts=ts(0), reply_count=1)
    reply = message(1, "Reply", thread_ts=ts(0))
    ledger = MemoryLedger()
    read(export(tmp_path / "a", general=[parent, reply, message(2, "x")]), ledger=ledger)
    nested = {**parent, "slackdump_thread_replies": [reply]}
    dump = {"channel_id": "C00000GEN", "name": "general", "messages": [nested, message(2, "x")]}
    path = write_json(tmp_path / "b" / "C00000GEN.json", dump)
    assert read(path, ledger=ledger).texts == []
    assert sorted(read(path).texts) == ["Reply", "Root", "x"]


def test_one_channel_folder_of_an_export_is_read_with_the_names_beside_it(tmp_path: Path) -> None:
    root = export(tmp_path, general=[message(0, "hello", user="U00000AKI")])
    (document,) = read(root / "general").documents
    assert (document.native_id, document.utterances[0].role) == ("C00000GEN/2026-11-02", Role.OWNER)


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({**message(0), "ts": 1793610000.000001}, "ts is no string"),
        ({**message(0), "ts": "yesterday"}, "has no ts that is a time"),
        ({**message(0), "ts": "9999999999.000000"}, "has no ts that is a time"),
        ("not a message", "not a JSON object"),
    ],
)
def test_a_record_that_is_no_message_is_named_with_its_place(
    tmp_path: Path, record: Any, reason: str
) -> None:
    reading = read(export(tmp_path, general=[record, message(1, "hello")]))
    place = f"{tmp_path}/general/2026-11-02.json#1"
    assert [(bad.place, bad.reason) for bad in reading.bad] == [(place, reason)]
    assert reading.texts == ["hello"]


def test_files_that_are_no_messages_are_counted_or_refused_when_named(tmp_path: Path) -> None:
    root = export(tmp_path, general=[message(0, "hello")])
    write_json(root / "integration_logs.json", [])
    (root / "notes.txt").write_text("x")
    (root / "general" / "2026-11-03.json").write_text("[{")
    (root / "general" / "2026-11-05.json").write_text("[" * 5000 + "]" * 5000)
    reading = read(root)
    assert reading.texts == ["hello"]
    assert {u.kind for u in reading.unknown} == {"file integration_logs.json", "file notes.txt"}
    assert len(reading.bad) == 2
    (bad,) = read(root / "notes.txt").bad
    assert bad.reason == "not a Slack export: no messages in it"


def test_a_run_without_a_path_says_what_to_name() -> None:
    with pytest.raises(UsageError, match="name a Slack export"):
        read()


@EXAMPLES
@given(st.data())
def test_an_export_with_any_field_turned_into_anything_is_read_to_its_end(
    tmp_path: Path, data: st.DataObject
) -> None:
    blocks = rich(section(words("a", bold=True), {"type": "link", "url": "https://x.example"}))
    lists = rich(section(section(words("b")), kind="rich_text_list", style="bullet"))
    good = [
        message(
            0, "*a* <@U1>", blocks=blocks, files=[{"name": "f"}], reply_count=1, thread_ts=ts(0)
        ),
        message(1, "b", blocks=lists, attachments=[{"text": "t", "fields": [{"title": "x"}]}]),
        message(2, "c", subtype="file_comment", comment={"user": "U00000AKI", "comment": "d"}),
    ]
    root = export(tmp_path, general=mutate(good, data))
    write_json(root / "users.json", mutate(USERS, data))
    write_json(root / "channels.json", mutate(CHANNELS, data))
    ledger = MemoryLedger()
    read(root, ledger=ledger)
    assert read(root, ledger=ledger).documents == []


@EXAMPLES
@given(json_values, st.text(max_size=200))
def test_any_json_and_any_text_is_read_to_its_end(tmp_path: Path, value: Any, text: str) -> None:
    root = export(tmp_path, general=[message(0, text, blocks=value), message(1, "after")])
    write_json(root / "general" / "2026-11-03.json", value)
    assert "after" in read(root).texts


@EXAMPLES
@given(st.text(alphabet="<>@#!|*_~`&;lgta \n]()[", max_size=300))
def test_markup_of_any_shape_ends_quickly(tmp_path: Path, text: str) -> None:
    read(export(tmp_path, general=[message(0, text * 50)]))

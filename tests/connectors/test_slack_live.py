"""Slack's Web API through slack_sdk, against a server that speaks as Slack does."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import SecretStr
from slack_sdk.errors import SlackApiError

from connectors.base import ReadOptions
from connectors.slack import SlackConnector
from connectors.slack_api import web_client
from connectors.slack_live import SlackLiveConnector
from context_engine.clock import ManualClock
from context_engine.errors import AccessDeniedError, DependencyDownError
from context_engine.events import Checkpoint, Role, SourceDocument
from context_engine.source_settings import LiveSettings, SlackSettings
from support.http_faults import Fault
from support.slack import FIRST, export, message, ts
from support.slack_server import TOKEN, SlackServer, slack_server
from support.sources import mutate, read_source
from support.transcripts import MemoryLedger, Reading

GENERAL = "C00000GEN"


@pytest.fixture
def slack() -> Iterator[SlackServer]:
    with slack_server() as server:
        yield server


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(datetime(2026, 11, 2, 12, tzinfo=UTC))


@pytest.fixture
def pauses() -> list[float]:
    return []


class Reader:
    """Reads a workspace again and again, as runs of the engine do."""

    def __init__(self, slack: SlackServer, clock: ManualClock, pauses: list[float]) -> None:
        self.settings = SlackSettings(token=SecretStr(TOKEN), base_url=slack.url)
        self.ledger = MemoryLedger()
        self.clock, self.pauses = clock, pauses
        self.since: datetime | None = None

    def options(self) -> ReadOptions:
        live = LiveSettings(slack=self.settings)
        return ReadOptions(owner_name="Aki", live=live, pause=self.pauses.append, since=self.since)

    def read(self) -> Reading:
        connector = SlackLiveConnector(self.clock)
        return read_source(connector, ledger=self.ledger, options=self.options())

    def set(self, **changed: object) -> None:
        self.settings = self.settings.model_copy(update=changed)


@pytest.fixture
def reader(slack: SlackServer, clock: ManualClock, pauses: list[float]) -> Reader:
    return Reader(slack, clock, pauses)


def ago(days: int) -> dict[str, Any]:
    """What was said so many days before."""
    return message(0, f"day {days}") | {"ts": f"{FIRST - days * 86_400}.000001"}


def said(reading: Reading) -> list[str]:
    return [item.text for item in reading.said if not item.withdrawn]


def withdrawn(reading: Reading) -> list[str]:
    return [item.native_id for item in reading.said if item.withdrawn]


def test_channels_and_threads_arrive_once_with_their_speakers(
    slack: SlackServer, reader: Reader
) -> None:
    slack.say(
        GENERAL,
        message(1, "Guten Morgen", user="U00000AKI"),
        message(2, "Wer deployt?"),
        message(3, "日本語で返事します", user="U00000AKI", thread_ts=ts(2)),
    )
    first = reader.read()
    assert said(first) == ["Guten Morgen", "Wer deployt?", "日本語で返事します"]
    assert [item.role for item in first.said] == [Role.OWNER, Role.OTHER, Role.OWNER]
    assert sorted({item.native_id for item in first.documents}) == [
        f"{GENERAL}/{ts(2)}",
        f"{GENERAL}/2026-11-02",
    ]
    assert {item.title for item in first.documents} == {
        "#general 2026-11-02",
        "#general: Wer deployt?",
    }
    assert first.documents[0].url == (
        f"https://acme.slack.com/archives/{GENERAL}/p{ts(1).replace('.', '')}"
    )
    assert reader.read().documents == []
    assert len(reader.ledger.states) == 2, "the day and the channel; no day without a message"


def test_what_an_export_brought_does_not_come_again(
    slack: SlackServer, reader: Reader, tmp_path: Path
) -> None:
    messages = [message(1, "one"), message(2, "two", reply_count=1, thread_ts=ts(2))]
    messages.append(message(3, "reply", thread_ts=ts(2)))
    slack.say(GENERAL, messages[0], message(2, "two"), messages[2])
    root = export(tmp_path / "x", general=messages)
    exported = read_source(SlackConnector(reader.clock), root, ledger=reader.ledger)
    assert len(exported.said) == 3
    assert reader.read().documents == []
    slack.say(GENERAL, message(4, "four"))
    assert said(reader.read()) == ["four"]
    assert read_source(SlackConnector(reader.clock), root, ledger=reader.ledger).documents == []


def test_an_edit_a_deletion_and_a_late_reply_are_found_in_the_days_read_again(
    slack: SlackServer, reader: Reader, clock: ManualClock
) -> None:
    slack.say(GENERAL, *(message(number, f"message {number}") for number in range(1, 5)))
    slack.say(GENERAL, message(5, "first reply", thread_ts=ts(4)))
    reader.read()
    clock.advance(20 * 86_400)
    messages = slack.messages[GENERAL]
    messages[0] = message(1, "changed", edited={"user": "U00000KIM", "ts": ts(90)})
    del messages[1]
    slack.say(GENERAL, message(20 * 1440, "late reply", thread_ts=ts(3)))
    second = reader.read()
    assert sorted(said(second)) == [
        "(continued in a thread of its own)",
        "changed",
        "late reply",
        "message 3",
    ]
    assert withdrawn(second) == [f"{GENERAL}:{ts(2)}"]
    assert reader.read().documents == []


def test_an_edited_and_a_deleted_reply_of_a_young_thread_are_found(
    slack: SlackServer, reader: Reader, clock: ManualClock
) -> None:
    slack.say(GENERAL, message(1, "question"))
    slack.say(GENERAL, *(message(n, f"reply {n}", thread_ts=ts(1)) for n in (2, 3, 4)))
    reader.read()
    clock.advance(3600)
    messages = slack.messages[GENERAL]
    messages[2] = message(3, "better", thread_ts=ts(1), edited={"user": "U", "ts": ts(80)})
    del messages[1]
    second = reader.read()
    assert said(second) == ["better"]
    assert withdrawn(second) == [f"{GENERAL}:{ts(2)}"]


def test_a_message_that_only_seemed_deleted_comes_back(
    slack: SlackServer, reader: Reader, clock: ManualClock
) -> None:
    slack.say(GENERAL, ago(50), message(1, "here"), message(2, "there"))
    reader.read()
    kept = slack.messages[GENERAL].pop(1)
    clock.advance(3600)
    assert withdrawn(reader.read()) == [f"{GENERAL}:{ts(1)}"]
    slack.say(GENERAL, kept)
    assert said(reader.read()) == ["here"]


def test_what_slack_forgets_by_a_rule_of_retention_is_not_taken_for_deleted(
    slack: SlackServer, reader: Reader, clock: ManualClock
) -> None:
    slack.say(GENERAL, *(ago(day) for day in range(20)))
    reader.read()
    clock.advance(3600)
    slack.messages[GENERAL] = [ago(day) for day in range(7) if day != 3]
    assert withdrawn(reader.read()) == [f"{GENERAL}:{ago(3)['ts']}"]
    clock.advance(100 * 86_400)
    slack.messages[GENERAL] = []
    assert reader.read().documents == []


def test_everything_comes_from_many_small_pages(slack: SlackServer, reader: Reader) -> None:
    slack.page = 2
    days = [ago(day) for day in range(60)]
    slack.say(GENERAL, *days, message(7, "reply", thread_ts=days[50]["ts"]))
    slack.channels.append({"id": "C00000TWO", "name": "zwei", "is_channel": True})
    slack.channels.append(
        {"id": "C00000DRI", "name": "drei", "is_channel": True, "is_member": True}
    )
    slack.say("C00000TWO", message(1, "not a member"))
    slack.say("C00000DRI", message(1, "drei"))
    assert sorted(said(reader.read())) == sorted(
        ["drei", "reply", *(f"day {day}" for day in range(60))]
    )
    assert reader.read().documents == []


def test_a_message_said_and_one_deleted_while_paging_move_nothing(
    slack: SlackServer, reader: Reader, clock: ManualClock
) -> None:
    slack.page = 2
    slack.say(GENERAL, *(message(number, f"message {number}") for number in range(1, 8)))

    def meanwhile(method: str) -> None:
        if method == "conversations.history" and slack.called(method) == 1:
            slack.say(GENERAL, message(50, "meanwhile"))
            slack.messages[GENERAL].remove(message(7, "message 7"))

    slack.after = meanwhile
    assert said(reader.read()) == [f"message {number}" for number in range(1, 8)]
    clock.advance(3600)
    second = reader.read()
    assert said(second) == ["meanwhile"]
    assert withdrawn(second) == [f"{GENERAL}:{ts(7)}"]


def test_a_kill_between_two_requests_loses_and_doubles_nothing(
    slack: SlackServer, reader: Reader
) -> None:
    slack.page = 2
    slack.say(GENERAL, *(ago(day) for day in range(45)))
    got: list[str] = []
    for calls in range(8, 68, 4):
        asked = len(slack.calls)
        for item in committed(reader, lambda: len(slack.calls) - asked >= calls):  # noqa: B023
            got += [each.text for each in item.utterances]
    assert sorted(got) == sorted(f"day {day}" for day in range(45))


def committed(reader: Reader, killed: Callable[[], bool]) -> Iterator[SourceDocument]:
    """Read until killed; yield what was committed until then."""
    pending: list[SourceDocument] = []
    for item in SlackLiveConnector(reader.clock).read([], reader.ledger, reader.options()):
        if killed():
            return
        if isinstance(item, Checkpoint):
            reader.ledger.commit(pending, item)
            yield from pending
            pending = []
        elif isinstance(item, SourceDocument):
            pending.append(item)


def test_a_renamed_channel_renames_its_notes(slack: SlackServer, reader: Reader) -> None:
    slack.say(GENERAL, message(1, "today"), ago(60))
    reader.read()
    slack.channels[0] = {**slack.channels[0], "name": "umbenannt", "previous_names": ["general"]}
    titles = {item.title for item in reader.read().documents}
    assert titles == {"#umbenannt 2026-11-02", "#umbenannt 2026-09-03"}
    assert reader.read().documents == []


def test_slack_is_waited_for_as_long_as_it_asks(
    slack: SlackServer, reader: Reader, pauses: list[float]
) -> None:
    slack.say(GENERAL, message(1, "hello"))
    slack.faults.add("conversations.history", Fault(429, {"Retry-After": "17"}))
    assert said(reader.read()) == ["hello"]
    assert pauses == [17.0]


@pytest.mark.parametrize(
    "fault",
    [
        Fault(500, body=b"<html>oops</html>"),
        Fault(503, {"Content-Type": "text/html"}, b"busy"),
        Fault(half=True),
        Fault(body=b'{"ok": true, "messages": [{"type": "mes'),
        Fault(body=b'{"ok": false, "error": "internal_error"}'),
    ],
    ids=["500", "503", "cut connection", "cut json", "internal error"],
)
def test_a_reply_that_fails_for_a_moment_is_asked_for_again(
    slack: SlackServer, reader: Reader, pauses: list[float], fault: Fault
) -> None:
    slack.say(GENERAL, message(1, "hello"))
    slack.faults.add("conversations.history", fault, fault)
    assert said(reader.read()) == ["hello"]
    assert len(pauses) == 2
    assert slack.faults.left == 0


def test_a_long_wait_and_a_service_that_is_down_end_the_run(
    slack: SlackServer, reader: Reader, pauses: list[float]
) -> None:
    slack.faults.add("users.list", Fault(429, {"Retry-After": "7200"}))
    with pytest.raises(DependencyDownError, match=r"run again after \d\d:\d\d UTC"):
        reader.read()
    slack.faults.add("users.list", *[Fault(502)] * 6)
    with pytest.raises(DependencyDownError, match="HTTP 502"):
        reader.read()
    assert len(pauses) == 5
    reader.set(base_url="http://127.0.0.1:9/api")
    with pytest.raises(DependencyDownError, match="Connection refused"):
        reader.read()


def test_an_expired_token_is_said_with_what_to_do(slack: SlackServer, reader: Reader) -> None:
    reader.set(token=SecretStr("xoxp-of-yesterday"))
    with pytest.raises(AccessDeniedError, match=r"token_expired.*channels:history") as raised:
        reader.read()
    assert "xoxp" not in str(raised.value)
    assert slack.called("auth.test") == 1


def test_no_token_is_said_with_where_to_put_it(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader.set(token=None)
    with pytest.raises(AccessDeniedError, match=r"CE_SLACK__TOKEN.*keyring set context-engine"):
        reader.read()


def test_kinds_of_conversations_that_the_token_may_not_read_are_counted(
    slack: SlackServer, reader: Reader
) -> None:
    slack.scopes = frozenset({"public_channel"})
    slack.say(GENERAL, message(1, "hello"))
    first = reader.read()
    assert said(first) == ["hello"]
    assert [item.kind.split(" ")[0] for item in first.unknown] == ["private_channel", "mpim", "im"]


def test_named_channels_alone_are_read_and_a_wrong_name_is_said(
    slack: SlackServer, reader: Reader
) -> None:
    slack.channels.append({"id": "C00000TWO", "name": "日報", "is_channel": True})
    slack.say(GENERAL, message(1, "general"))
    slack.say("C00000TWO", message(1, "二つ目"))
    reader.set(channels=("#日報", "nowhere"))
    first = reader.read()
    assert said(first) == ["二つ目"]
    assert [item.reason for item in first.bad] == ["the token sees no channel 'nowhere'"]


def test_a_channel_that_is_refused_is_named_and_the_others_are_read(
    slack: SlackServer, reader: Reader
) -> None:
    slack.channels.append(
        {"id": "C00000TWO", "name": "zwei", "is_channel": True, "is_member": True}
    )
    slack.say("C00000TWO", message(1, "zwei"))
    slack.faults.add(
        "conversations.history", Fault(body=b'{"ok": false, "error": "not_in_channel"}')
    )
    first = reader.read()
    assert said(first) == ["zwei"]
    assert [(item.place, item.reason) for item in first.bad] == [
        ("slack #general", "Slack says: not_in_channel")
    ]


def test_direct_messages_are_named_by_the_other_person(slack: SlackServer, reader: Reader) -> None:
    slack.channels.append({"id": "D00000KIM", "is_im": True, "user": "U00000KIM"})
    slack.say("D00000KIM", message(1, "psst"))
    assert [item.title for item in reader.read().documents] == ["DM with Kim 金 2026-11-02"]


def test_history_days_bound_the_first_run(slack: SlackServer, reader: Reader) -> None:
    slack.say(GENERAL, *(ago(day) for day in (0, 3, 9, 80)))
    reader.set(history_days=5)
    assert said(reader.read()) == ["day 3", "day 0"]
    reader.set(history_days=None)
    assert sorted(said(reader.read())) == ["day 80", "day 9"]


def test_a_cursor_that_leads_back_ends(slack: SlackServer, reader: Reader) -> None:
    body = b'{"ok": true, "members": [], "response_metadata": {"next_cursor": "%s"}}'
    slack.faults.add("users.list", *[Fault(body=body % name) for name in (b"a", b"b", b"a", b"c")])
    reader.read()
    assert slack.called("users.list") == 3


def test_since_asks_for_no_more_than_is_wanted(slack: SlackServer, reader: Reader) -> None:
    slack.say(GENERAL, *(ago(day) for day in (0, 3, 40)))
    reader.since = datetime(2026, 11, 1, tzinfo=UTC)
    assert said(reader.read()) == ["day 0"]
    asked = [params["oldest"] for name, params in slack.calls if name == "conversations.history"]
    assert asked == [f"{int(reader.since.timestamp())}.000000"]


def test_a_member_of_nothing_is_told_what_to_do(slack: SlackServer, reader: Reader) -> None:
    slack.channels.clear()
    assert "/invite" in reader.read().bad[0].reason


def test_no_secret_is_logged_or_kept(
    slack: SlackServer, reader: Reader, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    slack.say(GENERAL, message(1, "hello"))
    slack.faults.add("users.list", Fault(429, {"Retry-After": "1"}), Fault(half=True), Fault(500))
    reader.read()
    kept = caplog.text + "".join(reader.ledger.states.values()) + repr(reader.options())
    assert TOKEN not in kept


@given(data=st.data())
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_whatever_slack_answers_reading_ends(data: st.DataObject) -> None:
    with slack_server() as slack:
        slack.page = 2
        slack.say(GENERAL, *(message(number, f"message {number}") for number in range(1, 4)))
        slack.say(GENERAL, message(5, "reply", thread_ts=ts(3)))
        reader = Reader(slack, ManualClock(datetime(2026, 11, 2, 12, tzinfo=UTC)), [])
        chosen = data.draw(st.sampled_from(TWISTED))
        slack.twist = lambda method, answer: mutate(answer, data) if method == chosen else answer
        for _ in range(2):
            with suppress(AccessDeniedError, DependencyDownError):
                reader.read()
        assert len(slack.calls) < 200


TWISTED = [
    *("auth.test", "users.list", "conversations.list"),
    *("conversations.history", "conversations.replies"),
]


class Elsewhere(BaseHTTPRequestHandler):
    """Notes what it is sent; redirects to another server when it has one."""

    def do_GET(self) -> None:
        server = cast("NotingServer", self.server)
        server.sent.append(dict(self.headers.items()))
        self.send_response(302 if server.target else 200)
        if server.target:
            self.send_header("Location", server.target)
        self.end_headers()

    def do_POST(self) -> None:
        self.do_GET()

    def log_message(self, *_: object) -> None:
        pass


class NotingServer(ThreadingHTTPServer):
    def __init__(self, target: str = "") -> None:
        super().__init__(("127.0.0.1", 0), Elsewhere)
        self.target = target
        self.sent: list[dict[str, str]] = []
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/"


def test_the_token_goes_to_no_host_that_a_reply_redirects_to() -> None:
    other = NotingServer()
    first = NotingServer(other.url)
    try:
        with pytest.raises(SlackApiError):
            web_client(first.url, TOKEN).api_call("auth.test", params={"limit": "1"})
        assert first.sent[0]["Authorization"] == f"Bearer {TOKEN}"
        assert TOKEN not in str(other.sent)
    finally:
        for server in (first, other):
            server.shutdown()
            server.server_close()

"""Slack's events over a real WebSocket: committed first, acknowledged then, gaps closed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from queue import Queue
from threading import Event, Thread
from typing import Any

import pytest
from pydantic import SecretStr

import connectors.slack_follow
from connectors.base import ReadOptions
from connectors.slack_api import SlackApi
from connectors.slack_follow import Follower
from connectors.slack_history import CatchUp
from connectors.slack_live import SlackLiveConnector
from connectors.slack_threads import Messages
from connectors.slack_workspace import load_workspace
from context_engine.clock import ManualClock
from context_engine.errors import AccessDeniedError
from context_engine.events import BadRecord, Checkpoint, SourceDocument, Utterance
from context_engine.source_settings import LiveSettings, SlackSettings
from support.http_faults import Fault
from support.slack import FIRST, Record, message, ts
from support.slack_server import APP_TOKEN, TOKEN, SlackServer, Socket, slack_server
from support.transcripts import MemoryLedger

GENERAL = "C00000GEN"
CLOCK = ManualClock(datetime(2026, 11, 2, 12, tzinfo=UTC))
SECONDS = 20.0
"""Longest wait for something that comes at once."""


class Following:
    """A follower in a thread. `allow` holds back commits until it is set."""

    def __init__(self, slack: SlackServer) -> None:
        self.slack = slack
        self.ledger = MemoryLedger()
        self.said: Queue[Utterance] = Queue()
        self.bad: Queue[BadRecord] = Queue()
        self.allow = Event()
        self.allow.set()
        self.held_back = Event()
        self._stop = Event()
        live = LiveSettings(
            slack=SlackSettings(
                token=SecretStr(TOKEN), app_token=SecretStr(APP_TOKEN), base_url=slack.url
            )
        )
        self.options = ReadOptions(owner_name="Aki", live=live, follow=True, pause=lambda _: None)
        self._thread = Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        pending: list[SourceDocument] = []
        stream = SlackLiveConnector(CLOCK).read([], self.ledger, self.options)
        for item in stream:
            if isinstance(item, SourceDocument):
                pending.append(item)
            elif isinstance(item, BadRecord):
                self.bad.put(item)
            elif isinstance(item, Checkpoint):
                if not self.allow.is_set():
                    self.held_back.set()
                self.allow.wait(SECONDS)
                if self._stop.is_set():
                    break
                self.ledger.commit(pending, item)
                for utterance in (each for document in pending for each in document.utterances):
                    self.said.put(utterance)
                pending = []
        stream.close()  # type: ignore[attr-defined]  # it is a generator

    @contextmanager
    def running(self) -> Iterator[Socket]:
        """Run; gives the connection, caught up with what was said before."""
        self._thread.start()
        socket = self.slack.sockets.get(timeout=SECONDS)
        try:
            yield socket
        finally:
            self._stop.set()
            self.allow.set()
            # wakes the one that waits for the next event
            self.slack.say(GENERAL, message(999, "the end"))
            last = socket
            while not self.slack.sockets.empty():
                last = self.slack.sockets.get()
            last.event("end", {"type": "message", "channel": GENERAL, **message(999, "the end")})
            self._thread.join(SECONDS)
            assert not self._thread.is_alive()

    def next(self) -> str:
        return self.said.get(timeout=SECONDS).text


@pytest.fixture
def slack() -> Iterator[SlackServer]:
    with slack_server() as server:
        yield server


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connectors.slack_follow, "PING_SECONDS", 0.2)


def event(number: int, text: str, **fields: Any) -> Record:
    return {"channel": GENERAL, "channel_type": "channel", **message(number, text, **fields)}


def test_an_event_is_acknowledged_after_it_is_committed(slack: SlackServer) -> None:
    slack.say(GENERAL, message(1, "before"))
    following = Following(slack)
    with following.running() as socket:
        assert following.next() == "before"
        following.allow.clear()
        socket.event("e1", event(2, "速報です"))
        assert following.held_back.wait(SECONDS)
        assert socket.acknowledged.empty()
        following.allow.set()
        assert following.next() == "速報です"
        assert socket.acknowledged.get(timeout=SECONDS) == "e1"


def test_edits_deletions_and_first_replies_are_followed(slack: SlackServer) -> None:
    slack.say(GENERAL, message(1, "question"), message(2, "remark"))
    following = Following(slack)
    with following.running() as socket:
        assert [following.next(), following.next()] == ["question", "remark"]
        reply = message(3, "answer", thread_ts=ts(1))
        slack.say(GENERAL, reply)
        socket.event("e1", {"channel": GENERAL, **reply})
        got = [following.next() for _ in range(3)]
        assert sorted(got) == ["(continued in a thread of its own)", "answer", "question"]
        changed = message(3, "better answer", thread_ts=ts(1), edited={"user": "U", "ts": ts(4)})
        socket.event("e2", _hidden("message_changed", message=changed))
        assert following.next() == "better answer"
        gone = _hidden("message_deleted", deleted_ts=ts(2), previous_message=message(2, "remark"))
        socket.event("e3", gone)
        last = following.said.get(timeout=SECONDS)
        assert (last.native_id, last.withdrawn) == (f"{GENERAL}:{ts(2)}", True)


def _hidden(subtype: str, **fields: object) -> Record:
    return {"type": "message", "subtype": subtype, "channel": GENERAL, "hidden": True, **fields}


def test_what_was_said_while_the_connection_was_lost_is_caught_up_with(slack: SlackServer) -> None:
    slack.say(GENERAL, message(1, "before"))
    following = Following(slack)
    with following.running() as socket:
        assert following.next() == "before"
        slack.say(GENERAL, message(2, "meanwhile"))
        socket.close()
        again = slack.sockets.get(timeout=SECONDS)
        assert following.next() == "meanwhile"
        slack.sockets.put(again)


def test_a_new_channel_and_a_new_name_are_learned(slack: SlackServer) -> None:
    following = Following(slack)
    with following.running() as socket:
        new = {"id": "C00000NEU", "name": "neu", "is_channel": True, "is_member": True}
        slack.channels.append(new)
        socket.event("e1", {**event(1, "first"), "channel": "C00000NEU"})
        assert following.next() == "first"
        socket.event("e2", {**event(2, "none of ours"), "channel": "C00000XXX"})
        slack.channels[-1] = {**new, "name": "anders"}
        slack.say("C00000NEU", message(1, "first"), message(3, "third"))
        rename = {"id": "C00000NEU", "name": "anders"}
        socket.event("e3", {"type": "channel_rename", "channel": rename})
        assert following.next() == "third"
        acknowledged = [socket.acknowledged.get(timeout=SECONDS) for _ in range(3)]
        assert acknowledged == ["e1", "e2", "e3"]


def test_what_could_not_be_read_for_an_event_is_left_for_slack_to_send_again(
    slack: SlackServer,
) -> None:
    slack.say(GENERAL, message(1, "question"))
    following = Following(slack)
    with following.running() as socket:
        assert following.next() == "question"
        reply = message(2, "answer", thread_ts=ts(1))
        slack.say(GENERAL, reply)
        slack.faults.add("conversations.replies", *[Fault(503)] * 6)
        socket.event("e1", {"channel": GENERAL, **reply})
        assert "503" in following.bad.get(timeout=SECONDS).reason
        socket.event("e2", {"channel": GENERAL, **reply})
        assert socket.acknowledged.get(timeout=SECONDS) == "e2"
        assert "answer" in [following.next() for _ in range(3)]


def test_a_refused_app_token_is_said_with_what_to_do(slack: SlackServer) -> None:
    following = Following(slack)
    settings = following.options.live.slack.model_copy(update={"app_token": SecretStr("xapp-old")})
    options = ReadOptions(live=LiveSettings(slack=settings), follow=True)
    with pytest.raises(AccessDeniedError, match="invalid_auth") as raised:
        list(SlackLiveConnector().read([], MemoryLedger(), options))
    assert "xapp-old" not in str(raised.value)


def test_an_event_while_catching_up_is_not_undone_by_what_was_read_before_it(
    slack: SlackServer,
) -> None:
    yesterday = {**message(0, "yesterday"), "ts": f"{FIRST - 86_400}.000001"}
    slack.say(GENERAL, yesterday, message(1, "draft"), message(2, "stays"))
    following = Following(slack)
    options, ledger = following.options, following.ledger
    messages = Messages(ledger, options, CLOCK)
    workspace = load_workspace(SlackApi(options), options)
    follower = Follower(
        CatchUp(workspace, messages, ledger, options, CLOCK), messages, options, CLOCK
    )
    edit = message(1, "final", edited={"user": "U00000KIM", "ts": ts(50)})
    told = [
        _hidden("message_changed", message=edit),
        _hidden("message_deleted", deleted_ts=ts(2), previous_message=message(2, "stays")),
        event(3, "quite new"),
    ]
    last: dict[str, Utterance] = {}
    pending: list[SourceDocument] = []
    for item in follower._caught_up():
        if isinstance(item, SourceDocument):
            pending.append(item)
        elif isinstance(item, Checkpoint):
            ledger.commit(pending, item)
            last |= {each.native_id: each for document in pending for each in document.utterances}
            pending = []
            for number, each in enumerate(told):
                envelope = {"envelope_id": str(number), "payload": {"event": each}}
                follower._inbox.put(json.dumps(envelope))
            told = []
    assert {name.partition(":")[2]: each.text for name, each in last.items()} == {
        yesterday["ts"]: "yesterday",
        ts(1): "final",
        ts(3): "quite new",
    }

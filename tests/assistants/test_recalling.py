"""Recall over a session: what passes at once, what when a topic is held, and what never does."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.caller import Caller, Transport
from api.operations.base import Services
from api.operations.distinctive import MAX_TOKENS, distinctive, holds
from api.operations.get_context import GetContextRequest
from api.operations.read_memory import ReadMemoryRequest
from api.operations.recall import INSTRUCTION, RecallAnswer, RecallRequest
from api.operations.registry import OPERATIONS
from api.usage.log import FILE, UsageLog
from api.usage.report import usage_report
from context_engine.clock import ManualClock
from context_engine.home import Home
from context_engine.scopes import Scope
from index.search import Searcher
from support.notes import index_all, put_note

NOW = datetime(2026, 12, 1, 9, 0, tzinfo=UTC)
NOTES = {
    "retry": (
        "決済の再試行は三回まで",
        "決済の再試行は三回まで、間隔は倍。PAY-1423 で決定。",
    ),
    "cache": ("Cache invalidation of product pages", "Product pages are purged by retry_purge."),
    "leave": ("休暇の申請", "休暇の申請は二週間前までに佐藤さんへ出す。"),
    "import": ("CSVの取り込み", "取り込みの設計は 設計書_取込.md にある。BOMを外す。"),
    "tea": ("会議の菓子", "会議の菓子は当番が買う。"),
    "deploy": (
        "Deployments happen on Tuesdays",
        "Deployments: Tuesdays, never Fridays.",
    ),
    "naming": ("命名の規則", "関数の名前は動詞で始める。"),
    "oncall": ("当番の引き継ぎ", "当番の引き継ぎは月曜の朝に行う。"),
}


class _Session:
    def __init__(self, home: Home) -> None:
        self.home = home
        self.clock = ManualClock(NOW)
        self.services = Services(
            home=home,
            index=Searcher(home, None),
            clock=self.clock,
            usage=UsageLog(home.state / FILE, self.clock),
        )

    def say(self, prompt: str, session: str = "one", scope: Scope = Scope.WORK) -> RecallAnswer:
        """Return the answer to one prompt, a minute after the last."""
        self.clock.advance(60)
        request = RecallRequest(prompt=prompt, session=session)
        answer = OPERATIONS["recall"].perform(self.services, _caller(scope, "hook"), request)
        assert isinstance(answer, RecallAnswer)
        return answer

    def names(self, prompt: str, session: str = "one") -> list[str]:
        return [Path(note.path).stem for note in self.say(prompt, session).notes]

    def read(self, path: str) -> None:
        request = ReadMemoryRequest(path=path)
        OPERATIONS["read_memory"].perform(self.services, _caller(Scope.WORK, "claude"), request)


def _caller(scope: Scope, client: str) -> Caller:
    return Caller(client, scope, Transport.HOOK)


@pytest.fixture
def session(home: Home) -> _Session:
    for name, (title, text) in NOTES.items():
        put_note(
            home,
            f"knowledge/learning/{name}.md",
            f"# {title}\n\n{text}",
            type="insight",
            kind="learning",
            confidence="raw",
            title=f'"{title}"',
            created="2026-11-02T09:00:00Z",
        )
    put_note(home, "runbook.md", "# Runbook\n\nRestarting for OPS-77: stop the workers first.")
    index_all(home, None)
    return _Session(home)


@pytest.mark.parametrize(
    ("prompt", "note"),
    [
        ("PAY-1423 の続きをやろう", "retry"),
        ("what was pay-1423 about again", "retry"),
        ("ＰＡＹ－１４２３の件ですが", "retry"),
        ("retry_purge が動かない", "cache"),
        ("設計書_取込.mdを直して", "import"),
        ("OPS-77 again", "runbook"),
    ],
)
def test_a_distinctive_token_recalls_at_once(session: _Session, prompt: str, note: str) -> None:
    answer = session.say(prompt)

    assert [Path(each.path).stem for each in answer.notes] == [note]
    assert answer.instruction == INSTRUCTION
    assert INSTRUCTION.startswith("Before answering, recall:")


def test_common_words_recall_when_the_topic_is_held(session: _Session) -> None:
    turns = [
        session.names("決済の再試行を見直したい"),
        session.names("再試行の間隔は決済でどうする?"),
        session.names("決済の再試行は何回までだった?"),
        session.names("では決済の再試行の間隔を書いて"),
    ]
    assert turns[0] == []
    assert ["retry"] in turns[1:]


def test_words_touched_in_passing_recall_nothing(session: _Session) -> None:
    prompts = [
        "このテストを直して",
        "ありがとう、続けて",
        "yes, go on",
        "What does this function return?",
        "関数を短くして",
        "commit it with a good message",
        "休暇に読む本を教えて",
        "run the tests again please",
        "エラーの原因は?",
        "名前を変えて",
        "deploy は後で",
        "次に進もう",
    ]
    assert [session.names(prompt) for prompt in prompts] == [[] for _ in prompts]


def test_each_note_is_recalled_once_a_session(session: _Session) -> None:
    assert session.names("PAY-1423") == ["retry"]
    assert session.names("PAY-1423 をもう一度") == []
    assert session.names("PAY-1423", session="two") == ["retry"]


def test_a_token_that_most_notes_hold_recalls_nothing(session: _Session) -> None:
    for number in range(8):
        put_note(
            session.home,
            f"knowledge/learning/n{number}.md",
            f"# Note {number}\n\nSeen in billing_core number {number}.",
            kind="learning",
            type="insight",
        )
    index_all(session.home, None)

    assert session.names("billing_core の話") == []


def test_what_was_noted_since_the_session_began_is_not_recalled_to_it(session: _Session) -> None:
    session.say("はじめよう")
    put_note(
        session.home,
        "knowledge/decision/new.md",
        "# 新しい決定\n\nNEW-9001 は見送る。",
        type="insight",
        kind="decision",
        created="2026-12-01T10:00:00Z",
    )
    index_all(session.home, None)

    assert session.names("NEW-9001 はどうした?") == []
    session.clock.advance(86_400)
    assert session.names("NEW-9001 はどうした?", session="tomorrow") == ["new"]


def test_another_scope_is_told_nothing_and_shares_no_session(session: _Session) -> None:
    assert session.say("PAY-1423", scope=Scope.PUBLIC).notes == ()
    assert session.names("PAY-1423") == ["retry"]


def test_obeyed_and_idle_recalls_are_counted(session: _Session) -> None:
    session.say("PAY-1423")
    session.say("retry_purge")
    session.read("work/knowledge/learning/retry.md")
    early = usage_report(session.home, session.clock)
    session.clock.advance(3_700)
    late = usage_report(session.home, session.clock)
    session.read("work/knowledge/learning/cache.md")

    assert (early.recalled, early.obeyed_rate, early.false_fire_rate) == (1, 1.0, 0.0)
    assert (late.recalled, late.obeyed_rate, late.false_fire_rate) == (2, 0.5, 0.5)
    assert usage_report(session.home, session.clock).obeyed_rate == 0.5, "read too late"


def test_a_passage_counts_as_read_too(session: _Session) -> None:
    chunk = session.say("PAY-1423").notes[0].chunk_id
    request = GetContextRequest(chunk_id=chunk)
    OPERATIONS["get_context"].perform(session.services, _caller(Scope.WORK, "claude"), request)

    assert usage_report(session.home, session.clock).obeyed_rate == 1.0


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("PAY-1423とORA-00942", ("pay-1423", "ora-00942")),
        ("see #1423 and E2043", ("#1423", "e2043")),
        ("config.toml、設計書.md", ("config.toml", "設計書.md")),
        ("getUserId in MAX_RETRIES", ("getuserid", "max_retries")),
        ("コミット4af9d1aを見て", ("4af9d1a",)),
        ("UTF-8 と SHA-256 と GitHub", ()),
        ("real-time, e.g. 3.5 times on 2026-11-02", ()),
        ("ただの文です。 Nothing here.", ()),
    ],
)
def test_what_names_one_thing_is_distinctive(text: str, tokens: tuple[str, ...]) -> None:
    assert distinctive(text) == tokens


@given(st.text())
def test_distinctive_tokens_stand_in_their_text(text: str) -> None:
    from index.tokenize import normalise

    found = distinctive(text)
    assert len(found) <= MAX_TOKENS
    assert all(token in normalise(text).lower() for token in found)


def test_a_longer_number_is_another_thing() -> None:
    assert holds("pay-1423の件", "pay-1423")
    assert not holds("pay-14230", "pay-1423")
    assert not holds("xpay-1423", "pay-1423")

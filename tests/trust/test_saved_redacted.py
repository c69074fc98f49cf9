"""What the owner wants out of their memory is taken out of what clients save, ids included."""

from __future__ import annotations

from api.caller import Caller, Transport
from api.operations.base import Services
from api.operations.save_insight import SAVE_INSIGHT, SaveInsightAnswer, SaveInsightRequest
from api.services import Engine
from context_engine.home import Home
from context_engine.scopes import Scope
from context_engine.settings import RedactionPatternSettings, RedactionSettings, Settings

CALLER = Caller("codex", Scope.WORK, Transport.MCP)


def services(home: Home) -> Services:
    pattern = RedactionPatternSettings(name="customer", regex="顧客[0-9]{4}")
    redaction = RedactionSettings(emails=True, pattern=(pattern,))
    return Engine(Settings(home=home.root, redaction=redaction)).services()


def save(home: Home, **words: object) -> SaveInsightAnswer:
    request = SaveInsightRequest.model_validate(words)
    answer = SAVE_INSIGHT.perform(services(home), CALLER, request)
    assert isinstance(answer, SaveInsightAnswer)
    return answer


def test_the_owners_patterns_count_for_what_clients_save(home: Home) -> None:
    answer = save(
        home,
        kind="person",
        title="顧客1234の窓口",
        content="連絡は aki@example.com へ。顧客1234の件。",
        evidence="顧客1234です",
        people=["田中 顧客1234"],
        tags=["顧客1234"],
        project="顧客1234",
    )
    assert answer.redacted["customer"] == 6
    assert answer.redacted["email"] == 1
    for file in home.root.rglob("*"):
        if file.is_file():
            assert "顧客1234".encode() not in file.read_bytes()
            assert b"aki@example.com" not in file.read_bytes()


def test_two_secrets_that_differ_only_in_what_is_taken_out_are_one_insight(home: Home) -> None:
    first = save(home, kind="learning", title="窓口", content="顧客1234は朝に電話する。")
    second = save(home, kind="learning", title="窓口", content="顧客5678は朝に電話する。")
    assert second.insight_id == first.insight_id

"""The rules: which sentences of the owner they take, verbatim, and which they leave."""

from __future__ import annotations

import pytest

from context_engine.events import Role
from context_engine.insights import Confidence, Insight, Kind
from support.conversations import context, owner, talk
from workers.extraction.extract import extract_with_cues


def found(text: str, role: Role = Role.OWNER) -> tuple[Insight, ...]:
    return extract_with_cues(talk((role, text)), context(project="shop")).insights


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        (Kind.DECISION, "We decided to round once per invoice."),
        (Kind.DECISION, "OK, let's go with dramatiq."),
        (Kind.DECISION, "バックアップは夜間に取ることにした。"),
        (Kind.DECISION, "じゃあ次の版からSQLiteにする。"),
        (Kind.LEARNING, "Turns out the proxy strips the header."),
        (Kind.LEARNING, "The root cause was a stale lock file."),
        (Kind.LEARNING, "原因はロックファイルの消し忘れだった。"),
        (Kind.LEARNING, "タイムゾーンがずれていたことが分かった。"),
        (Kind.VALUE, "I prefer small commits over big ones."),
        (Kind.VALUE, "Never push on Fridays."),
        (Kind.VALUE, "レビューなしのマージは禁止。"),
        (Kind.VALUE, "変数名は英語で書くべきだ。"),
        (Kind.PROJECT, "Next step is the export, import is done."),
        (Kind.PROJECT, "We're blocked by the legal review."),
        (Kind.PROJECT, "残タスクは書き出しだけです。"),
        (Kind.PROJECT, "進捗は取り込みまで完了、書き出しは未着手。"),
        (Kind.PERSON, "Ingrid prefers short mails."),
        (Kind.PERSON, "Tom is our database person."),
        (Kind.PERSON, "久保さんは結論から書かないと読んでくれない。"),
        (Kind.PERSON, "決済まわりの担当は遠山さんです。"),
    ],
)
def test_a_cue_announces_its_kind(kind: Kind, sentence: str) -> None:
    (insight,) = found(sentence)
    assert insight.kind is kind
    assert insight.evidence == insight.content == sentence
    assert insight.confidence is Confidence.RAW
    assert insight.verified is None
    assert (insight.extractor, insight.tags) == ("cues", ("cues",))


@pytest.mark.parametrize(
    "text",
    [
        "Should we go with dramatiq?",
        "If we decided to use Redis, would it help?",
        "We haven't decided to use Redis.",
        "Maybe we go with dramatiq.",
        "Redisに決めたほうがいいかな",
        "もしRedisにするなら速い。",
        "まだRedisにするとは決めていない。",
        "> We decided to use Redis.",
        '"We decided to use Redis" is what the page has.',
        "```\nWe decided to use Redis.\n```",
        "~~~\nRedisにすることにした。",
        "    return 'we decided to use Redis'  # always",
        "2026-10-02 12:00:01 root cause: the lock file",
        "[ERROR] the root cause was the lock file",
        "Traceback: root cause\nValueError: the root cause was here",
        "| decision | we decided to use Redis |",
        "- Kim: we decided to use Redis\n- Sam: never push on Fridays",
        "山内: Redisに決定\n柴田: 監視は必ず入れる",
        "Summarise this for me:\n\nWe decided to use Redis.",
        "次のメールを要約して：\nRedisにすることにしました。",
        "Can you check it?\n\nDear Sam,\nwe decided to use Redis.",
        "見てください\n\n大西様\nお世話になっております。Redisに決定しました。",
        "<system-reminder>\nWe decided to use Redis.\n</system-reminder>",
        "ok",
        "ありがとう！",
        "run the tests and push",
        "テスト流してコミットして",
    ],
)
def test_what_is_no_statement_of_the_owner_is_left(text: str) -> None:
    assert found(text) == ()


@pytest.mark.parametrize("role", [Role.ASSISTANT, Role.OTHER])
def test_only_the_owner_is_listened_to(role: Role) -> None:
    assert found("We decided to use Redis.", role) == ()


@pytest.mark.parametrize(
    "text",
    [
        "We decided to drop Redis. Because nobody reads the cache.",
        "Redisはやめることにした。キャッシュを誰も読んでいないので。",
    ],
)
def test_a_reason_stays_with_what_it_explains(text: str) -> None:
    (insight,) = found(text)
    assert insight.evidence == text
    assert insight.title == text.split(".", maxsplit=1)[0].split("。", maxsplit=1)[0]


def test_hearsay_is_tagged() -> None:
    (insight,) = found("Sam told me they decided to drop Redis.")
    assert {"hearsay", "他者情報"} <= set(insight.tags)


def test_the_person_and_the_project_are_named() -> None:
    (person,) = found("久保さんは絵文字を嫌がる。")
    assert (person.subject, person.people) == ("久保", ("久保",))
    (project,) = found("残タスクは書き出しだけです。")
    assert (project.subject, project.project) == ("shop", "shop")


def test_a_long_title_is_cut_where_one_would_pause() -> None:
    long = "We decided to round once per invoice, " + "which is what the office accepts, " * 4
    (insight,) = found(long)
    assert len(insight.title) <= 81
    assert insight.title.endswith("…")
    assert long.startswith(insight.title[:-1])


def test_the_same_sentence_twice_is_one_insight() -> None:
    said = "We decided to use Redis."
    result = extract_with_cues(owner(said, said), context())
    assert result.outcomes == {"accepted": 1, "duplicate": 1}


@pytest.mark.parametrize(
    "text",
    [
        "a" * 400_000,
        "「" * 200_000,
        '"' * 200_000,
        "the the " * 50_000,
        "。" * 300_000,
        "no no no, " * 40_000,
        "に" * 300_000,
        "- a: b\n" * 40_000,
        "a. " * 100_000,
        "゙" * 100_000,
        "If we " * 60_000,
        ". . " * 80_000,
        "[" * 200_000,
        "``` " * 60_000,
        "<a " * 80_000,
    ],
)
def test_hostile_text_takes_linear_time(text: str) -> None:
    import time

    started = time.process_time()
    found(text)
    assert time.process_time() - started < 5

"""GitHub's REST API through httpx, against a server that speaks as GitHub does."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

from connectors.base import ReadOptions
from connectors.github import GitHubConnector
from connectors.github_live import GitHubLiveConnector
from context_engine.clock import ManualClock
from context_engine.errors import AccessDeniedError, ConfigError, DependencyDownError
from context_engine.events import Checkpoint, Role, SourceDocument
from context_engine.source_settings import GitHubSettings, LiveSettings
from support.github_server import REPO, TOKEN, GitHubServer, github_server, soon
from support.http_faults import Fault
from support.sources import mutate, read_source, write_json
from support.transcripts import MemoryLedger, Reading


@pytest.fixture
def github() -> Iterator[GitHubServer]:
    with github_server() as server:
        yield server


class Reader:
    """Reads a repository again and again, as runs of the engine do."""

    def __init__(self, github: GitHubServer) -> None:
        self.settings = GitHubSettings(token=SecretStr(TOKEN), base_url=github.url, repos=(REPO,))
        self.ledger = MemoryLedger()
        self.clock = ManualClock(datetime(2026, 11, 9, 12, tzinfo=UTC))
        self.pauses: list[float] = []
        self.connector = GitHubLiveConnector(self.clock)

    def options(self) -> ReadOptions:
        live = LiveSettings(github=self.settings)
        return ReadOptions(owner_name="aki", live=live, pause=self.pauses.append)

    def read(self) -> Reading:
        return read_source(self.connector, ledger=self.ledger, options=self.options())

    def set(self, **changed: object) -> None:
        self.settings = self.settings.model_copy(update=changed)


@pytest.fixture
def reader(github: GitHubServer) -> Reader:
    return Reader(github)


def at(day: int, second: int = 0) -> str:
    return f"2026-11-{day:02}T09:{second // 60:02}:{second % 60:02}Z"


def fill(github: GitHubServer) -> None:
    github.issue(7, "Move to Valkey", "Because of the license.", at(2), pull=True)
    github.issue(3, "起動しない", "再現手順です。", at(3))
    github.comment(1, 3, "Same here.", at(4), login="aki")
    github.review_comment(1, 7, "ここは固定のタグに。", at(4))
    github.review(1, 7, "Looks good.", at(5))


def said(reading: Reading) -> list[str]:
    return sorted(item.text.splitlines()[-1] for item in reading.said if not item.withdrawn)


def withdrawn(reading: Reading) -> list[str]:
    return [item.native_id for item in reading.said if item.withdrawn]


def test_threads_comments_and_reviews_arrive_once(github: GitHubServer, reader: Reader) -> None:
    fill(github)
    first = reader.read()
    assert said(first) == sorted(
        [
            "Because of the license.",
            "Looks good.",
            "Same here.",
            "ここは固定のタグに。",
            "再現手順です。",
        ]
    )
    assert {(item.native_id, item.title) for item in first.documents if item.title} == {
        (f"{REPO}/7", f"{REPO}#7: Move to Valkey"),
        (f"{REPO}/3", f"{REPO}#3: 起動しない"),
    }
    owned = [item.text for item in first.said if item.role is Role.OWNER]
    assert owned == ["Same here."]
    assert reader.read().documents == []


def test_what_did_not_change_is_answered_without_a_body(
    github: GitHubServer, reader: Reader
) -> None:
    fill(github)
    for number in range(2, 7):
        github.comment(number, 3, f"comment {number}", at(6, number))
    github.page = 2
    reader.read()
    reader.read()
    github.asked.clear()
    assert reader.read().documents == []
    assert len(github.asked) > 3
    assert all(line.endswith(" 304") for line in github.asked), github.asked


def test_what_a_file_brought_does_not_come_again(
    github: GitHubServer, reader: Reader, tmp_path: Path
) -> None:
    fill(github)
    records = [*github.issues, *github.issue_comments, *github.review_comments]
    path = write_json(tmp_path / "all.json", [*records, *github.reviews[7]])
    files = GitHubConnector(reader.clock)
    assert len(read_source(files, path, ledger=reader.ledger, options=reader.options()).said) == 5
    assert reader.read().documents == []
    github.comment(2, 3, "Fixed.", at(6))
    assert said(reader.read()) == ["Fixed."]


def test_an_edit_a_deletion_and_a_dismissed_review_are_found(
    github: GitHubServer, reader: Reader
) -> None:
    fill(github)
    github.comment(2, 3, "Spam.", at(4, 1))
    reader.read()
    github.issue_comments[0] |= {"body": "Same here, with 2.0.", "updated_at": at(6)}
    del github.issue_comments[1]
    github.reviews[7][0]["state"] = "DISMISSED"
    github.touch(7, at(6))
    second = reader.read()
    assert said(second) == ["Looks good.", "Same here, with 2.0."]
    assert "**Review dismissed**" in "".join(second.texts)
    assert withdrawn(second) == ["IC_2"]
    assert reader.read().documents == []


def test_a_comment_that_is_merely_not_listed_is_not_taken_for_deleted(
    github: GitHubServer, reader: Reader
) -> None:
    fill(github)
    reader.read()
    # an edit that put it back before the days that are listed
    github.issue_comments[0]["updated_at"] = "2020-01-01T00:00:00Z"
    assert withdrawn(reader.read()) == []


def test_small_pages_and_many_changes_in_one_second_bring_everything(
    github: GitHubServer, reader: Reader
) -> None:
    github.page = 2
    github.issue(1, "One", "start", at(1))
    for number in range(5):
        github.comment(number, 1, f"same second {number}", at(2))
    for number in range(5, 12):
        github.comment(number, 1, f"comment {number}", at(3, number))
    first = reader.read()
    assert len(first.said) == 13
    assert len({item.native_id for item in first.said}) == 13
    assert reader.read().documents == []


def test_a_comment_edited_while_paging_makes_none_be_jumped_over(
    github: GitHubServer, reader: Reader
) -> None:
    github.page = 2
    github.issue(1, "One", "start", at(1))
    for number in range(6):
        github.comment(number, 1, f"comment {number}", at(2, number))

    def meanwhile(path: str) -> None:
        if path.endswith("issues/comments"):
            github.after = None
            github.issue_comments[0] |= {"body": "edited", "updated_at": at(3)}

    github.after = meanwhile
    got = said(reader.read())
    assert got == sorted(["start", "edited", *(f"comment {number}" for number in range(6))])


def test_a_kill_between_two_requests_loses_and_doubles_nothing(
    github: GitHubServer, reader: Reader
) -> None:
    github.page = 2
    for number in range(1, 8):
        github.issue(number, f"Issue {number}", f"body {number}", at(number), pull=True)
        github.comment(number, number, f"comment {number}", at(number, 1))
        github.review(number, number, f"review {number}", at(number, 2))
    got: list[str] = []
    for calls in range(2, 42, 3):
        got += run_until(reader, github, calls)
    kinds = ("body", "comment", "review")
    last = sorted(text.splitlines()[-1] for text in got)
    assert last == sorted(f"{kind} {number}" for kind in kinds for number in range(1, 8))


def run_until(reader: Reader, github: GitHubServer, calls: int) -> list[str]:
    """Read until so many requests were made, then be killed; returns what was committed."""
    asked, got = len(github.asked), []
    pending: list[SourceDocument] = []
    for item in reader.connector.read([], reader.ledger, reader.options()):
        if len(github.asked) - asked >= calls:
            break
        if isinstance(item, SourceDocument):
            pending.append(item)
        elif isinstance(item, Checkpoint):
            reader.ledger.commit(pending, item)
            got += [each.text for document in pending for each in document.utterances]
            pending = []
    return got


@pytest.mark.parametrize(
    ("fault", "pause"),
    [
        (Fault(429, {"Retry-After": "12"}, b"{}"), 12.0),
        (Fault(403, {"Retry-After": "30"}, b'{"message": "You have exceeded a limit"}'), 30.0),
        (Fault(403, {}, b'{"message": "You have exceeded a secondary rate limit"}'), 60.0),
    ],
    ids=["429", "secondary limit", "secondary limit without a time"],
)
def test_github_is_waited_for_as_long_as_it_asks(
    github: GitHubServer, reader: Reader, fault: Fault, pause: float
) -> None:
    fill(github)
    github.faults.add("/issues", fault)
    assert len(reader.read().said) == 5
    assert reader.pauses == [pause]


def test_a_spent_rate_limit_is_waited_for_or_said_with_its_end(
    github: GitHubServer, reader: Reader
) -> None:
    fill(github)
    spent = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": soon(20)}
    github.faults.add("/issues", Fault(403, spent, b"{}"))
    assert len(reader.read().said) == 5
    assert 18 <= reader.pauses[0] <= 21
    github.faults.add("/issues", Fault(403, spent | {"X-RateLimit-Reset": soon(3000)}, b"{}"))
    with pytest.raises(DependencyDownError, match=r"run again after \d\d:\d\d UTC"):
        reader.read()


@pytest.mark.parametrize(
    "fault",
    [Fault(502, body=b"<html>Unicorn!</html>"), Fault(half=True), Fault(body=b'[{"node_id": "I')],
    ids=["502", "cut connection", "cut json"],
)
def test_a_reply_that_fails_for_a_moment_is_asked_for_again(
    github: GitHubServer, reader: Reader, fault: Fault
) -> None:
    fill(github)
    github.faults.add("/pulls/comments", fault, fault)
    assert len(reader.read().said) == 5
    assert len(reader.pauses) == 2


def test_a_server_that_stays_down_ends_the_run(github: GitHubServer, reader: Reader) -> None:
    github.faults.add("/issues", *[Fault(503)] * 6)
    with pytest.raises(DependencyDownError, match=r"github is not available.*HTTP 503"):
        reader.read()
    reader.set(base_url="http://127.0.0.1:9")
    with pytest.raises(DependencyDownError, match="ConnectError"):
        reader.read()


def test_a_refused_token_is_said_with_what_it_needs(github: GitHubServer, reader: Reader) -> None:
    reader.set(token=SecretStr("ghp_of_yesterday"))
    with pytest.raises(AccessDeniedError, match=r"401.*Bad credentials.*Pull requests: read") as e:
        reader.read()
    assert "ghp_of" not in str(e.value)
    assert len(github.asked) == 1


def test_a_repository_that_is_not_seen_is_named_and_the_others_are_read(
    github: GitHubServer, reader: Reader
) -> None:
    fill(github)
    reader.set(repos=("aki-labs/nowhere", "not a repository", REPO))
    first = reader.read()
    assert len(first.said) == 5
    assert {(item.place, item.reason) for item in first.bad} == {
        ("aki-labs/nowhere issues", "HTTP 404 (Not Found)"),
        ("aki-labs/nowhere issues/comments", "HTTP 404 (Not Found)"),
        ("aki-labs/nowhere pulls/comments", "HTTP 404 (Not Found)"),
        ("github.repos", "'not a repository' is no owner/name"),
    }


def test_without_repositories_the_setting_is_named(reader: Reader) -> None:
    reader.set(repos=())
    with pytest.raises(ConfigError, match=r"\[github\] repos"):
        reader.read()


def test_the_token_goes_to_no_other_host(github: GitHubServer, reader: Reader) -> None:
    link = '<http://127.0.0.2:9/steal>; rel="next"'
    github.faults.add("/issues", Fault(200, {"Link": link}, b"[]"))
    first = reader.read()
    assert "another host" in first.bad[0].reason
    github.faults.add("/issues", Fault(302, {"Location": "http://127.0.0.2:9/steal"}, b""))
    assert "another host" in reader.read().bad[0].reason


@pytest.mark.parametrize("link", ["http://[::1", "https://a\\x00b/"])
def test_an_address_that_is_none_is_named(github: GitHubServer, reader: Reader, link: str) -> None:
    github.faults.add("/issues", Fault(200, {"Link": f'<{link}>; rel="next"'}, b"[]"))
    assert len(reader.read().bad) == 1


def test_a_list_that_leads_back_to_itself_ends(github: GitHubServer, reader: Reader) -> None:
    fill(github)
    link = f'<{github.url}/repos/{REPO}/issues>; rel="next"'
    github.faults.add("/issues", *[Fault(200, {"Link": link}, b"[]")] * 5)
    assert len(reader.read().said) == 2
    assert github.faults.left == 3


def test_no_secret_is_logged_or_kept(
    github: GitHubServer, reader: Reader, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    fill(github)
    github.faults.add("/issues", Fault(429, {"Retry-After": "1"}, b"{}"), Fault(half=True))
    reader.read()
    kept = caplog.text + "".join(reader.ledger.states.values()) + repr(reader.options())
    assert TOKEN not in kept


@given(data=st.data())
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_whatever_github_answers_reading_ends(data: st.DataObject) -> None:
    with github_server() as github:
        github.page = 2
        fill(github)
        for number in range(2, 6):
            github.comment(number, 3, f"comment {number}", at(4, number))
        reader = Reader(github)
        chosen = data.draw(st.sampled_from(["/issues", "/comments", "/reviews", "/2"]))
        github.twist = lambda path, body: mutate(body, data) if path.endswith(chosen) else body
        for _ in range(2):
            with suppress(DependencyDownError):
                reader.read()
            github.issue_comments = [it for it in github.issue_comments if it["node_id"] != "IC_2"]
        assert len(github.asked) < 200

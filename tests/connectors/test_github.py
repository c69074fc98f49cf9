"""Reviews and comments become messages of their pull request, whatever file told of them."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from connectors.base import ReadOptions
from connectors.github import GitHubConnector
from connectors.markup import without_comments
from context_engine.clock import ManualClock
from context_engine.errors import UsageError
from context_engine.events import REMOVED, Ref, Role
from support.archives import write_zip
from support.sources import AKI, json_values, mutate, read_source, write_json
from support.transcripts import NOW, MemoryLedger, Reading

EXAMPLES = settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
WEB = "https://github.com/aki-labs/shop"
API = "https://api.github.com/repos/aki-labs/shop"
KIM = {"login": "kim", "type": "User"}
REPOSITORY = {"full_name": "aki-labs/shop"}

PULL: dict[str, Any] = {
    "node_id": "PR_1",
    "number": 7,
    "title": "Move to Valkey",
    "user": {"login": "aki", "type": "User"},
    "body": "<!-- describe -->\nBecause of the license.",
    "html_url": f"{WEB}/pull/7",
    "url": f"{API}/pulls/7",
    "created_at": "2026-11-02T09:00:00Z",
    "updated_at": "2026-11-02T09:00:00Z",
}
REVIEW_COMMENT: dict[str, Any] = {
    "node_id": "PRRC_1",
    "path": "compose.yaml",
    "line": 12,
    "start_line": 10,
    "commit_id": "0123456789abcdef",
    "diff_hunk": "@@ -1,3 +1,3 @@\n-image: redis\n+image: valkey",
    "user": KIM,
    "body": "ここは固定のタグに。",
    "html_url": f"{WEB}/pull/7#discussion_r1",
    "pull_request_url": f"{API}/pulls/7",
    "created_at": "2026-11-02T09:05:00Z",
    "updated_at": "2026-11-02T09:05:00Z",
}
REVIEW: dict[str, Any] = {
    "node_id": "PRR_1",
    "state": "approved",
    "user": KIM,
    "body": "",
    "html_url": f"{WEB}/pull/7#pullrequestreview-1",
    "submitted_at": "2026-11-02T09:09:00Z",
}
ISSUE_COMMENT: dict[str, Any] = {
    "node_id": "IC_1",
    "user": KIM,
    "body": "Done.",
    "html_url": f"{WEB}/issues/3#issuecomment-1",
    "issue_url": f"{API}/issues/3",
    "created_at": "2026-11-02T10:00:00Z",
    "updated_at": "2026-11-02T10:00:00Z",
}


def hook(action: str, **fields: Any) -> dict[str, Any]:
    return {"action": action, "repository": REPOSITORY, "sender": KIM, **fields}


def read(*paths: Path, ledger: MemoryLedger | None = None, options: ReadOptions = AKI) -> Reading:
    return read_source(GitHubConnector(ManualClock(NOW)), *paths, ledger=ledger, options=options)


def read_records(tmp_path: Path, *records: Any, ledger: MemoryLedger | None = None) -> Reading:
    return read(write_json(tmp_path / "events.json", list(records)), ledger=ledger)


def test_a_review_comment_keeps_its_place_its_diff_and_its_commit(tmp_path: Path) -> None:
    event = hook("created", comment=REVIEW_COMMENT, pull_request=PULL)
    opener, comment = read_records(tmp_path, event).documents
    assert (opener.native_id, opener.title) == (
        "aki-labs/shop/7",
        "aki-labs/shop#7: Move to Valkey",
    )
    assert [(u.author, u.role, u.text) for u in opener.utterances] == [
        ("aki", Role.OWNER, "Because of the license.")
    ]
    assert (comment.native_id, comment.project, comment.url) == (
        "aki-labs/shop/7",
        "shop",
        f"{WEB}/pull/7",
    )
    assert comment.refs == (Ref("aki-labs/shop", "compose.yaml", "0123456789abcdef"),)
    (said,) = comment.utterances
    assert (said.native_id, said.author, said.role) == ("PRRC_1", "kim", Role.OTHER)
    assert f"{said.at}" == "2026-11-02 09:05:00+00:00"
    assert said.text == (
        "`compose.yaml` line 10-12\n\n"
        "```diff\n@@ -1,3 +1,3 @@\n-image: redis\n+image: valkey\n```\n\n"
        "ここは固定のタグに。"
    )


def test_a_reply_does_not_repeat_the_diff(tmp_path: Path) -> None:
    (text,) = read_records(tmp_path, {**REVIEW_COMMENT, "in_reply_to_id": 1}).texts
    assert text == "`compose.yaml` line 10-12\n\nここは固定のタグに。"


def test_of_a_long_diff_the_end_is_kept(tmp_path: Path) -> None:
    hunk = "@@ -1 +1 @@ f\n" + "\n".join(f"+line {n}" for n in range(500))
    (text,) = read_records(tmp_path, {**REVIEW_COMMENT, "diff_hunk": hunk}).texts
    assert "@@ -1 +1 @@ f\n+line 488\n" in text
    assert "+line 487" not in text


def test_hooks_api_replies_and_event_logs_of_one_comment_are_one_message(tmp_path: Path) -> None:
    ledger = MemoryLedger()
    read_records(
        tmp_path, hook("created", comment=REVIEW_COMMENT, pull_request=PULL), ledger=ledger
    )
    logged = {
        "type": "PullRequestReviewCommentEvent",
        "repo": {"name": "aki-labs/shop"},
        "payload": {"action": "created", "comment": REVIEW_COMMENT, "pull_request": PULL},
    }
    thread = hook("resolved", thread={"comments": [REVIEW_COMMENT]}, pull_request=PULL)
    for record in (REVIEW_COMMENT, PULL, logged, thread):
        assert read_records(tmp_path, record, ledger=ledger).documents == []


def test_lines_lists_folders_and_zips_are_read_alike(tmp_path: Path) -> None:
    lines = "\n".join(json.dumps(each) for each in (PULL, REVIEW_COMMENT)).encode()
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "hooks.jsonl").write_bytes(lines)
    archive = write_zip(tmp_path / "b.zip", {"x/hooks.ndjson": lines})
    single = write_json(tmp_path / "c.json", {"items": [PULL, REVIEW_COMMENT]})
    texts = [read(path).texts for path in (tmp_path / "a", archive, single)]
    assert texts[0] == texts[1] == texts[2]
    assert len(texts[0]) == 2


def test_a_review_says_its_verdict_and_one_without_words_is_counted(tmp_path: Path) -> None:
    silent = {**REVIEW, "node_id": "PRR_2", "state": "COMMENTED", "body": None}
    events = [hook("submitted", review=each, pull_request=PULL) for each in (REVIEW, silent)]
    reading = read_records(tmp_path, *events)
    assert reading.texts[1:] == ["**Approved**"]
    assert [u.kind for u in reading.unknown] == ["review without text"]


def test_comments_on_issues_commits_and_discussions_belong_to_their_threads(
    tmp_path: Path,
) -> None:
    commit = {**ISSUE_COMMENT, "node_id": "CC_1", "html_url": f"{WEB}/commit/0123456789abcdef#c1"}
    talk = {"number": 9, "title": "Which queue?", "html_url": f"{WEB}/discussions/9", "user": KIM}
    answer = {**ISSUE_COMMENT, "node_id": "DC_1", "html_url": f"{WEB}/discussions/9#d1"}
    events = [
        ISSUE_COMMENT,
        {**commit, "issue_url": None},
        hook("created", discussion=talk, comment=answer),
    ]
    assert {(d.native_id, d.title) for d in read_records(tmp_path, *events).documents} == {
        ("aki-labs/shop/3", "aki-labs/shop#3"),
        ("aki-labs/shop/commit/0123456789abcdef", "aki-labs/shop@01234567"),
        ("aki-labs/shop/discussion/9", "aki-labs/shop discussion 9: Which queue?"),
    }


def test_output_of_the_command_line_tool_is_read(tmp_path: Path) -> None:
    record = {
        "id": "PR_1", "number": 7, "title": "Move", "url": f"{WEB}/pull/7", "body": "Why.",
        "author": {"login": "aki"}, "createdAt": "2026-11-02T09:00:00Z",
        "comments": [{"id": "IC_9", "author": KIM, "body": "ok", "url": f"{WEB}/pull/7#x"}],
        "reviews": [{"id": "PRR_9", "author": {"login": "kim"}, "state": "APPROVED", "body": "",
                     "submittedAt": "2026-11-02T09:01:00Z"}],
    }  # fmt: skip
    reading = read_records(tmp_path, record)
    assert reading.texts == ["Why.", "ok", "**Approved**"]
    assert {d.native_id for d in reading.documents} == {"aki-labs/shop/7"}


def test_an_edited_comment_replaces_the_older_version_in_whatever_order_they_come(
    tmp_path: Path,
) -> None:
    edited = {**ISSUE_COMMENT, "body": "Done today.", "updated_at": "2026-11-02T11:00:00Z"}
    ledger = MemoryLedger()
    assert read_records(tmp_path, ISSUE_COMMENT, edited, ledger=ledger).texts == [
        "Done.",
        "Done today.",
    ]
    assert read_records(tmp_path, ISSUE_COMMENT, ledger=ledger).documents == []
    later = MemoryLedger()
    assert read_records(tmp_path, edited, ISSUE_COMMENT, ledger=later).texts == ["Done today."]


def test_a_deleted_comment_is_replaced_by_a_notice_and_never_comes_back(tmp_path: Path) -> None:
    ledger = MemoryLedger()
    read_records(tmp_path, ISSUE_COMMENT, ledger=ledger)
    gone = hook("deleted", comment=ISSUE_COMMENT)
    (said,) = read_records(tmp_path, gone, ledger=ledger).said
    assert (said.native_id, said.text) == ("IC_1", REMOVED)
    assert read_records(tmp_path, gone, ISSUE_COMMENT, ledger=ledger).documents == []


def test_a_comment_deleted_before_it_was_seen_is_not_collected_later(tmp_path: Path) -> None:
    ledger = MemoryLedger()
    reading = read_records(tmp_path, hook("deleted", comment=ISSUE_COMMENT), ledger=ledger)
    assert (reading.documents, [u.kind for u in reading.unknown]) == ([], ["deleted comment"])
    assert read_records(tmp_path, ISSUE_COMMENT, ledger=ledger).documents == []


def test_a_renamed_pull_request_renames_its_note_once(tmp_path: Path) -> None:
    ledger = MemoryLedger()
    read_records(tmp_path, PULL, REVIEW_COMMENT, ledger=ledger)
    renamed = {**PULL, "title": "Valkey", "updated_at": "2026-11-03T09:00:00Z"}
    event = hook("created", comment=REVIEW_COMMENT, pull_request=renamed)
    titles = [d.title for d in read_records(tmp_path, event, ledger=ledger).documents]
    assert titles == ["aki-labs/shop#7: Valkey"]
    assert read_records(tmp_path, event, REVIEW_COMMENT, ledger=ledger).documents == []


@pytest.mark.parametrize(
    ("user", "role"),
    [
        ({"login": "AKI", "type": "User"}, Role.OWNER),
        ({"login": "aki", "type": "Bot"}, Role.OTHER),
        ({"login": "aki[bot]"}, Role.OTHER),
        ({"login": "aki-labs"}, Role.OTHER),
        (None, Role.OTHER),
    ],
)
def test_only_the_login_makes_the_owner(
    tmp_path: Path, user: dict[str, str] | None, role: Role
) -> None:
    (said,) = read_records(tmp_path, {**ISSUE_COMMENT, "user": user}).said
    assert said.role is role


def test_the_owners_name_set_later_makes_the_comments_theirs(tmp_path: Path) -> None:
    ledger = MemoryLedger()
    path = write_json(tmp_path / "a.json", [PULL])
    assert read(path, ledger=ledger, options=ReadOptions()).said[0].role is Role.OTHER
    assert read(path, ledger=ledger).said[0].role is Role.OWNER
    assert read(path, ledger=ledger).documents == []


def test_other_events_and_objects_are_counted_and_broken_ones_named(tmp_path: Path) -> None:
    homeless = {"body": "x", "user": KIM, "created_at": "2026-11-02T09:00:00Z"}
    path = tmp_path / "a.json"
    path.write_text(
        json.dumps([hook("created", check_run={}), {"a": 1}, homeless, 5])[:-1] + ", {x]"
    )
    reading = read(path)
    assert [u.kind for u in reading.unknown] == ["webhook check_run", "object without a comment"]
    assert [bad.place for bad in reading.bad][:2] == [f"{path}#3", f"{path}#4"]
    assert reading.bad[0].reason == "tells no pull request, issue, discussion or commit"
    assert reading.documents == []


def test_files_of_other_kinds_are_counted_or_refused_when_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    assert [u.kind for u in read(tmp_path).unknown] == ["file .txt"]
    assert [b.reason for b in read(tmp_path / "a.txt").bad] == ["not JSON (.json, .jsonl, .ndjson)"]


def test_a_run_without_a_path_says_what_to_name() -> None:
    with pytest.raises(UsageError, match="GitHub"):
        read()


def test_hidden_comments_of_templates_are_left_out_in_linear_time() -> None:
    assert without_comments("a<!-- x -->b<!-- y") == "ab<!-- y"
    before = time.process_time()
    without_comments("<!--" * 500_000)
    assert time.process_time() - before < 1


GOOD = [
    hook("created", comment=REVIEW_COMMENT, pull_request=PULL),
    hook("submitted", review=REVIEW, pull_request=PULL),
    hook("resolved", thread={"comments": [REVIEW_COMMENT]}, pull_request=PULL),
    ISSUE_COMMENT,
    {"items": [PULL]},
]


@EXAMPLES
@given(st.data())
def test_records_with_any_field_turned_into_anything_are_read_to_their_end(
    tmp_path: Path, data: st.DataObject
) -> None:
    ledger = MemoryLedger()
    records = [*mutate(GOOD, data), {**ISSUE_COMMENT, "node_id": "IC_2", "body": "after"}]
    reading = read_records(tmp_path, *records, ledger=ledger)
    assert "after" in reading.texts
    assert read_records(tmp_path, *records, ledger=ledger).documents == []


@EXAMPLES
@given(st.lists(json_values, max_size=6), st.binary(max_size=200))
def test_any_json_and_any_bytes_are_read_to_their_end(
    tmp_path: Path, values: list[Any], data: bytes
) -> None:
    (tmp_path / "a.jsonl").write_bytes(data)
    read_records(tmp_path, *values)
    read(tmp_path)

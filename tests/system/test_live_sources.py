"""Live sources by the real command line: collected, found, followed; no secret is kept."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import pytest

from context_engine.events import decode_document
from context_engine.home import Home
from support import github_server, slack_server
from support.engine import COMMAND, environment, run, run_json, wait_until
from support.slack import message
from workers.outbox import Outbox

GENERAL = "C00000GEN"


class Killable(Protocol):
    """A server that calls `after` when it has answered."""

    after: Callable[[str], None] | None


@pytest.fixture
def slack() -> Iterator[slack_server.SlackServer]:
    with slack_server.slack_server() as server:
        yield server


@pytest.fixture
def github() -> Iterator[github_server.GitHubServer]:
    with github_server.github_server() as server:
        yield server


def slack_environment(slack: slack_server.SlackServer) -> dict[str, str]:
    return {
        "CE_SLACK__BASE_URL": slack.url,
        "CE_SLACK__TOKEN": slack_server.TOKEN,
        "CE_SLACK__APP_TOKEN": slack_server.APP_TOKEN,
        "CE_OWNER_NAME": "Aki",
    }


def recent(number: int, text: str) -> dict[str, object]:
    """A message of this very day, whenever the test runs."""
    return {**message(number, text), "ts": f"{int(time.time()) - 7200 + number}.{number:06d}"}


def files_with(home: Home, secret: str) -> list[Path]:
    wanted = secret.encode()
    return [p for p in home.root.rglob("*") if p.is_file() and wanted in p.read_bytes()]


def test_what_two_services_hold_is_found_and_their_tokens_are_nowhere(
    home: Home, slack: slack_server.SlackServer, github: github_server.GitHubServer
) -> None:
    slack.say(
        GENERAL,
        recent(1, "The staging database moves to Frankfurt on Friday."),
        recent(2, f"Slackトークンは {slack_server.TOKEN} です"),
    )
    github.issue(3, "起動しない", "設定ファイルの権限が原因でした。", "2026-11-03T09:00:00Z")
    extra = slack_environment(slack)
    report = run_json(home, "ingest", "slack-live", extra=extra)
    assert (report["new"], report["quarantined"]) == (1, 0)
    again = run_json(home, "ingest", "slack-live", extra=extra)
    assert (again["new"], again["events"]) == (0, 0)
    home.config_file.write_text(
        f'[github]\nrepos = ["{github_server.REPO}"]\nbase_url = "{github.url}"\n',
        encoding="utf-8",
    )
    extra |= {"CE_GITHUB__TOKEN": github_server.TOKEN}
    assert run_json(home, "ingest", "github-live", extra=extra)["new"] == 1
    for question, answer in (("staging database", "#general"), ("権限が原因", "起動しない")):
        found = run_json(home, "query", question)
        assert answer in json.dumps(found["results"], ensure_ascii=False), found
    for secret in (slack_server.TOKEN, slack_server.APP_TOKEN, github_server.TOKEN):
        assert files_with(home, secret) == []


def test_followed_events_survive_a_kill(home: Home, slack: slack_server.SlackServer) -> None:
    slack.say(GENERAL, recent(1, "before"))
    command = [*COMMAND, "ingest", "slack-live", "--follow", "--json"]
    env = environment(home, slack_environment(slack))
    first = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        socket = slack.sockets.get(timeout=60)
        socket.event("e1", {"channel": GENERAL, **recent(2, "速報: 障害は解消しました")})
        assert socket.acknowledged.get(timeout=60) == "e1"
    finally:
        first.kill()
        first.communicate(timeout=30)
    second = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        slack.say(GENERAL, recent(3, "while nobody listened"))
        slack.sockets.get(timeout=60)
        outbox = Outbox(home.outbox)
        wait_until(lambda: len(outbox.seen("slack", seen_ids(slack))) == len(seen_ids(slack)), 60)
    finally:
        second.send_signal(signal.SIGTERM)
        out, err = second.communicate(timeout=60)
    assert second.returncode == 0, err.decode()
    assert json.loads(out)["quarantined"] == 0
    found = run_json(home, "query", "障害は解消")
    assert "#general" in json.dumps(found["results"], ensure_ascii=False)


def seen_ids(slack: slack_server.SlackServer) -> list[str]:
    return [f"{GENERAL}:{record['ts']}" for record in slack.messages[GENERAL]]


def test_wrong_use_of_a_live_source_says_what_to_do(home: Home, tmp_path: Path) -> None:
    missing = run(home, "ingest", "slack-live")
    assert missing.returncode == 1
    assert "CE_SLACK__TOKEN" in missing.stderr
    with_path = run(home, "ingest", "slack-live", str(tmp_path))
    assert with_path.returncode == 2
    assert "takes no PATH" in with_path.stderr
    followed = run(home, "ingest", "github-live", "--follow")
    assert followed.returncode == 2
    assert "cannot be followed" in followed.stderr
    home.config_file.write_text('[slack]\ntoken = "xoxp-1-secret"\n', encoding="utf-8")
    in_clear = run(home, "status")
    assert in_clear.returncode == 2
    assert "CE_SLACK__TOKEN" in in_clear.stderr
    assert "xoxp-1-secret" not in in_clear.stderr


def test_sources_say_what_they_need(home: Home) -> None:
    rows = {row["name"]: row["needs"] for row in run_json(home, "sources")["sources"]}
    assert "CE_SLACK__TOKEN" in rows["slack-live"]
    assert "CE_GITHUB__TOKEN" in rows["github-live"]
    assert rows["slack"] == ""


COLLECT = """
import sys
from connectors.registry import load
from context_engine.settings import load_settings
from workers import collector
from workers.outbox import Outbox

collector.BATCH_SECONDS = 0
settings = load_settings()
options = collector.read_options(settings)
collector.collect(load(sys.argv[1]), (), Outbox(settings.paths.outbox), options)
"""


def collect_until_killed(
    home: Home, source: str, extra: dict[str, str], server: Killable, after: int
) -> int:
    """Collect in a process that `server` kills after so many answers; return how it ended."""
    child = subprocess.Popen(
        [sys.executable, "-c", COLLECT, source], env=environment(home, extra), stderr=None
    )
    answers = iter(range(after - 1))

    def kill(_: str) -> None:
        if next(answers, None) is None:
            child.kill()

    server.after = kill if after else None
    ended = child.wait(timeout=60)
    server.after = None
    return ended


def said_in(home: Home) -> list[str]:
    """Return the messages of all events in the outbox."""
    with sqlite3.connect(home.outbox) as db:
        payloads = [row[0] for row in db.execute("SELECT payload FROM event")]
    documents = [decode_document(bytes(payload)) for payload in payloads]
    return sorted(said.native_id for document in documents for said in document.utterances)


@pytest.mark.chaos
def test_a_kill_while_collecting_from_slack_loses_and_doubles_nothing(
    home: Home, slack: slack_server.SlackServer
) -> None:
    home.create()
    slack.page = 3
    day = 86_400
    for number in range(40):
        text = recent(number + 1, f"message {number}")
        slack.say(GENERAL, {**text, "ts": f"{int(time.time()) - 9000 - number * day}.{number:06d}"})
    extra = slack_environment(slack)
    ends = [collect_until_killed(home, "slack-live", extra, slack, n) for n in (9, 14, 18, 0)]
    assert ends == [-9, -9, -9, 0]
    assert said_in(home) == sorted(seen_ids(slack))


@pytest.mark.chaos
def test_a_kill_while_collecting_from_github_loses_and_doubles_nothing(
    home: Home, github: github_server.GitHubServer
) -> None:
    home.create()
    github.page = 3
    for number in range(1, 13):
        at = f"2026-11-{number:02}T09:00:00Z"
        github.issue(number, f"Issue {number}", "text", at, pull=True)
        github.comment(number, number, "comment", at)
    extra = {
        "CE_GITHUB__TOKEN": github_server.TOKEN,
        "CE_GITHUB__BASE_URL": github.url,
        "CE_GITHUB__REPOS": json.dumps([github_server.REPO]),
    }
    ends = [collect_until_killed(home, "github-live", extra, github, n) for n in (2, 7, 12, 0)]
    assert ends == [-9, -9, -9, 0]
    wanted = [f"{kind}_{number}" for kind in ("I", "IC") for number in range(1, 13)]
    assert said_in(home) == sorted(wanted)

"""Reindexing as a client asks for it: one's own vault, at once, with progress, engine or not."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client

from api.audit import AuditLog
from api.caller import Caller, Transport
from api.dispatch import perform
from api.operations.base import Answer, Services
from api.operations.registry import OPERATIONS
from context_engine.errors import DependencyDownError
from context_engine.home import Home
from context_engine.scopes import Scope
from index.search import Searcher
from support.api import RunningApi
from support.assistants import call, over_http, over_stdio
from support.engine import running, wait_until
from workers.liveness import WorkerLease
from workers.outbox import Outbox
from workers.outbox_model import Job, Outcome


def _ask(home: Home, scope: Scope = Scope.WORK, **arguments: Any) -> Any:
    services = Services(home=home, index=Searcher(home, None))
    caller = Caller("cursor", scope, Transport.MCP)
    log = AuditLog(home.audit_log)
    outcome = perform(OPERATIONS["reindex"], lambda: services, caller, arguments, log)
    assert isinstance(outcome, Answer), outcome
    return outcome


def _jobs(home: Home) -> dict[str, str]:
    rows = Outbox(home.outbox).connection().execute("SELECT key, state FROM job")
    return {str(key): str(state) for key, state in rows}


@contextmanager
def _indexer(home: Home) -> Iterator[None]:
    lease = WorkerLease(home.state / "workers", "indexer")
    try:
        yield
    finally:
        lease.release()


def _work_off(home: Home, key: str) -> Job:
    outbox = Outbox(home.outbox)
    ((job_id,),) = outbox.connection().execute("SELECT job_id FROM job WHERE key=?", (key,))
    job = outbox.start(job_id, key, "someone", max_attempts=3)
    assert job is not None
    return job


def test_without_an_engine_it_is_queued_and_said_what_to_do(library: Home) -> None:
    answer = _ask(library)

    assert (answer.queued, answer.under_way, answer.engine_runs) == ("scan", ("scan",), False)
    assert (answer.scope, answer.finished, answer.rebuild_waiting) == ("work", None, None)
    assert answer.notes == 3
    assert answer.chunks == answer.embedded > 4
    assert answer.waiting == 0
    assert "context-engine up" in answer.warnings[0]
    assert str(library.root) not in answer.model_dump_json()
    assert _jobs(library) == {"reindex:work:scan": "pending"}


def test_only_the_vault_that_the_caller_writes_is_asked_for(library: Home) -> None:
    for scope in Scope:
        _ask(library, scope, rebuild=True)

    assert set(_jobs(library)) == {f"reindex:{scope}:rebuild" for scope in Scope}


def test_asking_again_adds_nothing_while_it_is_under_way(library: Home) -> None:
    first = _ask(library, rebuild=True)
    scan = _ask(library)
    again = _ask(library, rebuild=True)

    assert first.queued == "rebuild"
    assert (scan.queued, scan.under_way) == (None, ("rebuild",))
    assert again == scan
    wanted = Outbox(library.outbox).connection().execute("SELECT wanted FROM job").fetchall()
    assert wanted == [(1,)]


def test_a_rebuild_is_added_to_a_scan_that_waits(library: Home) -> None:
    _ask(library)
    answer = _ask(library, rebuild=True)

    assert answer.queued == "rebuild"
    assert answer.under_way == ("scan", "rebuild")


def test_who_asks_just_after_it_was_done_hears_that_it_is(library: Home) -> None:
    with _indexer(library):
        _ask(library)
        Outbox(library.outbox).finish(_work_off(library, "reindex:work:scan"), Outcome())
        answer = _ask(library)

    assert (answer.queued, answer.under_way, answer.warnings) == (None, (), ())
    assert answer.finished is not None
    # nobody follows what changed since
    assert _ask(library).queued == "scan"


def test_a_rebuild_shows_how_much_it_has_to_embed(library: Home) -> None:
    progress = library.index(Scope.WORK).with_suffix(".rebuild.json")
    progress.write_text('{"waiting": 41}', encoding="ascii")

    with _indexer(library):
        assert _ask(library, rebuild=True).rebuild_waiting == 41
        progress.write_text('{"wait', encoding="ascii")
        assert _ask(library).rebuild_waiting is None
        progress.write_text('{"waiting": 41}', encoding="ascii")
    assert _ask(library).rebuild_waiting is None


def test_what_was_given_up_or_waits_is_said(library: Home) -> None:
    outbox = Outbox(library.outbox)
    with _indexer(library):
        _ask(library)
        job = _work_off(library, "reindex:work:scan")
        outbox.fail(job, "crash", f"died at {library.root}", max_attempts=1)
        given_up = _ask(library)
        job = _work_off(library, "reindex:work:scan")
        outbox.wait_for(job, DependencyDownError("index of work", "is being rebuilt"))
        held_up = _ask(library)

    assert given_up.queued == "scan"
    assert "gave this up" in given_up.warnings[0]
    assert str(library.root) not in given_up.warnings[0]
    assert (held_up.queued, held_up.under_way) == (None, ("scan",))
    assert "status" in held_up.warnings[0]


def test_a_damaged_index_is_said_and_can_still_be_rebuilt(library: Home) -> None:
    library.index(Scope.WORK).write_bytes(b"this is no database" * 1000)
    answer = _ask(library, rebuild=True)

    assert (answer.queued, answer.chunks) == ("rebuild", 0)
    assert any("damaged" in warning for warning in answer.warnings)


def test_the_hints_say_that_it_changes_state_and_destroys_nothing(api: RunningApi) -> None:
    async def talk(client: Client) -> Any:
        return await client.list_tools()

    (tool,) = [t for t in over_http(api, Scope.WORK, talk).tools if t.name == "reindex"]
    hints = tool.annotations

    assert (hints.read_only_hint, hints.destructive_hint) == (False, False)
    assert hints.idempotent_hint is True


def test_over_rest_an_argument_cannot_choose_the_vault(api: RunningApi) -> None:
    refused = api.call(Scope.PUBLIC, "reindex", {"scope": "work"})
    answer = api.call(Scope.PUBLIC, "reindex").json()

    assert refused.status_code == 422
    assert answer["scope"] == "public"


@pytest.mark.timeout(240)
def test_with_the_engine_a_client_sees_it_through(library: Home, tmp_path: Path) -> None:
    work = tmp_path / "job"
    work.mkdir()
    rules = {"CE_SCOPE_RULE": json.dumps([{"path": f"{work}/**", "scope": "work"}])}
    before = {scope: library.index(scope).stat().st_ino for scope in Scope}
    answers: list[dict[str, Any]] = []

    async def talk(client: Client) -> None:
        started = time.monotonic()
        answers.append(await call(client, "reindex", rebuild=True))
        assert time.monotonic() - started < 15

    def is_done() -> bool:
        over_stdio(library, work, talk_again, settings=rules)
        return not answers[-1]["under_way"]

    async def talk_again(client: Client) -> None:
        answers.append(await call(client, "reindex"))

    with running(library, {"CE_API__PORT": "0"}):
        over_stdio(library, work, talk, settings=rules)
        wait_until(is_done, 60)
        after = {scope: library.index(scope).stat().st_ino for scope in Scope}

    assert (answers[0]["queued"], answers[0]["engine_runs"]) == ("rebuild", True)
    assert answers[0]["warnings"] == []
    assert answers[-1]["queued"] is None
    assert answers[-1]["finished"] is not None
    assert answers[-1]["notes"] == answers[0]["notes"]
    assert {scope for scope in Scope if before[scope] != after[scope]} == {Scope.WORK}

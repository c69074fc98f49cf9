"""What a working folder tells: from names and bytes alone, bounded, for local callers only."""

from __future__ import annotations

import os
import subprocess
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from mcp.client import Client

from api.audit import AuditLog
from api.caller import Caller, Transport
from api.dispatch import perform
from api.operations.base import Answer, Services
from api.operations.registry import OPERATIONS
from api.operations.surroundings import Surroundings, surroundings
from context_engine.home import Home
from context_engine.scopes import Scope
from index.search import Searcher
from support.assistants import call, over_stdio
from support.library import index_home

NOW = datetime.now(UTC)


def _git(repo: Path, *arguments: str) -> None:
    settings = ("-c", "user.name=Aki", "-c", "user.email=aki@example.org", "-c", "gc.auto=0")
    subprocess.run(["git", *settings, *arguments], cwd=repo, check=True, capture_output=True)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    repo = tmp_path / "code" / "shop"
    repo.mkdir(parents=True)
    _git(repo, "init", "-b", "main")
    for number, subject in enumerate(("Add the cart", "支払いの冪等キーを直す", "Retry webhooks")):
        (repo / f"module_{number}.py").write_text("x", encoding="utf-8")
        _git(repo, "add", ".")
        _git(repo, "commit", "-m", f"{subject}\n\nwith a body")
    return repo


def _ask(home: Home, transport: Transport, folder: str | None = None, **arguments: Any) -> Any:
    services = Services(home=home, index=Searcher(home, None))
    caller = Caller("cursor", Scope.WORK, transport, folder)
    log = AuditLog(home.audit_log)
    outcome = perform(OPERATIONS["query_self"], lambda: services, caller, arguments, log)
    assert isinstance(outcome, Answer), outcome
    return outcome


def _learned(home: Home, name: str, text: str, project: str = "elsewhere") -> str:
    path = f"knowledge/learning/2026-05-04-{name}-0123456789ab.md"
    place = home.vault(Scope.WORK) / path
    place.parent.mkdir(parents=True, exist_ok=True)
    head = f"type: insight\nkind: learning\nconfidence: raw\nproject: {project}\n"
    place.write_text(f"---\n{head}---\n# {name}\n\n{text}\n", encoding="utf-8")
    return f"work/{path}"


def _found(answer: Any) -> list[str]:
    return [hit.path for hit in answer.relevant_knowledge]


def test_commits_and_edited_files_are_told_newest_first(repo: Path) -> None:
    (repo / "src").mkdir()
    (repo / "src" / "checkout.py").write_text("x", encoding="utf-8")
    later = time.time() + 60
    os.utime(repo / "src" / "checkout.py", (later, later))

    found = surroundings(str(repo), NOW)

    assert found.commits == ("Retry webhooks", "支払いの冪等キーを直す", "Add the cart")
    assert found.files[0] == "checkout"
    assert set(found.files) == {"checkout", "module_0", "module_1", "module_2"}


def test_a_folder_below_a_worktree_and_the_repository_know_their_commits(repo: Path) -> None:
    (repo / "src" / "deep").mkdir(parents=True)
    _git(repo, "worktree", "add", "-b", "fix", "../shop-fix")
    worktree = repo.parent / "shop-fix"
    (worktree / "new.py").write_text("x", encoding="utf-8")
    _git(worktree, "add", ".")
    _git(worktree, "commit", "-m", "Fix in the worktree")

    assert surroundings(str(repo / "src" / "deep"), NOW).commits[0] == "Retry webhooks"
    assert surroundings(str(worktree), NOW).commits == ("Fix in the worktree",)


def test_nothing_of_the_repository_s_own_configuration_runs(repo: Path, tmp_path: Path) -> None:
    sprung = tmp_path / "sprung"
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {sprung}\n", encoding="utf-8")
    trap.chmod(0o755)
    (repo / "git").write_text(f"#!/bin/sh\ntouch {sprung}\n", encoding="utf-8")
    (repo / "git").chmod(0o755)
    for name in ("core.fsmonitor", "core.pager", "core.sshCommand", "diff.external"):
        _git(repo, "config", name, str(trap))
    sprung.unlink(missing_ok=True)

    assert surroundings(str(repo), NOW).commits
    assert not sprung.exists()


def test_generated_old_and_hidden_files_and_a_fresh_checkout_say_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    for name in ("node_modules/a.js", ".venv/b.py", "c.pyc", "d.log", "old.py", "e/f/g/deep.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x", encoding="utf-8")
    ago = (NOW - timedelta(days=8)).timestamp()
    os.utime(folder / "old.py", (ago, ago))
    (folder / "soft.py").symlink_to(folder / "old.py")

    assert surroundings(str(folder), NOW).files == ()
    for number in range(30):
        (folder / f"cloned_{number}.py").write_text("x", encoding="utf-8")
    assert surroundings(str(folder), NOW).files == ()


def test_links_pipes_and_pointers_to_nowhere_are_not_opened(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("a\tcommit: the secret\n", encoding="utf-8")
    log = tmp_path / "one" / ".git" / "logs" / "HEAD"
    log.parent.mkdir(parents=True)
    log.symlink_to(secret)
    assert surroundings(str(tmp_path / "one"), NOW).commits == ()

    log.unlink()
    os.mkfifo(log)
    assert surroundings(str(tmp_path / "one"), NOW).commits == ()

    for number, text in enumerate((b"gitdir: /nowhere\n", b"gitdir: \0\n", b"\xff" * 9_000, b"")):
        folder = tmp_path / f"pointer{number}"
        folder.mkdir()
        (folder / ".git").write_bytes(text)
        assert surroundings(str(folder), NOW).commits == ()


@pytest.mark.parametrize(
    "cwd", ["", "relative", "/nowhere/at/all", "/a\0b", "~", "/" + "x/" * 2000]
)
def test_a_folder_that_is_not_here_tells_nothing(cwd: str) -> None:
    assert surroundings(cwd, NOW) == Surroundings((), ())


@hypothesis_settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.binary(max_size=400))
def test_any_log_is_read(tmp_path: Path, data: bytes) -> None:
    log = tmp_path / "any" / ".git" / "logs" / "HEAD"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_bytes(data + b"\nx\tcommit: last\n")

    assert surroundings(str(tmp_path / "any"), NOW).commits[0] == "last"


def test_a_huge_log_and_a_huge_folder_cost_little(tmp_path: Path) -> None:
    folder = tmp_path / "huge"
    log = folder / ".git" / "logs" / "HEAD"
    log.parent.mkdir(parents=True)
    log.write_bytes(b"0 1 Aki <a@b> 1 +0000\tcommit: one of many\n" * 500_000)
    for number in range(5_000):
        (folder / f"f{number}.py").touch()

    started = time.process_time()
    found = surroundings(str(folder), NOW)

    assert time.process_time() - started < 0.1
    assert found.commits == ("one of many",)


def test_words_take_turns_and_fit() -> None:
    found = Surroundings(("aaaa", "b" * 50, "cccc"), ("dddd", "eeee"))

    assert found.words(100) == f"aaaa dddd {'b' * 50} eeee cccc"
    assert found.words(21) == "aaaa dddd eeee cccc"
    assert found.words(0) == ""


def test_a_local_caller_is_told_what_concerns_its_recent_commits(library: Home, repo: Path) -> None:
    wanted = _learned(library, "webhook", "Retry webhooks with jitter, or they come all at once.")
    _learned(library, "rice", "炊飯器は予約炊きにする。")
    index_home(library, None, [Scope.WORK])

    for transport in (Transport.STDIO, Transport.CLI):
        assert wanted in _found(_ask(library, transport, cwd=str(repo)))
        assert wanted in _found(_ask(library, transport, str(repo)))


def test_a_network_caller_s_folder_is_a_name_and_never_looked_into(
    library: Home, repo: Path
) -> None:
    wanted = _learned(library, "webhook", "Retry webhooks with jitter, or they come all at once.")
    index_home(library, None, [Scope.WORK])
    empty = repo.parent.parent / "other" / "shop"
    empty.mkdir(parents=True)

    for transport in (Transport.REST, Transport.MCP):
        there = _ask(library, transport, cwd=str(repo))
        assert wanted not in _found(there)
        assert _found(there) == _found(_ask(library, transport, cwd=str(empty)))


def test_what_belongs_to_the_folder_s_project_comes_before_what_only_resembles_it(
    library: Home,
) -> None:
    ours = _learned(library, "ours", "朝会は十時。", project="cart")
    theirs = [_learned(library, f"cart-{n}", "cart cart cart") for n in range(9)]
    index_home(library, None, [Scope.WORK])

    alone = _found(_ask(library, Transport.REST, cwd="/home/aki/cart"))
    asked = _found(_ask(library, Transport.REST, cwd="/home/aki/cart", query="cart cart"))

    assert alone[0] == ours
    assert set(alone[1:]) <= set(theirs)
    assert ours in asked
    assert asked[0] in theirs
    assert len(asked) == len(set(asked)) == 8


def test_on_stdio_the_folder_need_not_be_given(library: Home, repo: Path) -> None:
    wanted = _learned(library, "webhook", "Retry webhooks with jitter, or they come all at once.")
    index_home(library, None, [Scope.WORK])
    rules = {"CE_SCOPE_RULE": f'[{{"path": "{repo.parent}/**", "scope": "work"}}]'}

    async def talk(client: Client) -> dict[str, Any]:
        return await call(client, "query_self")

    answer = over_stdio(library, repo, talk, settings=rules)

    assert wanted in [hit["path"] for hit in answer["relevantKnowledge"]]


def test_the_identity_is_told_as_it_is_now(library: Home) -> None:
    place = library.vault(Scope.WORK) / "identity" / "_profile.md"
    long_ago = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
    os.utime(place, (long_ago, long_ago))
    services = Services(home=library, index=Searcher(library, None))

    def card() -> str:
        caller = Caller("cursor", Scope.WORK, Transport.REST)
        log = AuditLog(library.audit_log)
        answer: Any = perform(OPERATIONS["query_self"], lambda: services, caller, {}, log)
        return answer.identity_card.text if answer.identity_card else ""

    assert "三百行" in card()
    place.write_text(place.read_text("utf-8").replace("三百行", "二百行"), encoding="utf-8")
    assert "二百行" in card()
    place.unlink()
    assert card() == ""

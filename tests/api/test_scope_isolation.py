"""What a caller is told does not depend on what it may not read: not by a byte.

The same questions are asked of a full home and of one that holds only what the scope may read.
Scores, counts, order, warnings and errors are part of the answers.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from api.audit import AuditLog
from api.caller import Caller, Transport
from api.dispatch import perform
from api.operations.base import Answer, Services
from api.operations.budget import to_json
from api.operations.registry import OPERATIONS
from context_engine.clock import ManualClock
from context_engine.home import Home
from context_engine.scopes import Scope
from index.embedding.base import Embedder
from index.search import Searcher
from support.api import serving
from support.assistants import call, over_http, over_stdio
from support.library import index_home
from vault.identity import project_identity

# several in every scope: what is rare in one must not become common through another
WORDS = (
    *("valkey", "redis", "queue", "backup", "retry", "timeout", "shop", "billing", "public"),
    *("キュー", "移行", "決定", "ライセンス", "復元", "佐藤", "会議", "学び", "障害", "原因", "朝"),
    *("原稿", "期限", "契約", "公開", "秘密", "薬", "SHOP-4711", "SHOP-1", "config.toml"),
)
NOW = datetime(2026, 11, 30, tzinfo=UTC)
PROJECTS = ("shop", "billing", "garden")


def _text(dice: random.Random, count: int) -> str:
    return " ".join(dice.choice(WORDS) for _ in range(count))


def _insight(dice: random.Random, number: int) -> tuple[str, str]:
    kind = dice.choice(("value", "decision", "learning"))
    front = {
        "type": "insight",
        "kind": kind,
        "confidence": "raw",
        "title": f'"{_text(dice, 3)}"',
        "project": dice.choice(PROJECTS),
        "source": dice.choice(("claude", "slack")),
        "tags": f"[{dice.choice(WORDS)}]",
        "created": f"2026-{dice.randint(1, 11):02d}-03T10:00:00Z",
    }
    head = "".join(f"{key}: {value}\n" for key, value in front.items())
    body = "\n\n".join(f"## {_text(dice, 2)}\n\n{_text(dice, 30)}" for _ in range(3))
    body += f"\n\nSee [[{dice.choice(PROJECTS)}]]."
    return f"knowledge/{kind}/2026-01-01-{number:012x}.md", f"---\n{head}---\n{body}\n"


def _project(dice: random.Random, name: str) -> tuple[str, str]:
    state = dice.choice(("active", "active", "done"))
    head = f"type: project\ntitle: {name}\nstate: {state}\ngoal: {_text(dice, 3)}\n"
    updated = f"2026-{dice.randint(1, 11):02d}-05T08:00:00Z"
    return f"projects/{name}.md", f"---\n{head}updated: {updated}\n---\n# {name}\n"


def _random_vaults(home: Home, seed: int) -> None:
    dice = random.Random(seed)  # noqa: S311 - reproducible, nothing secret
    for scope in Scope:
        notes = [_insight(dice, number) for number in range(dice.randint(3, 25))]
        notes += [_project(dice, name) for name in PROJECTS if dice.random() < 0.7]
        for path, text in notes:
            place = home.vault(scope) / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
    identity = home.vault(Scope.PERSONAL) / "identity" / "canonical.md"
    identity.parent.mkdir(parents=True, exist_ok=True)
    tags = ("", " {work}", " {public}")
    items = "".join(f"- {_text(dice, 3)}{dice.choice(tags)}\n" for _ in range(6))
    identity.write_text(f"# Me\n\n{items}", encoding="utf-8")
    project_identity(home)


def _only_readable(full: Home, scope: Scope, root: Path) -> Home:
    home = Home(root)
    home.create()
    for readable in scope.readable:
        shutil.copytree(full.vault(readable), home.vault(readable), dirs_exist_ok=True)
    return home


def _services(home: Home, embedder: Embedder | None) -> Services:
    return Services(home=home, index=Searcher(home, embedder), clock=ManualClock(NOW))


def _ask(services: Services, scope: Scope, operation: str, arguments: Mapping[str, Any]) -> str:
    caller = Caller("someone", scope, Transport.REST)
    log = AuditLog(services.home.audit_log)
    outcome = perform(OPERATIONS[operation], lambda: services, caller, arguments, log)
    return to_json(outcome) if isinstance(outcome, Answer) else repr(outcome)


def _questions(full: Services, seed: int) -> Sequence[tuple[str, Mapping[str, Any]]]:
    """Return questions that touch everything, places of every scope among them."""
    dice = random.Random(seed)  # noqa: S311 - reproducible, nothing secret
    asked: list[tuple[str, Mapping[str, Any]]] = [
        ("list_projects", {"state": "all"}),
        ("query_self", {"cwd": "/home/aki/shop", "query": _text(dice, 3)}),
        ("read_memory", {"path": "identity/canonical.md", "level": "full"}),
        ("reindex", {}),
        ("reindex", {"rebuild": True}),
    ]
    filters: list[dict[str, Any]] = [
        {},
        {"kind": "decision"},
        {"project": "shop"},
        {"source_type": "slack", "since": "2026-05-01"},
        {"tags": [dice.choice(WORDS)]},
    ]
    for chosen in filters:
        query = {"query": _text(dice, dice.randint(1, 4)), "limit": 50}
        asked.append(("search_knowledge", query | chosen))
    asked.append(("search", {"query": _text(dice, 3)}))
    prompt = _text(dice, 6)
    asked += [("recall", {"prompt": prompt, "session": "one"})] * 3
    for scope in Scope:
        found = full.index.search(scope, _request(_text(dice, 2)))
        for hit in found.hits[:3]:
            asked.append(("get_context", {"chunk_id": hit.chunk_id}))
            asked.append(("fetch", {"id": hit.chunk_id}))
            asked.append(("fetch", {"id": f"{hit.scope}/{hit.path}#{hit.chunk_id}"}))
            asked.append(("read_memory", {"path": f"{hit.scope}/{hit.path}", "level": "full"}))
            asked.append(("read_memory", {"path": hit.path, "follow": True}))
    return asked


def _request(text: str) -> Any:
    from index.model import SearchRequest

    return SearchRequest(text)


# one vault with vectors is enough: embedding takes the time
@pytest.mark.parametrize(
    ("seed", "with_vectors"), [(0, True), (0, False), (1, False), (2, False), (3, False)]
)
def test_answers_on_a_full_home_equal_those_where_the_rest_never_was(
    tmp_path: Path, embedder: Embedder, seed: int, with_vectors: bool
) -> None:
    engine = embedder if with_vectors else None
    home = Home(tmp_path / "full")
    home.create()
    _random_vaults(home, seed)
    index_home(home, engine)
    full = _services(home, engine)
    different = set()
    for scope in Scope:
        bare = _only_readable(home, scope, tmp_path / scope.value)
        index_home(bare, engine, scope.readable)
        alone = _services(bare, engine)
        for operation, arguments in _questions(full, seed):
            answer = _ask(full, scope, operation, arguments)
            assert answer == _ask(alone, scope, operation, arguments), (scope, arguments)
            different.add(answer)
        saved = {"kind": "learning", "title": "t", "content": _text(random.Random(seed), 9)}  # noqa: S311
        assert _ask(full, scope, "save_insight", saved) == _ask(alone, scope, "save_insight", saved)
    assert len(different) > 30, "the questions must have been answered"


def test_a_fact_saved_by_one_client_reaches_the_right_one_and_no_other(
    library: Home, tmp_path: Path, embedder: Embedder
) -> None:
    work = tmp_path / "job"
    work.mkdir()
    rules = {"CE_SCOPE_RULE": f'[{{"path": "{work}/**", "scope": "work"}}]'}
    fact = "決済の冪等キーは注文番号と試行回数から作る"
    with serving(library, CE_API__REQUESTS_PER_MINUTE="1000") as running:
        arguments = {"kind": "decision", "title": "冪等キーの作り方", "content": fact}
        saved = running.call(Scope.WORK, "save_insight", arguments).json()
        index_home(library, embedder)

        async def ask(client: Any) -> list[str]:
            found = await call(client, "search_knowledge", query="冪等キーはどう作る?")
            return [hit["path"] for hit in found["results"]]

        assert saved["path"] in over_stdio(library, work, ask, settings=rules)
        assert saved["path"] not in over_stdio(library, tmp_path, ask, settings=rules)
        assert saved["path"] in over_http(running, Scope.WORK, ask)
        assert saved["path"] not in over_http(running, Scope.PUBLIC, ask)
        for scope in (Scope.PUBLIC, Scope.PERSONAL):
            reply = running.call(scope, "read_memory", {"path": saved["path"]})
            assert reply.status_code == 404
            assert fact not in running.call(scope, "query_self", {"query": fact}).text

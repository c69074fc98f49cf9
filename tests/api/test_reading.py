"""Reading compressed: what a question concerns, and the notes that a note links to."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.audit import AuditLog
from api.caller import Caller, Transport
from api.dispatch import perform
from api.operations.base import Answer, Services
from api.operations.budget import MIN_BUDGET, cost
from api.operations.outline import best_sections, outline
from api.operations.registry import OPERATIONS
from context_engine.home import Home
from context_engine.scopes import Scope
from index.search import Searcher

MINUTES = """\
# 議事録

## 決定

### キュー

ライセンスの都合でRedisをやめることにした。
だからキューはValkeyにした。

### 通知

通知はメールにする。なぜかは分からないが、そう言われた。

## Deployment

The deploy is slow because the image is built twice.
It is done on the first Monday of the month.

## 雑談

昼ごはんはカレーにした。
"""


def _read(home: Home, scope: Scope = Scope.WORK, /, **arguments: Any) -> Any:
    services = Services(home=home, index=Searcher(home, None))
    caller = Caller("cursor", scope, Transport.MCP)
    log = AuditLog(home.audit_log)
    outcome = perform(OPERATIONS["read_memory"], lambda: services, caller, arguments, log)
    assert isinstance(outcome, Answer), outcome
    return outcome


def _write(home: Home, scope: Scope, path: str, text: str) -> None:
    place = home.vault(scope) / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")


def _outlined(body: str, query: str) -> list[str]:
    found = outline(body, query)
    return found.keep(len(found.lines)).split("\n")


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        # grammar that every line shares (に, した, は) decides nothing
        ("なぜキューをValkeyにしたのか", ["だからキューはValkeyにした。"]),
        ("why is the deploy slow?", ["The deploy is slow because the image is built twice."]),
        ("slow deployments", ["The deploy is slow because the image is built twice."]),
        ("ﾗｲｾﾝｽ", ["ライセンスの都合でRedisをやめることにした。"]),
        # a heading that matches brings a line of what it is about
        ("雑談", ["昼ごはんはカレーにした。"]),
    ],
)
def test_key_lines_are_those_the_question_concerns(query: str, shown: list[str]) -> None:
    assert [line for line in _outlined(MINUTES, query) if not line.startswith("#")] == shown


def test_headings_above_a_line_are_kept_longest() -> None:
    found = outline(MINUTES, "Valkey")

    assert found.keep(4).split("\n") == [
        "# 議事録",
        "## 決定",
        "### キュー",
        "だからキューはValkeyにした。",
    ]


def test_many_headings_that_the_question_does_not_concern_are_left_out() -> None:
    talk = "\n\n".join(f"## aki · {n}\n\n{n}番目の話。" for n in range(500))
    body = f"# 相談\n\n{talk}\n\n## aki · 500\n\n締めは落ち葉の匂い。\n"
    found = outline(body, "落ち葉")

    assert _outlined(body, "落ち葉") == ["# 相談", "## aki · 500", "締めは落ち葉の匂い。"]
    assert (found.left_out, found.matched) == (500, True)


def test_of_a_long_line_the_sentences_that_answer_are_shown() -> None:
    body = (
        "まえがき。" * 100 + "ライセンスが理由。" + "つづき。" * 100 + "Valkeyに替えた。" + "末尾。"
    )
    (line,) = _outlined(body, "Valkey ライセンス")

    assert line == "…ライセンスが理由。…Valkeyに替えた。…"


def test_without_a_shared_word_the_plain_outline_is_given_and_said(library: Home) -> None:
    plain = _read(library, path="work/runbook.md")
    asked = _read(library, path="work/runbook.md", query="量子もつれ")

    assert asked.text == plain.text
    assert "shares a word" in asked.warnings[0]


def test_a_section_without_text_brings_what_stands_below_it() -> None:
    found = best_sections("# Top\n\n## Deploy\n\n### Steps\n\nRun it.\n\n## Other\n\nx\n", "deploy")

    assert found == ("## Deploy\n\n", "### Steps\n\nRun it.")


@given(st.text(max_size=400), st.text(min_size=1, max_size=60))
def test_any_note_can_be_outlined_by_any_question(body: str, query: str) -> None:
    found = outline(body, query)
    for line in found.lines:
        assert len(line.text) <= 210
    assert len(found.keep(len(found.lines))) <= 2 * len(body) + 100
    best_sections(body, query)


def test_following_outlines_the_linked_notes_by_the_question(library: Home) -> None:
    path = "work/knowledge/decision/2026-11-02-use-valkey-3f9a2c01b7de.md"

    alone = _read(library, path=path, query="復元 backup")
    followed = _read(library, path=path, query="復元 backup", follow=True)

    assert alone.linked == ()
    assert [note.path for note in followed.linked] == ["work/runbook.md", "work/projects/shop.md"]
    runbook = followed.linked[0]
    assert "復元は月に一度ためす" in runbook.text
    assert "SHOP-4711" not in runbook.text
    assert (runbook.title, runbook.confidence) == ("Runbook", "note")


def test_only_notes_of_the_same_vault_are_followed_and_the_rest_is_as_if_it_were_not(
    library: Home,
) -> None:
    secret = library.vault(Scope.PERSONAL) / "identity" / "canonical.md"
    (library.vault(Scope.WORK) / "soft.md").symlink_to(secret)
    targets = (
        "../personal/identity/canonical.md",
        "personal/identity/canonical.md",
        "/etc/passwd",
        "soft.md",
        "nothing.md",
        ".git/config.md",
        "%2e%2e/personal/identity/canonical.md",
        "a%00b.md",
    )
    hostile = " ".join(f"[x]({target}) [[{target}]]" for target in targets)
    _write(library, Scope.WORK, "hostile.md", f"# H\n\n{hostile} [me](hostile.md) [[runbook]]\n")
    _write(library, Scope.WORK, "plain.md", "# H\n\n[[runbook]]\n")

    hostile_answer = _read(library, path="hostile.md", follow=True)

    assert [note.path for note in hostile_answer.linked] == ["work/runbook.md"]
    assert hostile_answer.linked == _read(library, path="plain.md", follow=True).linked


def test_a_public_note_s_links_stay_in_the_public_vault(library: Home) -> None:
    _write(library, Scope.PUBLIC, "open.md", "# Open\n\n[[runbook]] [[work/runbook]] [[shared]]\n")
    _write(library, Scope.PUBLIC, "deep/shared.md", "# Shared\n\nfor all\n")
    _write(library, Scope.WORK, "shared.md", "# Ours\n\nnot for all\n")

    for scope in Scope:
        answer = _read(library, scope, path="public/open.md", follow=True)
        assert [note.path for note in answer.linked] == ["public/deep/shared.md"]


def test_a_wiki_link_finds_its_note_by_name_wherever_it_lies(library: Home) -> None:
    _write(library, Scope.WORK, "a.md", "# A\n\nSee [[Shop]], [[会議メモ|the notes]].\n")
    _write(library, Scope.WORK, "meetings/2026/会議メモ.md", "# 会議\n\n決まったこと\n")

    answer = _read(library, path="a.md", level="full", follow=True)

    places = ["work/projects/shop.md", "work/meetings/2026/会議メモ.md"]
    assert [link.path for link in answer.links] == places
    assert [note.path for note in answer.linked] == places


@pytest.mark.parametrize("budget", [MIN_BUDGET, 900, 2000, 6000])
def test_followed_notes_keep_within_the_budget_and_leave_the_note_its_share(
    library: Home, budget: int
) -> None:
    names = [f"n{number}" for number in range(15)]
    body = "\n\n".join(f"## 章{n}\n\n{n}の話はここまで。\n" for n in range(40))
    for name in names:
        _write(library, Scope.WORK, f"{name}.md", f"# {name}\n\n{body}")
    listed = " ".join(f"[[{name}]]" for name in names)
    _write(library, Scope.WORK, "hub.md", f"# Hub\n\n{listed}\n\n{body}")

    answer = _read(library, path="hub.md", follow=True, budget=budget)

    assert cost(answer) <= budget
    if budget > MIN_BUDGET:
        assert answer.text.startswith("# Hub")
        assert len(answer.linked) >= 1
    assert len(answer.linked) <= 10


def test_a_linked_note_carries_its_own_warning_and_a_file_that_is_gone_is_said(
    library: Home, tmp_path: Path
) -> None:
    repo = tmp_path / "repo"
    repo.mkdir()
    (repo / "old.py").write_text("x", encoding="utf-8")
    later = datetime(2026, 11, 3, tzinfo=UTC).timestamp()
    os.utime(repo / "old.py", (later, later))
    refs = "".join(f"  - {{repo: {repo}, path: {p}, commit: null}}\n" for p in ("old.py", "no.py"))
    refs += f"  - {{repo: {tmp_path}/elsewhere, path: far.py, commit: null}}\n"
    head = f"---\ncreated: 2026-11-02T09:00:00Z\nrefs:\n{refs}---\n"
    _write(library, Scope.WORK, "stale.md", f"{head}# Stale\n")
    _write(library, Scope.WORK, "hub.md", "# Hub\n\n[[stale]]\n")

    answer = _read(library, path="hub.md", follow=True)

    assert answer.warnings == ()
    assert answer.linked[0].warnings == (
        "old.py changed since this was written: check before relying on it",
        "no.py is gone since this was written: check before relying on it",
    )


def test_a_note_deleted_at_its_source_says_so_and_is_not_followed(library: Home) -> None:
    gone = "---\ntype: source\nwithdrawn: 2026-12-01T09:00:00Z\n---\n# Old plan\n\ntext\n"
    _write(library, Scope.WORK, "sources/confluence/2026/11/plan-aaaaaaaaaaaa.md", gone)
    _write(library, Scope.WORK, "x.md", "# X\n\n[[plan-aaaaaaaaaaaa]] [[runbook]]\n")
    read = _read(library, path="sources/confluence/2026/11/plan-aaaaaaaaaaaa.md", level="full")
    assert "text" in read.text
    assert any("deleted at the source" in warning for warning in read.warnings)
    followed = _read(library, path="x.md", follow=True)
    assert [note.path for note in followed.linked] == ["work/runbook.md"]

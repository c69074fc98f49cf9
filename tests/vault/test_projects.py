"""Active projects come newest first, told by front matter or by a person's headings."""

from __future__ import annotations

from datetime import timedelta

from context_engine.home import Home
from context_engine.insights import Kind
from context_engine.scopes import Scope
from support.vaults import START, insight
from vault.insights import save_insight
from vault.projects import State, active_projects, project_notes, project_state


def put(home: Home, name: str, text: str) -> None:
    file = home.vault(Scope.WORK) / f"projects/{name}.md"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)


def names(home: Home, **more: object) -> list[str]:
    return [project.name for project in active_projects(home, Scope.WORK, **more)]  # type: ignore[arg-type]  # keywords are forwarded


def test_active_projects_come_newest_first(home: Home) -> None:
    for day, name in enumerate(["古い", "新しい", "最新"]):
        created = START + timedelta(days=day)
        save_insight(home, insight(kind=Kind.PROJECT, subject=name, evidence=name, created=created))
    put(home, "paused", "---\ntitle: 休み\nstate: paused\n---\n")
    put(home, "done", "---\ntitle: 済み\nstate: 完了\n---\n")
    assert names(home) == ["最新", "新しい", "古い"]
    assert names(home, limit=1) == ["最新"]


def test_a_project_tells_goal_next_steps_and_what_happened_last(home: Home) -> None:
    put(
        home,
        "shop",
        "---\ntype: project\ntitle: Shop\nstate: active\ngoal: 秋に公開する\n"
        "next_steps: [決済, 'テスト']\nupdated: 2026-11-01T00:00:00Z\n---\n# Shop\n",
    )
    for day in range(7):
        created = START + timedelta(days=day)
        save_insight(
            home, insight(kind=Kind.PROJECT, subject="shop", evidence=f"{day}", created=created)
        )
    (project,) = active_projects(home, Scope.WORK)
    assert (project.name, project.goal) == ("Shop", "秋に公開する")
    assert project.next_steps == ("決済", "テスト")
    assert [entry.statement.evidence for entry in project.log] == ["6", "5", "4", "3", "2"]
    assert project.updated == START + timedelta(days=6)


def test_goal_and_next_steps_may_stand_below_headings(home: Home) -> None:
    put(
        home,
        "x",
        "# X\n\n## 目標\n\n秋に公開\n\n## Next steps\n\n- [ ] 決済\n- [x] 済み\n1. テスト\n",
    )
    (project,) = active_projects(home, Scope.WORK)
    assert project.state is State.ACTIVE
    assert project.goal == "秋に公開"
    assert project.next_steps == ("決済", "テスト")


def test_a_project_of_which_nothing_is_heard_counts_as_paused(home: Home) -> None:
    save_insight(home, insight(kind=Kind.PROJECT, subject="shop"))
    later = START + timedelta(days=31)
    assert names(home, now=later, silence=timedelta(days=30)) == []
    assert names(home, now=later, silence=timedelta(days=40)) == ["shop"]
    (note,) = project_notes(home, Scope.WORK)
    assert project_state(note).state is State.ACTIVE

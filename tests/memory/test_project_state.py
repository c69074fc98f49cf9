"""A project's note is kept current by its insights; silence pauses it and news wake it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from api.caller import Caller, Transport
from api.operations.base import Services
from api.operations.list_projects import ListProjectsRequest, Wanted, list_projects
from api.operations.query_self import QuerySelfRequest, query_self
from context_engine.clock import ManualClock
from context_engine.home import Home
from context_engine.insights import Kind
from context_engine.scopes import Scope
from index.search import Searcher
from support.vaults import START, insight
from vault.projects import State, active_projects
from workers.consolidation.consolidate import consolidate

CALLER = Caller("test", Scope.WORK, Transport.CLI)


def news(home: Home, project: str, text: str, day: int, **more: Any) -> None:
    told = insight(
        kind=Kind.PROJECT,
        subject=project,
        project=project,
        title=text.rstrip("。."),
        content=text,
        evidence=text,
        created=START + timedelta(days=day),
        event_id=f"{day + 1:032x}",
        **more,
    )
    consolidate(home, told)


def services(home: Home, day: int, silence: int | None = 60) -> Services:
    return Services(
        home=home,
        index=Searcher(home, None),
        clock=ManualClock(START + timedelta(days=day)),
        project_silence=None if silence is None else timedelta(days=silence),
    )


def current(home: Home, day: int, silence: int | None = 60) -> list[str]:
    answer = query_self(services(home, day, silence), CALLER, QuerySelfRequest())
    return [project.name for project in answer.current_projects]


def test_the_active_ones_come_newest_first_and_fall_silent(home: Home) -> None:
    news(home, "shop", "書き出しは法務の確認待ち。", 0)
    news(home, "blog", "The import is done.", 20)
    assert current(home, 30) == ["blog", "shop"]
    assert current(home, 65) == ["blog"]
    assert current(home, 90) == []
    assert current(home, 90, silence=None) == ["blog", "shop"]


def test_a_silent_project_is_listed_as_paused_and_wakes_with_news(home: Home) -> None:
    news(home, "shop", "書き出しは法務の確認待ち。", 0)
    paused = list_projects(services(home, 70), CALLER, ListProjectsRequest(state=Wanted.PAUSED))
    assert [project.state for project in paused.projects] == [State.PAUSED]
    assert "state: active" in (home.vault(Scope.WORK) / "projects/shop.md").read_text()
    news(home, "shop", "書き出しは法務の確認が完了した。", 71)
    assert current(home, 72) == ["shop"]


def test_one_that_its_owner_paused_stays_paused(home: Home) -> None:
    news(home, "shop", "書き出しは法務の確認待ち。", 0)
    file = home.vault(Scope.WORK) / "projects/shop.md"
    file.write_text(file.read_text().replace("state: active", "state: paused"))
    news(home, "shop", "書き出しは法務の確認が完了した。", 1)
    assert current(home, 2) == []


@pytest.mark.parametrize(
    ("goal", "step"),
    [
        ("The goal is to ship orders within five minutes.", "Next we measure the queue."),
        ("目標は注文を五分以内に発送へ渡すこと。", "次は待ち行列を測る。"),
    ],
)
def test_goal_and_next_steps_follow_the_insights_until_a_person_writes_them(
    home: Home, goal: str, step: str
) -> None:
    news(home, "shop", goal, 0)
    news(home, "shop", step, 1)
    (project,) = active_projects(home, Scope.WORK)
    assert project.goal == goal
    assert project.next_steps == (step,)
    assert [entry.title for entry in project.log] == [step.rstrip("。."), goal.rstrip("。.")]
    file = home.vault(Scope.WORK) / "projects/shop.md"
    file.write_text(file.read_text().replace("goal: null", "goal: 自分で書いた目標"))
    assert active_projects(home, Scope.WORK)[0].goal == "自分で書いた目標"


def test_what_was_replaced_is_no_next_step_and_not_in_the_log(home: Home) -> None:
    news(home, "shop", "書き出しは法務の確認待ち。", 0)
    news(home, "shop", "書き出しは法務の確認が完了した。", 3)
    (project,) = active_projects(home, Scope.WORK)
    assert project.next_steps == ()
    assert [entry.title for entry in project.log] == ["書き出しは法務の確認が完了した"]

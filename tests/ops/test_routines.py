"""Routines: run by `up` or by others, alone, remembered, and reported when they keep failing."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from api.review import pending
from api.routines import runner
from api.routines.history import KEPT, History
from api.routines.keeper import Keeper
from api.routines.report import problems, routine_states
from api.routines.runner import SETTLED_SECONDS, found_paths, run_routine
from context_engine.clock import ManualClock
from context_engine.errors import ContextEngineError
from context_engine.home import Home
from context_engine.insights import Confidence
from context_engine.routine_settings import RoutineSettings
from context_engine.scopes import Scope
from context_engine.settings import Settings
from support.archives import write_zip
from support.engine import run, run_json, running, wait_until, write_sessions
from support.takeout import ENGLISH, Turn, as_json
from support.vaults import insight
from vault.insights import save_insight
from workers.liveness import try_lock
from workers.outbox import Outbox
from workers.outbox_report import event_count
from workers.supervisor import take_home

START = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)


def config(home: Home, text: str) -> Settings:
    home.config_file.write_text(text, encoding="utf-8")
    return Settings(home=home.root)


def routine(**fields: object) -> RoutineSettings:
    return RoutineSettings.model_validate({"name": "r", "every": "1h", **fields})


def test_a_run_that_goes_on_is_left_alone(settings: Settings) -> None:
    lock = try_lock(settings.paths.locks / "routine-r.lock")
    assert lock is not None
    assert run_routine(settings, routine(source="reindex")).outcome == "busy"
    lock.close()
    assert run_routine(settings, routine(source="reindex")).outcome == "ok"


def test_the_summary_counts_what_review_would_show_of_the_scope(settings: Settings) -> None:
    save_insight(settings.paths, insight(scope=Scope.WORK, confidence=Confidence.RAW))
    counted = {
        scope: run_routine(settings, routine(source="review-summary", scope=scope)).counts
        for scope in (Scope.WORK, Scope.PUBLIC)
    }
    shown = pending(settings.paths, scopes=(Scope.WORK,)).items
    assert counted[Scope.WORK]["waiting"] == len(shown) == 1
    assert counted[Scope.PUBLIC]["waiting"] == 0


def test_three_failures_in_a_row_are_a_problem_until_one_run_succeeds(home: Home) -> None:
    settings = config(
        home,
        '[[routine]]\nname="notes"\nsource="markdown"\nevery="1h"\n'
        f'paths=["{home.root}/missing"]\n',
    )
    for _ in range(2):
        assert run_routine(settings, settings.routine[0]).outcome == "failed"
    assert problems(routine_states(settings)) == []
    done = run(home, "routine", "run", "notes", "--json")
    assert done.returncode == 1
    assert "no such file" in json.loads(done.stdout)["error"]
    status = run(home, "status", "--json")
    assert status.returncode == 1
    assert "routine notes failed 3 times" in json.loads(status.stdout)["problems"][0]
    with History(home.routines) as history:
        history.end(history.begin("notes"), {}, None)
    assert problems(routine_states(settings)) == []


def test_history_is_bounded_and_a_killed_run_is_a_failure(home: Home) -> None:
    with History(home.routines) as history:
        for _ in range(KEPT + 20):
            history.begin("r")
        runs = history.runs("r", 1000)
        assert len(runs) == KEPT
        assert {(item.outcome, item.error) for item in runs[1:]} == {("failed", "it was killed")}


def test_a_run_that_was_told_to_stop_is_due_again_and_no_failure(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    settings = config(home, '[[routine]]\nname="r"\nsource="reindex"\nevery="1h"\n')
    monkeypatch.setitem(runner._KINDS, "reindex", stopped)
    with pytest.raises(KeyboardInterrupt):
        run_routine(settings, settings.routine[0])
    (state,) = routine_states(settings)
    assert state.last is not None
    assert (state.last.outcome, state.failures) == ("interrupted", 0)
    with History(home.routines) as history:
        assert history.last_started("r") is None


class Engine:
    """A keeper whose runs are small programs, and whose clock a test moves."""

    def __init__(self, home: Home, text: str, program: str) -> None:
        self.settings = config(home, text)
        self.clock = ManualClock(START)
        self.log = home.root / "ran"
        code = f"import sys,time\nopen({str(self.log)!r},'a').write(sys.argv[1]+'\\n')\n{program}"
        self.keeper = Keeper(
            self.settings, clock=self.clock, command=lambda name: [sys.executable, "-c", code, name]
        )

    def ran(self) -> list[str]:
        return self.log.read_text().split() if self.log.exists() else []

    def until_idle(self) -> None:
        wait_until(lambda: self.keeper.step() != 1.0 or self.idle(), 10)

    def idle(self) -> bool:
        return not self.keeper._children


TWO = """
[[routine]]
name = "hourly"
source = "claude"
every = "1h"
[[routine]]
name = "daily"
source = "markdown"
cron = "0 10 * * *"
zone = "UTC"
"""


def test_what_is_due_starts_and_what_rests_does_not(home: Home) -> None:
    engine = Engine(home, TWO, "")
    engine.keeper.step()
    wait_until(lambda: engine.ran() == ["hourly"], 10)
    engine.clock.advance(3600)
    with History(home.routines, engine.clock) as history:
        history.begin("hourly")
        history.pause("daily", paused=True)
    engine.keeper.step()
    engine.clock.advance(60)
    engine.keeper.step()
    assert engine.ran() == ["hourly"]
    with History(home.routines, engine.clock) as history:
        history.pause("daily", paused=False)
    engine.keeper.step()
    wait_until(lambda: engine.ran() == ["hourly", "daily"], 10)
    engine.keeper.stop()


def test_a_run_that_hangs_is_ended_at_its_timeout(home: Home) -> None:
    engine = Engine(
        home,
        '[[routine]]\nname="slow"\nsource="claude"\nevery="1h"\ntimeout="1s"\n',
        "time.sleep(600)",
    )
    engine.keeper.step()
    assert not engine.idle()
    with History(home.routines, engine.clock) as history:
        history.begin("slow")

    def ended() -> bool:
        engine.keeper.step()
        return engine.idle()

    wait_until(ended, 20)


def test_the_monthly_takeout_is_taken_from_the_download_folder_when_it_is_whole(
    home: Home, tmp_path: Path
) -> None:
    downloads = tmp_path / "ダウンロード"
    downloads.mkdir()
    settings = config(
        home,
        '[[routine]]\nname="takeout"\nsource="takeout"\nevery="1h"\nscope="personal"\n'
        f'paths=["{downloads}/takeout-*.zip"]\n',
    )

    def collected() -> Mapping[str, Any]:
        result = run_routine(settings, settings.routine[0])
        assert result.error is None
        return result.counts

    # as if `up` ran: what is collected is handed over
    with take_home(home):
        assert collected() == {"paths": 0}
        log = json.dumps(as_json([Turn(START, "キューは?", ("<p>Valkey.</p>",))])).encode()
        archive = write_zip(
            downloads / "takeout-20261101T000000Z-001.zip",
            {f"Takeout/{ENGLISH.folder}/{ENGLISH.file}.json": log},
        )
        assert collected() == {"paths": 0}, "it may still be downloading"
        before = time.time() - SETTLED_SECONDS - 5
        os.utime(archive, (before, before))
        assert collected()["new"] == 1
        again = collected()
    assert (again["new"], again["unchanged"]) == (0, 1)
    with History(home.routines) as history:
        runs = history.runs("takeout")
    assert [item.counts["paths"] for item in runs] == [1, 1, 0, 0]


def test_up_runs_what_is_due_and_works_it_off(home: Home, tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    write_sessions(folder, sessions=1, messages=2)
    config(
        home,
        f'[[routine]]\nname="claude"\nsource="claude"\nevery="1h"\npaths=["{folder}"]\n',
    )
    with running(home):
        outbox = Outbox(home.outbox)
        wait_until(lambda: event_count(outbox) > 0)
        wait_until(lambda: bool(list(home.vaults.rglob("sources/**/*.md"))))
    listed = run_json(home, "routine", "list")["routines"]
    assert listed[0]["last"]["outcome"] == "ok"
    assert listed[0]["failures"] == 0


def test_patterns_take_what_is_there_and_names_must_be_there(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(b"")
    shutil.copytree(tmp_path, tmp_path / "sub")
    later = time.time() + 100
    found = found_paths((f"{tmp_path}/**/*.zip", str(tmp_path / "a.zip")), now=later)
    assert [path.name for path in found] == ["a.zip", "a.zip"]
    assert found_paths((f"{tmp_path}/*.tar",)) == ()
    with pytest.raises(ContextEngineError, match="no such file"):
        found_paths((str(tmp_path / "b.zip"),))

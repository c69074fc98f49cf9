"""An index that is damaged, or that knows nothing of its vault, is found by whoever looks."""

from __future__ import annotations

import json
import random
import shutil

import apsw

from api.doctor import home as of_home
from context_engine.home import Home
from context_engine.scopes import Scope
from context_engine.settings import Settings
from index.checking import look_through
from support.engine import run
from support.notes import index_all, put_note


def fill(home: Home, notes: int) -> None:
    for number in range(notes):
        body = f"# 決定 {number}\n\n" + f"the cache moves to Valkey, reason {number} " * 20
        put_note(home, f"decisions/n{number}.md", body)
    index_all(home, None)


def test_random_bytes_in_the_middle_of_an_index_are_found(settings: Settings) -> None:
    fill(settings.paths, 60)
    assert of_home.index(settings).ok
    path = settings.paths.index(Scope.WORK)
    with apsw.Connection(str(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    with path.open("r+b") as file:
        file.seek(40_000)
        file.write(random.Random(7).randbytes(12_000))  # noqa: S311 - damage, no secret
    found = of_home.index(settings)
    assert not found.ok
    assert found.fix == "context-engine reindex --rebuild"


def test_looking_through_an_index_ends_when_its_time_is_over(settings: Settings) -> None:
    fill(settings.paths, 300)
    assert look_through(settings.paths.index(Scope.WORK))
    assert not look_through(settings.paths.index(Scope.WORK), seconds=0.0)


def test_an_index_that_is_gone_is_said_by_doctor_status_and_query(settings: Settings) -> None:
    home = settings.paths
    fill(home, 3)
    shutil.rmtree(home.state / "index")
    said = "the work vault has 3 notes, the index 0: context-engine reindex"
    found = of_home.index(settings)
    assert (found.ok, found.detail, found.fix) == (False, said, "context-engine reindex")
    status = run(home, "status", "--json")
    assert status.returncode == 1
    assert said in json.loads(status.stdout)["problems"]
    query = run(home, "query", "Valkey", "--scope", "work", "--json")
    assert json.loads(query.stdout)["warnings"] == [said]


def test_notes_that_are_not_indexed_yet_are_a_hint(settings: Settings) -> None:
    fill(settings.paths, 2)
    put_note(settings.paths, "decisions/new.md", "not seen yet")
    found = of_home.index(settings)
    assert found.ok
    assert found.fix == "context-engine reindex"

"""Upgrades: a backup first, one step after the other, and a failed step is tried again."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from api.backup import verify
from api.upgrade import upgrade
from context_engine.home import Home
from context_engine.home_format import format_of
from context_engine.sqlite import connect, migrate


def test_an_old_home_is_backed_up_and_brought_up_to_date(home: Home) -> None:
    done: list[int] = []
    steps = {1: lambda _: done.append(1), 2: lambda _: done.append(2)}
    backup = upgrade(home, steps=steps, wanted=3)
    assert backup is not None
    assert verify(backup).files > 0
    assert (done, format_of(home.root)) == ([1, 2], 3)
    assert upgrade(home, steps=steps, wanted=3) is None


def test_a_step_that_fails_is_where_the_next_upgrade_goes_on(home: Home) -> None:
    done: list[int] = []

    def breaks(_home: Home) -> None:
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        upgrade(home, steps={1: lambda _: done.append(1), 2: breaks}, wanted=3)
    assert format_of(home.root) == 2
    upgrade(home, steps={1: lambda _: done.append(1), 2: lambda _: done.append(2)}, wanted=3)
    assert done == [1, 2]


def test_a_schema_that_is_changed_leaves_the_old_file_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    first = ("CREATE TABLE a(x)",)
    connection = connect(path)
    migrate(connection, first, keep=True)
    assert [p.name for p in tmp_path.glob("*.schema*")] == []
    connection.execute("INSERT INTO a VALUES ('前')")
    migrate(connection, (*first, "DROP TABLE a; CREATE TABLE b(x)"), keep=True)
    connection.close()
    kept = apsw.Connection(str(tmp_path / "x.db.schema1"))
    assert kept.execute("SELECT x FROM a").fetchall() == [("前",)]
    kept.close()

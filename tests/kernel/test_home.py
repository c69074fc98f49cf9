"""A home belongs to its owner alone, and its parts lie where they should."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from context_engine.home import Home
from context_engine.scopes import Scope


@pytest.fixture
def open_umask() -> object:
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_every_folder_is_the_owners_alone_whatever_the_umask(
    tmp_path: Path, open_umask: object
) -> None:
    home = Home(tmp_path / "home")
    home.create()
    folders = [home.root, *(path for path in home.root.rglob("*") if path.is_dir())]
    assert len(folders) > 5
    assert {path.name: oct(mode(path)) for path in folders if mode(path) != 0o700} == {}


def test_a_home_that_exists_keeps_what_is_in_it(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.create()
    note = home.vault(Scope.WORK) / "note.md"
    note.write_text("mine")
    home.create()
    assert note.read_text() == "mine"


def test_nothing_is_created_by_asking_where_it_is(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    assert home.index(Scope.PUBLIC).name == "public.db"
    assert not home.root.exists()


def test_vaults_and_indexes_of_the_scopes_are_disjoint(tmp_path: Path) -> None:
    home = Home(tmp_path)
    vaults = [home.vault(scope) for scope in Scope]
    assert len({*vaults, *(home.index(scope) for scope in Scope)}) == 6
    assert not any(a.is_relative_to(b) for a in vaults for b in vaults if a != b)
    assert not any(vault.is_relative_to(home.state) for vault in vaults)

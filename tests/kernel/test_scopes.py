"""The folder one works in decides the scope; the most specific rule wins."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest

from context_engine.scopes import Scope, ScopeRule, scope_for_path

WORK, PERSONAL, PUBLIC = Scope.WORK, Scope.PERSONAL, Scope.PUBLIC


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("/w/**", "/w", True),
        ("/w/**", "/w/", True),
        ("/w/**", "/w/shop", True),
        ("/w/**", "/w/shop/src/deep", True),
        ("/w/**", "/wx", False),
        ("/w/**", "/", False),
        ("/w", "/w", True),
        ("/w", "/w/shop", False),
        ("/w/*", "/w/shop", True),
        ("/w/*", "/w/shop/src", False),
        ("/w/*/docs", "/w/shop/docs", True),
        ("/w/*/docs", "/w/shop/src/docs", False),
        ("/w/**/docs", "/w/docs", True),
        ("/w/**/docs", "/w/shop/src/docs", True),
        ("/w/client-*/**", "/w/client-a/x", True),
        ("/w/client-*/**", "/w/client/x", False),
        ("/w/a.b/**", "/w/axb/c", False),
        ("/仕事/**", "/仕事/店", True),
        ("/w/**", "/w/../home", False),
        ("/w/**", "/home/../w/shop", True),
    ],
)
def test_a_rule_covers_what_its_pattern_says(pattern: str, path: str, *, matches: bool) -> None:
    rules = [ScopeRule(pattern, WORK)]
    assert (scope_for_path(path, rules) is WORK) is matches


def test_the_most_specific_rule_wins_in_whatever_order_they_are_written() -> None:
    rules = [
        ScopeRule("/home/aki/**", PERSONAL),
        ScopeRule("/home/aki/work/**", WORK),
        ScopeRule("/home/aki/work/open/**", PUBLIC),
    ]
    for order in permutations(rules):
        assert scope_for_path("/home/aki/notes", order) is PERSONAL
        assert scope_for_path("/home/aki/work/shop", order) is WORK
        assert scope_for_path("/home/aki/work/open/tool", order) is PUBLIC


def test_a_tilde_is_the_owners_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    rules = [ScopeRule("~/work/**", WORK)]
    assert scope_for_path(str(tmp_path / "work/shop"), rules) is WORK
    assert scope_for_path("/elsewhere/work/shop", rules) is PERSONAL


def test_a_linked_folder_has_the_scope_of_its_rule(tmp_path: Path) -> None:
    real = tmp_path / "disk" / "work"
    real.mkdir(parents=True)
    (tmp_path / "work").symlink_to(real)
    rules = [ScopeRule(f"{tmp_path}/work/**", WORK)]
    assert scope_for_path(str(real / "shop"), rules) is WORK
    assert scope_for_path(str(tmp_path / "work" / "shop"), rules) is WORK


def test_what_no_rule_covers_has_the_default_scope() -> None:
    assert scope_for_path("/x", []) is PERSONAL
    assert scope_for_path("/x", [ScopeRule("/w/**", WORK)], PUBLIC) is PUBLIC


def test_a_scope_reads_itself_and_what_is_public_and_nothing_else() -> None:
    assert WORK.readable == (WORK, PUBLIC)
    assert PERSONAL.readable == (PERSONAL, PUBLIC)
    assert PUBLIC.readable == (PUBLIC,)

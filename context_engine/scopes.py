"""Scopes and the path rules that give a local caller its scope."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class Scope(StrEnum):
    """Three disjoint vaults. `public` is readable by all, the other two only by themselves."""

    PERSONAL = "personal"
    WORK = "work"
    PUBLIC = "public"

    @property
    def readable(self) -> tuple[Scope, ...]:
        """The scopes whose notes a caller of this scope may read, its own first."""
        return (self,) if self is Scope.PUBLIC else (self, Scope.PUBLIC)


@dataclass(frozen=True, slots=True)
class ScopeRule:
    """`pattern` is a path glob with `~`, `*` (within one folder) and `**` (any depth)."""

    pattern: str
    scope: Scope


def _compile(pattern: str) -> re.Pattern[str]:
    expanded = str(_resolved(Path(pattern).expanduser()))
    pieces: list[str] = []
    for piece in re.split(r"(/\*\*/?|\*\*|\*)", expanded):
        if piece.startswith("/**"):
            # `~/work/**` covers ~/work itself and all below it
            pieces.append(r"(?:/.*)?" if not piece.endswith("/") else r"/(?:.*/)?")
        elif piece == "**":
            pieces.append(r".*")
        elif piece == "*":
            pieces.append(r"[^/]*")
        else:
            pieces.append(re.escape(piece))
    return re.compile("".join(pieces) + r"/?\Z")


def _resolved(path: Path) -> Path:
    """Return `path` with the links of its literal beginning followed.

    A working directory is known by its real path, a rule by the one a person uses.
    """
    literal = Path(*itertools.takewhile(lambda part: "*" not in part, path.parts))
    return literal.resolve() / path.relative_to(literal)


def _specificity(rule: ScopeRule) -> tuple[int, int]:
    literal = rule.pattern.split("*", 1)[0]
    return (literal.count("/"), len(literal))


def scope_for_path(path: str, rules: Sequence[ScopeRule], default: Scope = Scope.PERSONAL) -> Scope:
    """Return the scope of the most specific rule that matches `path`, else `default`."""
    # `~/work/../secret` is not below ~/work
    asked = {os.path.normpath(path), str(Path(path).resolve())}
    for rule in sorted(rules, key=_specificity, reverse=True):
        if any(_compile(rule.pattern).match(each) for each in asked):
            return rule.scope
    return default

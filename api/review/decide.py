"""Deciding: accept, edit, merge, reject, change kind or scope, undo. A person's alone."""

from __future__ import annotations

from collections.abc import Sequence

from api.review.model import Choice, Desk, Edit, Report
from context_engine.insights import Kind
from context_engine.scopes import Scope


def accept(desk: Desk, choices: Sequence[Choice]) -> Report:
    """Make insights `validated`, sealed with their content, the reviewer and the time.

    REFUSED for one that its source deleted.
    """
    raise NotImplementedError


def edit(desk: Desk, choice: Choice, changes: Edit, *, accepted: bool = False) -> Report:
    """Change what an insight says; raw until it is accepted, at once with `accepted`."""
    raise NotImplementedError


def merge(desk: Desk, choices: Sequence[Choice], into: str) -> Report:
    """Take the evidence of `choices` into the insight `into`, and take them out.

    REFUSED for one of another scope.
    """
    raise NotImplementedError


def reject(desk: Desk, choices: Sequence[Choice]) -> Report:
    """Take insights out; neither their words nor their evidence come back by extraction."""
    raise NotImplementedError


def set_place(  # noqa: PLR0913 - one parameter a thing to change
    desk: Desk,
    choices: Sequence[Choice],
    *,
    kind: Kind | None = None,
    scope: Scope | None = None,
    subject: str | None = None,
    widen: bool = False,
) -> Report:
    """Move insights to another kind or scope; each gets a new id.

    `subject`: whom or what it is about, for kinds `person` and `project` (default: what it names).
    A scope that other readers see is REFUSED unless `widen` says that a person confirmed it. What
    leads back into the old vault (source link, event, refs) is left behind.
    """
    raise NotImplementedError


def reseal(desk: Desk, choices: Sequence[Choice]) -> Report:
    """Seal insights that say `validated` without a valid seal, as a person confirms they are."""
    raise NotImplementedError


def add_to_identity(desk: Desk, choice: Choice, visibility: Scope = Scope.PERSONAL) -> Report:
    """Append what an insight says to `identity/canonical.md`, seen as far as `visibility`.

    The insight is accepted with it.
    """
    raise NotImplementedError


def undo(desk: Desk, batch: str | None = None) -> Report:
    """Take a decision back, the latest by default. A note that changed since stays (CHANGED).

    Raises UsageError when there is no such decision.
    """
    raise NotImplementedError

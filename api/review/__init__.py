"""Review: a person decides what is true. No operation: not reachable over MCP or with a token.

    desk = Desk(home, reviewer="owner", place="dashboard", notify=OutboxNotifier(settings))
    page = pending(desk.home, scopes=(Scope.WORK,), limit=50)
    report = accept(desk, [Choice(page.items[0].insight_id, page.items[0].content_hash)])
    undo(desk, report.batch)

All functions take ids of 12 hex digits, work with the engine running or not, and from several
processes at once; each decision is one batch of the journal and can be undone. Errors: UsageError
for what cannot be meant; everything about single insights is in the report.
"""

from __future__ import annotations

from api.review.decide import accept, add_to_identity, edit, merge, reject, reseal, set_place, undo
from api.review.look import batches, find, pending, similar, summary
from api.review.model import (
    Batch,
    Choice,
    Desk,
    Done,
    Edit,
    Item,
    Page,
    Report,
    Result,
    Similar,
    Summary,
)

__all__ = [
    "Batch",
    "Choice",
    "Desk",
    "Done",
    "Edit",
    "Item",
    "Page",
    "Report",
    "Result",
    "Similar",
    "Summary",
    "accept",
    "add_to_identity",
    "batches",
    "edit",
    "find",
    "merge",
    "pending",
    "reject",
    "reseal",
    "set_place",
    "similar",
    "summary",
    "undo",
]

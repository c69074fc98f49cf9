"""Quotes from what is forgotten that other insights carry as further evidence."""

from __future__ import annotations

from api.forgetting.plan import Plan
from context_engine.home import Home
from context_engine.scopes import Scope
from vault.insight_files import change_file, files_with
from vault.notefile import NoteText, with_front
from vault.paths import vault_root
from vault.succession import EVIDENCE


def strip_evidence(home: Home, plan: Plan) -> None:
    """Take the quotes of these events out; the insight itself, said elsewhere too, stays."""
    events = frozenset(plan.events)
    needles = [event.encode() for event in events]

    def speaks(data: bytes) -> bool:
        return any(needle in data for needle in needles)

    for scope in Scope if events else ():
        for path in list(files_with(vault_root(home, scope), speaks)):
            change_file(home, scope, path, lambda note: _without(note, events), lambda _: None)


def _without(note: NoteText, events: frozenset[str]) -> str | None:
    listed = note.front.get(EVIDENCE)
    if not isinstance(listed, list):
        return None
    left = [one for one in listed if not (isinstance(one, dict) and one.get("event") in events)]
    if len(left) == len(listed):
        return None
    return with_front(note, {EVIDENCE: left or None}, EVIDENCE) + note.body

"""Files of the vaults and of the state: removed, or overwritten where a name stands in a log."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from api.forgetting.plan import Plan, Section, forms
from api.review.journal import changes_in, folder_of
from api.review.scan import item_at
from context_engine.errors import BadInputError, NoteConflictError
from context_engine.home import Home
from context_engine.scopes import Scope
from vault.insight_files import change_file, lock_key
from vault.locks import note_lock
from vault.paths import vault_root
from vault.rulings import Ruled, drop_section
from vault.store import clean_leftovers, read_or_none, remove

_TRIES = 5


def remove_notes(home: Home, plan: Plan) -> None:
    """Delete the notes and the sections; what is gone already is passed over."""
    for scope, path in plan.notes:
        _remove(home, scope, path)
    for section in plan.sections:
        _drop(home, section)
    # a temporary file of a writer that was killed may hold the text
    clean_leftovers(home)


def purge_journal(home: Home, plan: Plan) -> None:
    """Delete the decisions of the review that hold what is forgotten; they cannot be undone."""
    # what it kept of a subject's note, for the sake of another section, holds this one too
    paths = [path for _, path in plan.notes] + [part.path for part in plan.sections]
    needles = [json.dumps(path, ensure_ascii=False).encode() for path in paths]
    needles += [insight.encode() for insight in plan.insights]
    events = [event.encode() for event in plan.events]
    for path in folder_of(home).glob("*.jsonl"):
        data = path.read_bytes()
        if any(needle in data for needle in needles) or _quotes(path, events):
            _overwrite(path, len(data))
            path.unlink()


def _quotes(path: Path, events: Sequence[bytes]) -> bool:
    """Tell whether a note that the journal kept carries a quote from one of the events."""
    kept = (change.before or b"" for change in changes_in(path))
    return any(event in note for note in kept for event in events)


def blacken_logs(home: Home, phrases: Sequence[str]) -> None:
    """Overwrite titles and file names in the logs, in place: their writers have them open."""
    needles = forms(phrases)
    for path in _logs(home):
        with suppress(FileNotFoundError):
            _blacken(path, needles)


def _remove(home: Home, scope: Scope, path: str) -> None:
    root = vault_root(home, scope)
    with note_lock(home, scope, lock_key(path)):
        for _ in range(_TRIES):
            seen = read_or_none(root, path)
            if seen is None:
                return
            with suppress(NoteConflictError):
                remove(root, path, seen)
                return
    raise NoteConflictError(path)


def _drop(home: Home, section: Section) -> None:
    item = item_at(home, section.insight_id)
    if item is None:
        return
    at = Ruled(home, section.scope, item.kind, section.path, section.insight_id)
    with suppress(BadInputError):
        change_file(home, section.scope, section.path, lambda _: None, partial(drop_section, at))


def _logs(home: Home) -> Iterator[Path]:
    yield from (path for path in home.logs.rglob("*") if path.is_file())
    yield from home.state.glob("*.jsonl*")
    yield from home.state.glob("audit*")
    yield from home.broker.glob("*.log")


def _blacken(path: Path, needles: frozenset[bytes]) -> None:
    data = path.read_bytes()
    places = [
        (start, len(needle)) for needle in needles if needle for start in _places(data, needle)
    ]
    if not places:
        return
    with path.open("r+b") as file:
        for start, length in places:
            file.seek(start)
            file.write(b"x" * length)


def _places(data: bytes, needle: bytes) -> Iterator[int]:
    start = data.find(needle)
    while start >= 0:
        yield start
        start = data.find(needle, start + len(needle))


def _overwrite(path: Path, length: int) -> None:
    with path.open("r+b") as file:
        file.write(b"\n" * length)

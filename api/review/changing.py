"""Changing files under review: one reviewer at a time, journalled first, over nobody's save."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from api.review.journal import Journal
from api.review.model import Choice, Desk, Done, Item, Report, Result
from api.review.scan import item_at
from context_engine.errors import (
    BadInputError,
    NoteConflictError,
    NotFoundError,
    UnsafePathError,
)
from context_engine.scopes import Scope
from index.schema import locked
from vault.blocks import parse_body
from vault.insight_files import lock_key
from vault.locks import note_lock
from vault.notefile import NoteText, decode_note, title_of
from vault.paths import vault_root
from vault.rulings import Ruled
from vault.seals import Vouch, note_content, section_content
from vault.store import read_or_none, remove, write
from vault.subjects import is_blank
from vault.tombstones import Grave, bury

Change = Callable[[NoteText], str | None]
"""Gives the note's new text; None deletes it."""

Decide = Callable[["Decision", Item], Done]
"""Decides on one insight that was found and says what was expected."""

_REFUSING = (BadInputError, NoteConflictError, UnsafePathError, NotFoundError)


@dataclass(frozen=True)
class Decision:
    """One decision under way."""

    desk: Desk
    journal: Journal
    now: datetime

    @property
    def vouch(self) -> Vouch:
        """Who decides, and when."""
        return Vouch(self.desk.by, self.now)

    def at(self, item: Item) -> Ruled:
        """Return where an insight stands."""
        return Ruled(self.desk.home, item.scope, item.kind, item.path, item.insight_id)

    def change(self, item: Item, change: Change) -> None:
        """Change the file that holds an insight.

        Raises NoteConflictError when it says something else than `item` by now, or somebody saves
        it at this moment; NotFoundError when it went.
        """
        root = vault_root(self.desk.home, item.scope)
        with note_lock(self.desk.home, item.scope, lock_key(item.path)):
            seen = read_or_none(root, item.path)
            if seen is None:
                raise NotFoundError(f"{item.place} is gone")
            note = decode_note(seen.data, item.path)
            if _content(note, item) != item.content_hash:
                # what is sealed is what was looked at, not what a tool put there a moment ago
                raise NoteConflictError(item.place)
            data = _changed(note, item.path, change)
            self.journal.change(item.scope, item.path, seen.data, data, item.insight_id)
            if data is None:
                remove(root, item.path, seen)
            else:
                write(root, item.path, data, seen)
        self.desk.notify(item.scope, item.path)

    def bury(self, item: Item, graves: Sequence[Grave]) -> None:
        """Set tombstones, so that an insight does not come back."""
        self.journal.graves(graves, item.insight_id)
        bury(self.desk.home, graves, self.now)


def decide(desk: Desk, action: str, choices: Sequence[Choice], one: Decide) -> Report:
    """Decide on each chosen insight; a problem with one stops none of the others."""
    with reviewing(desk):
        now = desk.clock.now()
        decision = Decision(desk, Journal(desk.home, action, desk.by, now), now)
        done = tuple(_decided(decision, choice, one) for choice in unique(choices))
        used = decision.journal.used
        return Report(action, decision.journal.batch if used else None, done)


@contextmanager
def reviewing(desk: Desk) -> Iterator[None]:
    """Let one process decide at a time."""
    desk.home.locks.mkdir(mode=0o700, parents=True, exist_ok=True)
    with locked(desk.home.locks / "review.lock", fcntl.LOCK_EX):
        yield


def unique(choices: Sequence[Choice]) -> tuple[Choice, ...]:
    """Return the choices without repetitions."""
    return tuple({choice.insight_id: choice for choice in choices}.values())


def finished(item: Item, reason: str | None = None) -> Done:
    """Return that a decision on `item` was carried out."""
    return Done(item.insight_id, item.insight_id, Result.DONE, item.place, reason)


def refused(item: Item, reason: str) -> Done:
    """Return that a decision on `item` is not possible."""
    return Done(item.insight_id, item.insight_id, Result.REFUSED, item.place, reason)


def write_back(
    desk: Desk, scope: Scope, path: str, expected: str | None, data: bytes | None
) -> bool:
    """Put back what a file held, when it still is as the decision left it; tell whether it was."""
    root = vault_root(desk.home, scope)
    with note_lock(desk.home, scope, lock_key(path)):
        seen = read_or_none(root, path)
        if (seen.data if seen else None) == data:
            return True
        if (seen.digest if seen else None) != expected:
            return False
        if data is not None:
            write(root, path, data, seen)
        elif seen is not None:
            remove(root, path, seen)
    desk.notify(scope, path)
    return True


def _decided(decision: Decision, choice: Choice, one: Decide) -> Done:
    item = item_at(decision.desk.home, choice.insight_id)
    if item is None:
        reason = "no vault holds an insight with this id"
        return Done(choice.insight_id, choice.insight_id, Result.NOT_FOUND, None, reason)
    if choice.content_hash not in (None, item.content_hash):
        reason = "it says something else than what was shown; look at it again"
        return Done(item.insight_id, item.insight_id, Result.CHANGED, item.place, reason)
    try:
        return one(decision, item)
    except _REFUSING as error:
        return refused(item, str(error))


def _content(note: NoteText, item: Item) -> str | None:
    if item.subject is None:
        return note_content(note.front, note.body)
    blocks = parse_body(note.body).blocks
    block = next((each for each in blocks if each.marker == item.insight_id), None)
    return section_content(title_of(note, item.path), block) if block else None


def _changed(note: NoteText, path: str, change: Change) -> bytes | None:
    text = change(note)
    if text is None:
        return None
    data = text.encode("utf-8", "replace")
    return None if is_blank(decode_note(data, path)) else data

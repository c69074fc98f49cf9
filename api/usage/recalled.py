"""The memory of recall: what each session's prompts have come near to, turn by turn.

A note's score of this turn is added to its running score, which decays each turn. So a topic that
is held passes the threshold, and one that is touched in passing never does: a note that scores s
each turn comes to s / (1 - DECAY) at most.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from api.usage.log import UsageLog
from context_engine.scopes import Scope

if TYPE_CHECKING:
    import apsw

DECAY = 0.6
THRESHOLD = 1.0
_FORGOTTEN = 0.05


@dataclass(frozen=True)
class Turn:
    """One prompt of one session, and what it came near to."""

    session: str
    """A `session_id`."""
    scope: Scope
    scores: Mapping[str, float]
    """Note id → score of this turn, the likeliest first."""
    at_once: Collection[str]
    """Notes that share something distinctive with the prompt."""


def began(usage: UsageLog, session: str) -> float:
    """Return when a session was first seen, in seconds since the epoch: now, for a new one."""

    def work(db: apsw.Connection, now: float) -> float:
        db.execute(
            "INSERT INTO session(id, began, last) VALUES (?1, ?2, ?2)"
            " ON CONFLICT(id) DO UPDATE SET last=excluded.last",
            (session, now),
        )
        row = db.execute("SELECT began FROM session WHERE id=?", (session,)).fetchone()
        return float(row[0]) if row else now

    return usage.change(work, 0.0)


def take_turn(usage: UsageLog, turn: Turn, most: int) -> tuple[str, ...]:
    """Count the turn; return up to `most` notes that pass now and never did in this session."""

    def work(db: apsw.Connection, now: float) -> tuple[str, ...]:
        _add(db, turn)
        passed = _passing(db, turn)[:most]
        db.executemany(
            "INSERT INTO recalled(session, note, scope, at) VALUES (?,?,?,?)",
            [(turn.session, note, turn.scope.value, now) for note in passed],
        )
        return tuple(passed)

    return usage.change(work, ())


def _add(db: apsw.Connection, turn: Turn) -> None:
    db.execute("UPDATE score SET score=score*? WHERE session=?", (DECAY, turn.session))
    db.executemany(
        "INSERT INTO score(session, note, score) VALUES (?,?,?)"
        " ON CONFLICT(session, note) DO UPDATE SET score=score+excluded.score",
        [(turn.session, note, score) for note, score in turn.scores.items()],
    )
    db.execute("DELETE FROM score WHERE session=? AND score<?", (turn.session, _FORGOTTEN))


def _passing(db: apsw.Connection, turn: Turn) -> list[str]:
    running = {
        str(note): float(score)
        for note, score in db.execute(
            "SELECT note, score FROM score WHERE session=?", (turn.session,)
        )
    }
    told = {
        note for (note,) in db.execute("SELECT note FROM recalled WHERE session=?", (turn.session,))
    }
    # only what this prompt came near to: an older topic is not brought up beside another one
    return [
        note
        for note in sorted(turn.scores, key=lambda note: note not in turn.at_once)
        if note not in told and (note in turn.at_once or running.get(note, 0.0) >= THRESHOLD)
    ]

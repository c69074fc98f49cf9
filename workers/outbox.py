"""The durable side of the queue: every event and every job, in one SQLite file.

An event is acknowledged once it is committed here with an fsync. Redis only transports: it may be
wiped at any moment, because everything unfinished is published again from this file.

States of a job: pending → queued (on Redis) → running → done | quarantined. `waiting` is a job
that some dependency holds up; it has burned no attempt and nobody has to wait for it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import apsw
import orjson

from context_engine.clock import Clock, SystemClock
from context_engine.errors import DependencyDownError
from context_engine.events import Checkpoint, SourceDocument, decode_document, encode_document
from context_engine.home import Home
from context_engine.ids import marker_id
from context_engine.sqlite import connect, immediate, migrate
from workers.outbox_model import Job, NewJob, Outcome
from workers.outbox_schema import MIGRATIONS

RETRY_BACKOFF_SECONDS = (1.0, 15.0)
"""Pause before the second and the third attempt of a job that failed."""


class Outbox:
    """Events and jobs of one home. Thread-safe: one connection a thread."""

    def __init__(self, path: Path, *, clock: Clock | None = None) -> None:
        self.path = path
        self.clock = clock or SystemClock()
        self._local = threading.local()
        path.parent.mkdir(parents=True, exist_ok=True)
        self.created = not path.exists()
        migrate(self.connection(durable=True), MIGRATIONS, keep=True)

    @property
    def home(self) -> Home:
        """The home that this is the outbox of."""
        return Home(self.path.parent.parent)

    # -- acknowledging ----------------------------------------------------------------------

    def commit(
        self,
        source: str,
        documents: Sequence[SourceDocument],
        checkpoints: Sequence[Checkpoint],
        *,
        run_id: str = "",
    ) -> int:
        """Store events, their utterances' keys and the reading state in one fsynced commit.

        Returns how many events were new; an event that is here already is left alone.
        """
        new = 0
        with immediate(self.connection(durable=True)) as db:
            for document in documents:
                new += self._insert_event(db, document, run_id)
            db.executemany(
                "INSERT OR REPLACE INTO checkpoint(source, key, state) VALUES (?,?,?)",
                [(source, c.key, orjson.dumps(dict(c.state))) for c in checkpoints],
            )
        return new

    def _insert_event(self, db: apsw.Connection, document: SourceDocument, run_id: str) -> int:
        now = self.clock.now().timestamp()
        db.execute(
            "INSERT OR IGNORE INTO event(event_id, source, scope, document_id, part, title,"
            " payload, received, run_id) VALUES (?,?,?,?,?,?,?,?,?)",
            (document.event_id, document.source, document.scope.value, document.document_id,
             document.part, document.title, encode_document(document), now, run_id),
        )  # fmt: skip
        if not db.changes():
            return 0
        db.executemany(
            "INSERT OR IGNORE INTO utterance(source, key) VALUES (?,?)",
            [(document.source, _utterance_key(u.native_id)) for u in document.utterances],
        )
        self._add_job(
            db,
            NewJob(
                queue="ingest",
                key=f"ingest:{document.event_id}",
                arguments={},
                lane=document.document_id,
                event_id=document.event_id,
            ),
        )
        return 1

    def checkpoint(self, source: str, key: str) -> Mapping[str, Any] | None:
        """Return the reading state last committed for `key`."""
        row = (
            self.connection()
            .execute("SELECT state FROM checkpoint WHERE source=? AND key=?", (source, key))
            .fetchone()
        )
        state: Mapping[str, Any] | None = orjson.loads(row[0]) if row else None
        return state

    def seen(self, source: str, native_ids: Sequence[str]) -> set[str]:
        """Return those ids that an earlier commit holds."""
        keys = {_utterance_key(native_id): native_id for native_id in native_ids}
        rows = self.connection().execute(
            "SELECT key FROM utterance WHERE source=? AND key IN (SELECT value FROM json_each(?))",
            (source, orjson.dumps(list(keys)).decode()),
        )
        return {keys[key] for (key,) in rows}

    def remember_markers(self, markers: Iterable[tuple[str, str]]) -> None:
        """Take up (source, marker) pairs that the vault's source notes hold."""
        with immediate(self.connection(durable=True)) as db:
            db.executemany("INSERT OR IGNORE INTO utterance(source, key) VALUES (?,?)", markers)

    # -- publishing ---------------------------------------------------------------------------

    def publishable(self, queue: str, limit: int) -> list[Job]:
        """Return up to `limit` pending jobs whose turn it is, oldest first."""
        rows = self.connection().execute(
            _SELECT_JOB  # noqa: S608 - constant text
            + " WHERE j.queue=? AND j.state='pending' AND j.not_before<=?"
            " AND NOT EXISTS (SELECT 1 FROM job e WHERE e.queue=j.queue AND e.lane=j.lane"
            " AND e.job_id<j.job_id AND e.state IN ('pending','queued','running'))"
            " ORDER BY j.job_id LIMIT ?",
            (queue, self.clock.now().timestamp(), limit),
        )
        return [_job(row) for row in rows]

    def mark_queued(self, jobs: Sequence[Job]) -> None:
        """Record that these jobs are about to be on Redis; publish after this, not before."""
        now = self.clock.now().timestamp()
        with immediate(self.connection()) as db:
            db.executemany(
                "UPDATE job SET state='queued', updated=? WHERE job_id=? AND state='pending'",
                [(now, job.job_id) for job in jobs],
            )

    def in_flight(self, queue: str) -> int:
        """Return how many jobs of `queue` are on Redis or with a worker."""
        return self._count("queue=? AND state IN ('queued','running')", (queue,))

    def payload(self, event_id: str) -> bytes | None:
        """Return an event's payload, None once it is in the vault (or was never here)."""
        row = (
            self.connection()
            .execute("SELECT payload FROM event WHERE event_id=?", (event_id,))
            .fetchone()
        )
        return row[0] if row else None

    def document(self, event_id: str) -> SourceDocument | None:
        """Return an event's document, None once it is in the vault."""
        payload = self.payload(event_id)
        return decode_document(payload) if payload is not None else None

    # -- working ------------------------------------------------------------------------------

    def start(self, job_id: int, key: str, worker: str, *, max_attempts: int) -> Job | None:
        """Record an attempt before the work begins.

        Returns None when there is nothing to do: done, given up, in another worker's hands, or
        unknown (`key` guards against messages of an outbox that was deleted since).
        """
        with immediate(self.connection()) as db:
            row = db.execute(
                _SELECT_JOB + " WHERE j.job_id=? AND j.key=?", (job_id, key)
            ).fetchone()
            if row is None or row[7] not in ("pending", "queued"):
                return None
            job = _job(row)
            if job.attempts >= max_attempts:
                self._quarantine(db, job_id, "crash", "a worker died on it each time")
                return None
            db.execute(
                "UPDATE job SET state='running', worker=?, attempts=attempts+1, updated=?"
                " WHERE job_id=?",
                (worker, self.clock.now().timestamp(), job_id),
            )
        return job

    def finish(self, job: Job, outcome: Outcome) -> None:
        """Complete a job, with what follows from it, in one commit."""
        now = self.clock.now().timestamp()
        with immediate(self.connection()) as db:
            # asked for again while it ran: run it once more
            db.execute(
                "UPDATE job SET state=iif(wanted>?,'pending','done'), worker=NULL, updated=?,"
                " attempts=0, error=NULL, error_class=NULL, result=? WHERE job_id=?",
                (job.wanted, now, orjson.dumps(dict(outcome.result)), job.job_id),
            )
            self._follow_up(db, job, outcome)
            if outcome.drop_payload:
                db.execute("UPDATE event SET payload=NULL WHERE event_id=?", (job.event_id,))
            db.execute("INSERT OR REPLACE INTO meta(key, value) VALUES ('last_done', ?)", (now,))

    def note(self, job: Job, outcome: Outcome) -> None:
        """Keep what a job did that is about to fail: its counters, files and what follows."""
        with immediate(self.connection()) as db:
            self._follow_up(db, job, outcome)

    def fail(self, job: Job, error_class: str, error: str, *, max_attempts: int) -> bool:
        """Record a failed attempt; returns True when that was the last and it is quarantined."""
        with immediate(self.connection()) as db:
            attempts = job.attempts + 1
            if attempts >= max_attempts:
                self._quarantine(db, job.job_id, error_class, error)
                return True
            now = self.clock.now().timestamp()
            pause = RETRY_BACKOFF_SECONDS[min(attempts, len(RETRY_BACKOFF_SECONDS)) - 1]
            db.execute(
                "UPDATE job SET state='pending', worker=NULL, updated=?, not_before=?, error=?,"
                " error_class=? WHERE job_id=?",
                (now, now + pause, error, error_class, job.job_id),
            )
        return False

    def wait_for(self, job: Job, down: DependencyDownError, outcome: Outcome | None = None) -> None:
        """Set a job aside until the dependency is back; the attempt is given back.

        outcome: what could be done provisionally.
        """
        done = outcome or Outcome()
        with immediate(self.connection()) as db:
            db.execute(
                "UPDATE job SET state='waiting', worker=NULL, attempts=max(0, attempts-1),"
                " updated=?, error_class=?, error=?, result=? WHERE job_id=?",
                (self.clock.now().timestamp(), down.dependency, down.reason,
                 orjson.dumps(dict(done.result)), job.job_id),
            )  # fmt: skip
            self._follow_up(db, job, done)

    def resume(self, dependency: str) -> int:
        """Make the jobs that waited for `dependency` pending again; returns how many."""
        with immediate(self.connection()) as db:
            db.execute(
                "UPDATE job SET state='pending', error=NULL, error_class=NULL"
                " WHERE state='waiting' AND error_class=?",
                (dependency,),
            )
            return db.changes()

    def has_waiting(self, dependency: str) -> bool:
        """Return whether any job waits for `dependency`."""
        return self._count("state='waiting' AND error_class=?", (dependency,)) > 0

    def add(self, jobs: Sequence[NewJob]) -> None:
        """Add jobs that no event stands behind (a person's edit, a client's save)."""
        with immediate(self.connection(durable=True)) as db:
            for job in jobs:
                self._add_job(db, job)

    def replay(self, job_ids: Sequence[int]) -> int:
        """Give quarantined jobs a fresh start; returns how many there were."""
        with immediate(self.connection(durable=True)) as db:
            db.executemany(
                "UPDATE job SET state='pending', attempts=0, not_before=0"
                " WHERE job_id=? AND state='quarantined'",
                [(job_id,) for job_id in job_ids],
            )
            return db.changes()

    # -- reconciling --------------------------------------------------------------------------

    def running_workers(self) -> set[str]:
        """Return the workers that hold running jobs."""
        rows = self.connection().execute("SELECT DISTINCT worker FROM job WHERE state='running'")
        return {worker for (worker,) in rows}

    def release(self, worker: str, *, max_attempts: int) -> int:
        """Take back what a dead worker held: pending again, or quarantined at the limit."""
        with immediate(self.connection()) as db:
            db.execute(
                "UPDATE job SET worker=NULL, updated=?,"
                " state=iif(attempts>=?,'quarantined','pending'),"
                " error_class=iif(attempts>=?,'crash',error_class),"
                " error=iif(attempts>=?,'a worker died on it each time',error)"
                " WHERE state='running' AND worker=?",
                (self.clock.now().timestamp(), max_attempts, max_attempts, max_attempts, worker),
            )
            return db.changes()

    def give_back(self, worker: str) -> int:
        """Take back what a worker that was told to stop still held; it costs no attempt."""
        with immediate(self.connection()) as db:
            db.execute(
                "UPDATE job SET worker=NULL, updated=?, state='pending',"
                " attempts=max(0, attempts-1) WHERE state='running' AND worker=?",
                (self.clock.now().timestamp(), worker),
            )
            return db.changes()

    def republish(self, queue: str | None = None, *, older_than: float = 0.0) -> int:
        """Make queued jobs pending again because their messages may be gone; returns how many."""
        limit = self.clock.now().timestamp() - older_than
        where, bindings = "state='queued' AND updated<=?", [limit]
        with immediate(self.connection()) as db:
            if queue is None:
                db.execute(f"UPDATE job SET state='pending' WHERE {where}", bindings)  # noqa: S608 - constant text
            else:
                db.execute(
                    f"UPDATE job SET state='pending' WHERE {where} AND queue=?",  # noqa: S608 - constant text
                    [*bindings, queue],
                )
            return db.changes()

    def version(self) -> int:
        """Return a number that changes when another connection has written to the file."""
        row = self.connection().execute("PRAGMA data_version").fetchone()
        return int(row[0]) if row else 0

    def meta(self, key: str) -> str | None:
        """Return a stored fact about this home."""
        row = self.connection().execute("SELECT value FROM meta WHERE key=?", (key,)).fetchone()
        return str(row[0]) if row else None

    def set_meta(self, key: str, value: str) -> None:
        """Store a fact about this home."""
        self.connection().execute(
            "INSERT OR REPLACE INTO meta(key, value) VALUES (?,?)", (key, value)
        )

    def close(self) -> None:
        """Close this thread's connections."""
        for name in ("fast", "durable"):
            connection = getattr(self._local, name, None)
            if connection is not None:
                connection.close()
                delattr(self._local, name)

    # -- inside -------------------------------------------------------------------------------

    def _follow_up(self, db: apsw.Connection, job: Job, outcome: Outcome) -> None:
        for follow_up in outcome.follow_ups:
            self._add_job(db, follow_up)
        db.executemany(
            "INSERT OR IGNORE INTO event_path(event_id, scope, path) VALUES (?,?,?)",
            [(job.event_id, scope, path) for scope, path in outcome.paths],
        )
        db.executemany(
            "INSERT INTO outcome(name, count) VALUES (?,?)"
            " ON CONFLICT(name) DO UPDATE SET count=count+excluded.count",
            list(outcome.outcomes.items()),
        )

    def _add_job(self, db: apsw.Connection, job: NewJob) -> None:
        now = self.clock.now().timestamp()
        again = (
            " DO UPDATE SET wanted=wanted+1, updated=excluded.updated, attempts=0,"
            " state=iif(state IN ('done','quarantined','waiting'),'pending',state)"
            if job.repeatable
            else " DO NOTHING"
        )
        db.execute(
            "INSERT INTO job(key, queue, event_id, arguments, lane, created, updated)"  # noqa: S608 - constant text
            " VALUES (?,?,?,?,?,?,?) ON CONFLICT(key)" + again,
            (job.key, job.queue, job.event_id, orjson.dumps(dict(job.arguments)), job.lane,
             now, now),
        )  # fmt: skip

    def _quarantine(self, db: apsw.Connection, job_id: int, error_class: str, error: str) -> None:
        db.execute(
            "UPDATE job SET state='quarantined', worker=NULL, updated=?, error_class=?, error=?"
            " WHERE job_id=?",
            (self.clock.now().timestamp(), error_class, error, job_id),
        )

    def _count(self, where: str, bindings: Sequence[str]) -> int:
        row = (
            self.connection()
            .execute(f"SELECT count(*) FROM job WHERE {where}", bindings)  # noqa: S608 - constant text
            .fetchone()
        )
        return int(row[0]) if row else 0

    def connection(self, *, durable: bool = False) -> apsw.Connection:
        """Return this thread's connection; durable: commits survive a power loss."""
        name = "durable" if durable else "fast"
        connection: apsw.Connection | None = getattr(self._local, name, None)
        if connection is None:
            connection = connect(self.path, durable=durable)
            setattr(self._local, name, connection)
        return connection


def _utterance_key(native_id: str) -> str:
    return marker_id("utterance", native_id)


_SELECT_JOB = (
    "SELECT j.job_id, j.queue, j.key, j.event_id, j.arguments, j.attempts, j.wanted, j.state"
    " FROM job j"
)


def _job(row: Sequence[Any]) -> Job:
    job_id, queue, key, event_id, arguments, attempts, wanted, _state = row
    return Job(job_id, queue, key, event_id, orjson.loads(arguments), attempts, wanted)

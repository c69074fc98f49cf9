"""Receipts: the way of an event, step by step, found by event, note, insight or chunk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson

from api.audit_reading import read_audit
from api.review.scan import item_at
from context_engine.clock import isoformat
from context_engine.errors import NotFoundError
from context_engine.home import Home
from context_engine.scopes import Scope
from index.schema import open_for_reading
from vault.paths import vault_root
from vault.tombstones import event_grave, tombstones
from workers.outbox import Outbox

_JOBS = (
    "SELECT queue, state, attempts, error_class, error, result, created, updated, wanted FROM job"
)
_REQUESTS = 100_000
_SHOWN_REQUESTS = 20
_STATES = ("waits for its vector", "has its vector", "given up by the embedder")


@dataclass(frozen=True)
class Receipt:
    """What is known of one thing; plain data, ready to be printed as JSON."""

    about: str
    events: tuple[dict[str, Any], ...]
    files: tuple[dict[str, Any], ...]
    requests: tuple[dict[str, Any], ...]
    """Who saved or read it through the API, the latest ones, oldest first."""


def receipt(home: Home, name: str) -> Receipt:
    """Return the receipt of an event, a note's place (`work/…`), an insight or a chunk.

    Raises NotFoundError when nothing is known by that name.
    """
    outbox = Outbox(home.outbox)
    events = _events(home, outbox, _event_ids(outbox, name))
    places = [(Scope(f["scope"]), f["path"]) for event in events for f in event["files"]]
    if not events:
        places = _places(home, name)
        events = [
            event
            for scope, path in places
            for event in _events(home, outbox, _events_of(outbox, scope, path))
        ]
    if not events and not places:
        raise NotFoundError(f"nothing is known by {name!a}: no event, note, insight or chunk")
    files = [_file(home, outbox, scope, path) for scope, path in dict.fromkeys(places)]
    named = {f"{scope.value}/{path}" for scope, path in places}
    return Receipt(name, tuple(events), tuple(files), tuple(_requests(home, named)))


def _event_ids(outbox: Outbox, name: str) -> list[str]:
    rows = outbox.connection().execute("SELECT event_id FROM event WHERE event_id = ?", (name,))
    return [row[0] for row in rows]


def _events_of(outbox: Outbox, scope: Scope, path: str) -> list[str]:
    rows = outbox.connection().execute(
        "SELECT event_id FROM event_path WHERE scope = ? AND path = ? ORDER BY event_id",
        (scope.value, path),
    )
    return [row[0] for row in rows]


def _places(home: Home, name: str) -> list[tuple[Scope, str]]:
    scope, _, path = name.partition("/")
    if scope in set(Scope) and path.endswith(".md"):
        return [(Scope(scope), path)]
    item = item_at(home, name)
    if item is not None:
        return [(item.scope, item.path)]
    return [(each, found) for each in Scope for found in _note_of_chunk(home, each, name)]


def _note_of_chunk(home: Home, scope: Scope, chunk_id: str) -> Iterator[str]:
    query = "SELECT path FROM note JOIN chunk ON chunk.note = note.id WHERE chunk_id = ?"
    for (path,) in _indexed(home, scope, query, chunk_id):
        yield str(path)


def _events(home: Home, outbox: Outbox, ids: Sequence[str]) -> list[dict[str, Any]]:
    stones = tombstones(home)
    found = []
    for event_id in dict.fromkeys(ids):
        row = outbox.connection().execute(
            "SELECT source, scope, title, part, payload IS NOT NULL, received FROM event"
            " WHERE event_id = ?",
            (event_id,),
        ).fetchone()  # fmt: skip
        if row is None:
            continue
        source, scope, title, part, waits, received = row
        found.append(
            {
                "event_id": event_id,
                "source": source,
                "scope": scope,
                "title": title,
                "part": part,
                "received": _when(received),
                "text_waits_here": bool(waits),
                "forgotten": stones.has(event_grave(event_id)),
                "jobs": list(_jobs(outbox, "event_id = ?", event_id)),
                "files": list(_written(outbox, event_id)),
            }
        )
    return found


def _jobs(outbox: Outbox, where: str, value: str) -> Iterator[dict[str, Any]]:
    rows = outbox.connection().execute(
        f"{_JOBS} WHERE {where} ORDER BY job_id",
        (value,),
    )
    for queue, state, attempts, error_class, error, result, created, updated, wanted in rows:
        yield {
            "queue": queue,
            "state": state,
            "failed_attempts": attempts,
            "asked_for": wanted,
            "reason": f"{error_class}: {error}" if error_class else error,
            "result": orjson.loads(result) if result else None,
            "since": _when(created),
            "last_change": _when(updated),
        }


def _written(outbox: Outbox, event_id: str) -> Iterator[dict[str, Any]]:
    rows = outbox.connection().execute(
        "SELECT scope, path FROM event_path WHERE event_id = ? ORDER BY scope, path", (event_id,)
    )
    for scope, path in rows:
        yield {"scope": scope, "path": path}


def _file(home: Home, outbox: Outbox, scope: Scope, path: str) -> dict[str, Any]:
    query = (
        "SELECT chunk_id, state, heading FROM chunk JOIN note ON note.id = chunk.note"
        " WHERE path = ? ORDER BY position"
    )
    chunks = [
        {"chunk_id": chunk_id, "state": _STATES[int(str(state))], "heading": heading}
        for chunk_id, state, heading in _indexed(home, scope, query, path)
    ]
    refused = [
        error
        for (error,) in _indexed(home, scope, "SELECT error FROM note WHERE path = ?", path)
        if error
    ]
    return {
        "place": f"{scope.value}/{path}",
        "exists": (vault_root(home, scope) / path).is_file(),
        "indexing": next(_jobs(outbox, "key = ?", f"index:{scope.value}:{path}"), None),
        "not_indexed_because": refused[0] if refused else None,
        "chunks": chunks,
    }


def _indexed(home: Home, scope: Scope, query: str, value: str) -> list[Sequence[Any]]:
    connection = open_for_reading(home.index(scope))
    if connection is None:
        return []
    try:
        return list(connection.execute(query, (value,)))
    finally:
        connection.close()


def _requests(home: Home, places: set[str]) -> list[dict[str, Any]]:
    report = read_audit(home.audit_log, client=None, since=None, limit=_REQUESTS)
    about = [line for line in report.requests if places.intersection(line["results"])]
    keys = ("time", "client", "transport", "action", "outcome")
    return [{key: line.get(key) for key in keys} for line in about[-_SHOWN_REQUESTS:]]


def _when(stamp: float) -> str:
    return isoformat(datetime.fromtimestamp(stamp, UTC))

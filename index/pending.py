"""Embedding what waits for it: outside transactions, once per content, with crashes counted."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import apsw

from context_engine.errors import DependencyDownError, IndexMismatchError
from context_engine.logs import get_logger
from context_engine.sqlite import immediate
from index.cells import UNGROUPED, Cells, load_cells, tend
from index.embedding.base import Embedder
from index.entries import passage
from index.questions import mean_questions
from index.schema import (
    EMBEDDED,
    PENDING,
    QUARANTINED,
    QUESTIONS,
    damage_reported,
    number,
    open_for_writing,
    read_meta,
    write_meta,
)
from index.vectors import SURROUND_WEIGHTS, decode, decode_many, encode, mixed, unit_rows

BATCH = 32
BATCH_ATTEMPTS = 2
"""Unfinished attempts in company; then a chunk is tried alone."""
MAX_ATTEMPTS = 3
"""Unfinished attempts in all; then the chunk is quarantined and found by keyword only."""

_log = get_logger(__name__)


@dataclass(frozen=True)
class EmbedReport:
    """What one call did: chunks that got a vector, were given up, and still wait."""

    embedded: int
    quarantined: int
    waiting: int


@dataclass(frozen=True)
class _Waiting:
    rowid: int
    content_hash: bytes
    passage: str
    known: bool
    attempts: int


def embed_waiting(connection: apsw.Connection, embedder: Embedder, limit: int) -> EmbedReport:
    """Give up to `limit` waiting chunks their vector.

    Raises DependencyDownError when the embedder needs something that is away; that costs the
    chunks no attempt.
    """
    _know_questions(connection, embedder)
    quarantined = _quarantine(connection)
    embedded = 0
    while embedded < limit:
        batch = _next_batch(connection, min(BATCH, limit - embedded))
        if not batch:
            break
        done = _embed_batch(connection, embedder, batch)
        if not done:
            quarantined += _quarantine(connection)
        embedded += done
    tend(connection)
    return EmbedReport(embedded, quarantined, waiting(connection))


def embed_beside(path: Path, embedder: Embedder, limit: int) -> EmbedReport:
    """Do `embed_waiting` over a connection of its own, while a writer goes on writing.

    The file must not be exchanged meanwhile. Raises IndexMismatchError when it holds another
    model's vectors.
    """
    with damage_reported(path), closing(open_for_writing(path)) as connection:
        built_with = read_meta(connection).get("embedder", str(embedder.identity))
        if built_with != str(embedder.identity):
            raise IndexMismatchError(f"{path} holds vectors of {built_with}")
        return embed_waiting(connection, embedder, limit)


def waiting(connection: apsw.Connection) -> int:
    """Return how many chunks wait for a vector."""
    return number(connection, f"SELECT count(*) FROM chunk WHERE state = {PENDING}")


def _know_questions(connection: apsw.Connection, embedder: Embedder) -> None:
    if QUESTIONS not in read_meta(connection):
        means = mean_questions(embedder).hex()
        with immediate(connection):
            write_meta(connection, **{QUESTIONS: means})


def _quarantine(connection: apsw.Connection) -> int:
    """Give up on chunks whose attempts never finished, a killed process's included."""
    connection.execute(
        f"UPDATE chunk SET state = {QUARANTINED}"
        f" WHERE state = {PENDING} AND attempts >= {MAX_ATTEMPTS}"
    )
    return connection.changes()


def _next_batch(connection: apsw.Connection, size: int) -> list[_Waiting]:
    rows = connection.execute(
        "SELECT chunk.rowid, chunk.content_hash, title, heading, text, surround_hash,"
        " EXISTS (SELECT 1 FROM embedding WHERE content_hash = chunk.content_hash), attempts"
        " FROM chunk JOIN note ON note.id = chunk.note"
        f" WHERE chunk.rowid IN (SELECT rowid FROM chunk WHERE state = {PENDING}"
        " ORDER BY attempts, rowid LIMIT ?) ORDER BY attempts, chunk.rowid",
        (size,),
    )
    batch = [
        _Waiting(rowid, key, passage(title, heading, text, message=bool(surround)), known, attempts)
        for rowid, key, title, heading, text, surround, known, attempts in rows
    ]
    if batch and batch[0].attempts >= BATCH_ATTEMPTS:
        return batch[:1]
    return [item for item in batch if item.attempts < BATCH_ATTEMPTS]


def _embed_batch(connection: apsw.Connection, embedder: Embedder, batch: Sequence[_Waiting]) -> int:
    texts = {item.content_hash: item.passage for item in batch if not item.known}
    vectors: dict[bytes, bytes] = {}
    if texts:
        _count_attempt(connection, batch, 1)
        try:
            rows = unit_rows(embedder.embed_passages(list(texts.values())))
        except DependencyDownError:
            _count_attempt(connection, batch, -1)
            raise
        except Exception as error:  # noqa: BLE001  # whatever a backend raises must not stop the rest
            _log.warning("embedding failed", chunks=len(batch), error=repr(error))
            return 0
        vectors = {key: encode(row) for key, row in zip(texts, rows, strict=True)}
    with immediate(connection):
        connection.executemany("INSERT OR REPLACE INTO embedding VALUES (?, ?)", vectors.items())
        _place(connection, _still_there(connection, batch))
    return len(batch)


def _count_attempt(connection: apsw.Connection, batch: Sequence[_Waiting], by: int) -> None:
    with immediate(connection):
        connection.executemany(
            "UPDATE chunk SET attempts = attempts + ? WHERE rowid = ? AND content_hash = ?",
            [(by, item.rowid, item.content_hash) for item in batch],
        )


def _still_there(connection: apsw.Connection, batch: Sequence[_Waiting]) -> list[int]:
    """Return the rows that hold the same chunks as before: a writer may have replaced some."""
    query = "SELECT 1 FROM chunk WHERE rowid = ? AND content_hash = ?"
    return [
        item.rowid
        for item in batch
        if connection.execute(query, (item.rowid, item.content_hash)).fetchone()
    ]


def _place(connection: apsw.Connection, rowids: Sequence[int]) -> None:
    """Write the searched vectors of these chunks and of the messages around them."""
    connection.executemany(
        f"UPDATE chunk SET state = {EMBEDDED}, attempts = 0 WHERE rowid = ?",
        [(rowid,) for rowid in rowids],
    )
    touched = set(rowids)
    for rowid in rowids:
        touched.update(beside for beside, _, _ in _around(connection, rowid))
    cells = load_cells(connection)
    for rowid in sorted(touched):
        _write_vector(connection, rowid, cells)


def _around(connection: apsw.Connection, rowid: int) -> list[tuple[int, int, bytes]]:
    """Return (rowid, steps away, own codes) of the embedded messages around this message."""
    reach = len(SURROUND_WEIGHTS)
    rows = connection.execute(
        "SELECT beside.rowid, abs(beside.position - here.position), embedding.vector"
        " FROM chunk AS here JOIN chunk AS beside ON beside.note = here.note"
        " AND beside.position BETWEEN here.position - ?1 AND here.position + ?1"
        " AND beside.position <> here.position"
        " JOIN embedding ON embedding.content_hash = beside.content_hash"
        f" WHERE here.rowid = ?2 AND here.surround_hash <> x'' AND beside.state = {EMBEDDED}"
        " ORDER BY beside.position",
        (reach, rowid),
    )
    return list(rows)


def _write_vector(connection: apsw.Connection, rowid: int, cells: Cells | None) -> None:
    own = connection.execute(
        "SELECT vector FROM embedding JOIN chunk USING (content_hash) WHERE chunk.rowid = ?",
        (rowid,),
    ).fetchone()
    if own is None:
        return
    around = [(steps, decode(codes)) for _, steps, codes in _around(connection, rowid)]
    vector = encode(mixed(decode(own[0]), around)) if around else own[0]
    connection.execute("DELETE FROM vector WHERE id = ?", (rowid,))
    cell = UNGROUPED if cells is None else int(cells.home(decode_many([vector]))[0])
    connection.execute("INSERT INTO vector VALUES (?, ?, ?)", (cell, rowid, vector))

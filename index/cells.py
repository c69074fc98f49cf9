"""Vectors grouped into cells, so that a query looks at the nearest few only.

Below `SMALLEST` vectors every one is compared. Above it, k-means finds centres in a sample; each
vector moves to the cell of its nearest centre, some hundreds a step, so that nothing waits for
it: until the last has moved, queries look into the cells of both generations. When the index has
doubled, the same happens again.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import apsw
import numpy as np
from numpy.typing import NDArray

from context_engine.sqlite import immediate
from index.embedding.base import FloatMatrix
from index.schema import number
from index.vectors import decode_many

SMALLEST = 8_000
"""Up to here comparing all is as fast."""

GROWTH = 2.0
"""The index is grouped anew when it holds this many times the vectors it was grouped at."""

PROBED_VECTORS = 2_500
PROBED_SHARE = 0.042
"""A query is compared with about so many vectors and this share of all."""

MOVED_A_STEP = 1_000
_CELLS_PER_ROOT = 6
_MOST_CELLS = 4_000
_SAMPLE_PER_CELL = 32
_ROUNDS = 5
_ROWS_AT_ONCE = 8_192
_POOR_SHARE = 0.1
_COUNTED_RANGES = 64
_COUNTED_A_RANGE = 500
"""Cell sizes are estimated from so many ranges of ids: counting all takes a fifth of a second."""

UNGROUPED = 0
"""The cell of vectors that no centre has yet."""


@dataclass(frozen=True)
class Cells:
    """The centres of one index, with the generation of each and its share of vectors, about."""

    numbers: NDArray[np.int64]
    generations: NDArray[np.int64]
    centres: FloatMatrix
    sizes: NDArray[np.float64]

    def nearest(self, vector: NDArray[np.float32], vectors: int) -> list[int]:
        """Return the cells to look into: the nearest of each generation, and the ungrouped.

        vectors: how many the index holds.
        """
        found = [UNGROUPED]
        share = PROBED_SHARE + PROBED_VECTORS / max(vectors, 1)
        closeness = _closeness(vector[np.newaxis, :], self.centres)[0]
        for generation in np.unique(self.generations):
            own = np.flatnonzero(self.generations == generation)
            order = own[np.argsort(-closeness[own], kind="stable")]
            # by what they hold: cells near a question are the full ones, where much is alike
            held = np.cumsum(self.sizes[order])
            order = order[: int(np.searchsorted(held, share * held[-1])) + 1]
            found += [int(cell) for cell in self.numbers[order]]
        return found

    def home(self, vectors: FloatMatrix) -> NDArray[np.int64]:
        """Return the newest generation's cell of each vector."""
        own = np.flatnonzero(self.generations == self.generations.max())
        homes: NDArray[np.int64] = self.numbers[own][_homes(vectors, self.centres[own])]
        return homes


def load_cells(connection: apsw.Connection) -> Cells | None:
    """Return the centres of an index; None when it is not grouped."""
    rows = connection.execute("SELECT cell, generation, vector FROM centroid").fetchall()
    if not rows:
        return None
    numbers = np.array([row[0] for row in rows], dtype=np.int64)
    return Cells(
        numbers,
        np.array([row[1] for row in rows], dtype=np.int64),
        np.array([np.frombuffer(_blob(row[2]), dtype="<f4") for row in rows], dtype=np.float32),
        _sizes(connection, numbers),
    )


def _sizes(connection: apsw.Connection, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return how full each cell is in a sample; one more than that, so that none counts nothing."""
    first = number(connection, "SELECT coalesce(min(id), 0) FROM vector")
    last = number(connection, "SELECT coalesce(max(id), 0) FROM vector")
    step = max((last - first) // _COUNTED_RANGES + 1, _COUNTED_A_RANGE)
    counted: Counter[int] = Counter()
    for start in range(first, last + 1, step):
        # the index on ids holds the cells too: no vector is read
        rows = connection.execute(
            "SELECT cell FROM vector INDEXED BY vector_id WHERE id >= ? AND id < ?",
            (start, start + _COUNTED_A_RANGE),
        )
        counted.update(int(str(cell)) for (cell,) in rows)
    return np.array([1.0 + counted[int(cell)] for cell in numbers])


def tend(connection: apsw.Connection) -> bool:
    """Do a bounded piece of grouping where it is due; return whether more is to do.

    Cheap when nothing is due, since it is asked often.
    """
    newest, oldest, grouped_at = connection.execute(
        "SELECT max(generation), min(generation), coalesce(max(grouped_at), 0) FROM centroid"
    ).fetchall()[0]
    (first,) = connection.execute(
        "SELECT min(cell) FROM centroid WHERE generation = ?", (newest,)
    ).fetchall()[0]
    if first is not None and _move(connection, first):
        return True
    if oldest != newest:
        connection.execute("DELETE FROM centroid WHERE generation < ?", (newest,))
    count = number(connection, "SELECT rows FROM tally WHERE name = 'vector'")
    if count < max(SMALLEST, GROWTH * float(grouped_at or 0)):
        return False
    _train(connection, count)
    return True


def _train(connection: apsw.Connection, count: int) -> None:
    """Find centres in a sample and store them as a new generation."""
    wanted = min(_MOST_CELLS, round(_CELLS_PER_ROOT * math.sqrt(count)))
    step = max(1, count // (wanted * _SAMPLE_PER_CELL))
    rows = connection.execute(
        "SELECT vector FROM vector WHERE id % ? = 0 ORDER BY id LIMIT ?",
        (step, wanted * _SAMPLE_PER_CELL),
    )
    centres = k_means(decode_many([_blob(codes) for (codes,) in rows]), wanted)
    base = number(connection, "SELECT coalesce(max(cell), 0) FROM centroid") + 1
    generation = number(connection, "SELECT coalesce(max(generation), 0) FROM centroid") + 1
    with immediate(connection):
        connection.executemany(
            "INSERT INTO centroid (cell, generation, grouped_at, vector) VALUES (?, ?, ?, ?)",
            [
                (base + place, generation, count, centre.astype("<f4").tobytes())
                for place, centre in enumerate(centres)
            ],
        )


def _move(connection: apsw.Connection, first: apsw.SQLiteValue) -> int:
    """Move some vectors from before cell `first`, the newest generation's; return how many."""
    waits = "SELECT cell, id, vector FROM vector WHERE cell < ? LIMIT ?"
    if not connection.execute(waits, (first, 1)).fetchall():
        return 0
    cells = load_cells(connection)
    if cells is None:
        return 0
    with immediate(connection):
        # read under the lock: a vector that its chunk's end takes away must not come back
        rows = connection.execute(waits, (first, MOVED_A_STEP)).fetchall()
        if not rows:
            return 0
        homes = cells.home(decode_many([_blob(row[2]) for row in rows]))
        connection.executemany(
            "DELETE FROM vector WHERE cell = ? AND id = ?", [(row[0], row[1]) for row in rows]
        )
        connection.executemany(
            "INSERT INTO vector (cell, id, vector) VALUES (?, ?, ?)",
            [(int(home), row[1], row[2]) for home, row in zip(homes, rows, strict=True)],
        )
    return len(rows)


def k_means(sample: FloatMatrix, wanted: int) -> FloatMatrix:
    """Return at most `wanted` centres of the rows, by Lloyd's rounds from evenly taken rows.

    The same sample gives the same centres. A centre with few rows moves into a full cell.
    """
    places = np.linspace(0, len(sample) - 1, min(wanted, len(sample))).astype(int)
    centres: FloatMatrix = sample[places].copy()
    for last in (False,) * _ROUNDS + (True,):
        homes = _homes(sample, centres)
        counts = np.bincount(homes, minlength=len(centres))
        sums = np.zeros_like(centres)
        np.add.at(sums, homes, sample)
        centres = np.asarray(sums / np.maximum(counts, 1)[:, np.newaxis], dtype=np.float32)
        if not last:
            _refill(centres, counts, sample, homes)
    return centres


def _refill(
    centres: FloatMatrix, counts: NDArray[np.int64], sample: FloatMatrix, homes: NDArray[np.int64]
) -> None:
    """Put the centres of the emptiest cells upon rows of the fullest."""
    order = np.argsort(counts, kind="stable")
    poor = order[counts[order] <= _POOR_SHARE * counts.mean()]
    for empty, full in zip(poor, order[::-1], strict=False):
        rows = np.flatnonzero(homes == full)
        centres[empty] = sample[rows[len(rows) // 2]]


def _homes(vectors: FloatMatrix, centres: FloatMatrix) -> NDArray[np.int64]:
    parts = [
        np.argmax(_closeness(vectors[start : start + _ROWS_AT_ONCE], centres), axis=1)
        for start in range(0, len(vectors), _ROWS_AT_ONCE)
    ]
    homes: NDArray[np.int64] = np.concatenate(parts)
    return homes


def _closeness(vectors: FloatMatrix, centres: FloatMatrix) -> FloatMatrix:
    """Return what orders centres by Euclidean distance.

    By cosine, the centres that lie near the mean of all vectors would draw half of them.
    """
    closeness = vectors @ centres.T - (centres**2).sum(axis=1) / 2
    return np.asarray(closeness, dtype=np.float32)


def _blob(value: apsw.SQLiteValue) -> bytes:
    return value if isinstance(value, bytes) else b""

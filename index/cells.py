"""Vectors grouped into cells, so that a query looks at the nearest few only.

Below `SMALLEST` vectors every one is compared. Above it, k-means finds centres in a sample; each
vector moves to the cell of its nearest centre, some hundreds a step, so that nothing waits for
it: until the last has moved, queries look into the cells of both generations. When the index has
doubled, the same happens again.
"""

from __future__ import annotations

import math
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

PROBES = 48
"""Cells that a query looks into."""

MOVED_A_STEP = 2_000
_MOST_CELLS = 1_000
_CELLS_PER_ROOT = 2
_SAMPLE_PER_CELL = 24
_ROUNDS = 6
_POOR_SHARE = 0.1

UNGROUPED = 0
"""The cell of vectors that no centre has yet."""


@dataclass(frozen=True)
class Cells:
    """The centres of one index; `generations` has the generation of each."""

    numbers: NDArray[np.int64]
    generations: NDArray[np.int64]
    centres: FloatMatrix

    def nearest(self, vector: NDArray[np.float32], probes: int = PROBES) -> list[int]:
        """Return the cells to look into: the nearest of each generation, and the ungrouped."""
        found = [UNGROUPED]
        closeness = _closeness(vector[np.newaxis, :], self.centres)[0]
        for generation in np.unique(self.generations):
            own = np.flatnonzero(self.generations == generation)
            order = own[np.argsort(-closeness[own], kind="stable")[:probes]]
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
    return Cells(
        np.array([row[0] for row in rows], dtype=np.int64),
        np.array([row[1] for row in rows], dtype=np.int64),
        np.array([np.frombuffer(_blob(row[2]), dtype="<f4") for row in rows], dtype=np.float32),
    )


def tend(connection: apsw.Connection) -> bool:
    """Do a bounded piece of grouping where it is due; return whether more is to do."""
    cells = load_cells(connection)
    if cells is not None and (moved := _move(connection, cells)):
        return moved == MOVED_A_STEP or _retire(connection, cells)
    count = number(connection, "SELECT rows FROM tally WHERE name = 'vector'")
    grouped_at = number(connection, "SELECT coalesce(max(grouped_at), 0) FROM centroid")
    if count < SMALLEST or count < GROWTH * grouped_at:
        return False if cells is None else _retire(connection, cells)
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


def _move(connection: apsw.Connection, cells: Cells) -> int:
    """Move some vectors of older generations to their new cell; return how many."""
    newest = int(cells.numbers[cells.generations == cells.generations.max()].min())
    rows = connection.execute(
        "SELECT cell, id, vector FROM vector WHERE cell < ? LIMIT ?", (newest, MOVED_A_STEP)
    ).fetchall()
    if not rows:
        return 0
    homes = cells.home(decode_many([_blob(row[2]) for row in rows]))
    with immediate(connection):
        connection.executemany(
            "DELETE FROM vector WHERE cell = ? AND id = ?", [(row[0], row[1]) for row in rows]
        )
        connection.executemany(
            "INSERT INTO vector (cell, id, vector) VALUES (?, ?, ?)",
            [(int(home), row[1], row[2]) for home, row in zip(homes, rows, strict=True)],
        )
    return len(rows)


def _retire(connection: apsw.Connection, cells: Cells) -> bool:
    """Forget the centres of generations that hold no vector any more."""
    newest = int(cells.generations.max())
    if int(cells.generations.min()) < newest:
        connection.execute("DELETE FROM centroid WHERE generation < ?", (newest,))
    return False


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
    homes: NDArray[np.int64] = np.argmax(_closeness(vectors, centres), axis=1)
    return homes


def _closeness(vectors: FloatMatrix, centres: FloatMatrix) -> FloatMatrix:
    """Return what orders centres by Euclidean distance.

    By cosine, the centres that lie near the mean of all vectors would draw half of them.
    """
    closeness = vectors @ centres.T - (centres**2).sum(axis=1) / 2
    return np.asarray(closeness, dtype=np.float32)


def _blob(value: apsw.SQLiteValue) -> bytes:
    return value if isinstance(value, bytes) else b""

"""Vectors in the index: int8 codes, nearest neighbours, and what surrounds a message mixed in."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

import apsw
import numpy as np
from numpy.typing import NDArray

from index.embedding.base import FloatMatrix

FloatVector = NDArray[np.float32]

SURROUND_WEIGHTS = (0.3, 0.15)
"""What each message one step and two steps away adds to a message's own vector."""

_SIGMAS = 6.0
"""Codes reach from -6 to +6 standard deviations of a unit vector's component, 1/sqrt(n)."""


def scale(dimension: int) -> float:
    """Return the factor from a unit vector's components to int8 codes."""
    return 127.0 * math.sqrt(dimension) / _SIGMAS


def encode(vector: FloatVector) -> bytes:
    """Return the int8 codes of a unit vector."""
    codes = np.rint(vector * scale(len(vector)))
    return bytes(np.clip(codes, -127, 127).astype(np.int8).tobytes())


def decode(codes: bytes) -> FloatVector:
    """Return the vector that `codes` stand for, to within quantisation."""
    return np.frombuffer(codes, dtype=np.int8).astype(np.float32) / scale(len(codes))


def decode_many(codes: Sequence[bytes]) -> FloatMatrix:
    """Return the vectors that the codes stand for, a row each."""
    if not codes:
        return np.zeros((0, 0), dtype=np.float32)
    dimension = len(codes[0])
    matrix = np.frombuffer(b"".join(codes), dtype=np.int8).reshape(-1, dimension)
    rows: FloatMatrix = matrix.astype(np.float32) / np.float32(scale(dimension))
    return rows


def similarity(distance: float, dimension: int) -> float:
    """Return the cosine that an L2 distance between codes of unit vectors means."""
    return 1.0 - (distance / scale(dimension)) ** 2 / 2.0


def unit_rows(matrix: FloatMatrix) -> FloatMatrix:
    """Return `matrix` with rows of length 1; a row of zeros or of NaN becomes zero."""
    clean = np.nan_to_num(matrix.astype(np.float32), posinf=0.0, neginf=0.0)
    lengths = np.linalg.norm(clean, axis=1, keepdims=True)
    return (clean / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)


def mixed(own: FloatVector, around: Sequence[tuple[int, FloatVector]]) -> FloatVector:
    """Return the unit vector of a message with those `around` it, each with its distance.

    A dot product with a sum is the sum of the dot products, so that searching this one vector
    adds the neighbours' weighted scores to the message's own.
    """
    total = own.copy()
    for steps, vector in around:
        total += SURROUND_WEIGHTS[steps - 1] * vector
    row: FloatVector = unit_rows(total[np.newaxis, :])[0]
    return row


def nearest(
    connection: apsw.Connection,
    query: FloatVector,
    count: int,
    *,
    condition: str = "1",
    bindings: Sequence[apsw.SQLiteValue] = (),
) -> list[tuple[int, float]]:
    """Return up to `count` (rowid, cosine), nearest first, of chunks that fulfil `condition`.

    `condition` is SQL over the vector's `id`; it is applied before the nearest are chosen.
    """
    rows = connection.execute(
        "SELECT id, vec_distance_l2(vec_int8(vector), vec_int8(?)) AS distance"
        f" FROM vector WHERE {condition} ORDER BY distance LIMIT ?",
        (encode(query), *bindings, count),
    )
    return [(rowid, similarity(distance, len(query))) for rowid, distance in rows]


def cosines(
    connection: apsw.Connection, query: FloatVector, rowids: Sequence[int]
) -> list[tuple[int, float]]:
    """Return (rowid, cosine) of those of the chunks that have a vector."""
    return nearest(
        connection,
        query,
        len(rowids),
        condition="id IN (SELECT value FROM json_each(?))",
        bindings=(json.dumps(list(rowids)),),
    )

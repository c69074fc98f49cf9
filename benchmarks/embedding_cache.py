"""An embedder that remembers between runs what it has embedded."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from pathlib import Path

import apsw
import numpy as np
from numpy.typing import NDArray

from index.embedding.base import Embedder, EmbedderIdentity, FloatMatrix


class CachedEmbedder:
    """Wraps an embedder; vectors are kept in one SQLite file a model."""

    def __init__(self, inner: Embedder, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        name = hashlib.sha256(str(inner.identity).encode()).hexdigest()[:12]
        self._inner = inner
        self._cache = apsw.Connection(str(folder / f"vectors-{name}.db"))
        self._cache.execute("PRAGMA journal_mode=WAL")
        self._cache.execute("PRAGMA synchronous=OFF")
        self._cache.execute("CREATE TABLE IF NOT EXISTS vector (key BLOB PRIMARY KEY, value BLOB)")
        self.query_seconds: list[float] = []
        """Time of each query that had to be embedded."""

    @property
    def identity(self) -> EmbedderIdentity:
        """The inner embedder's."""
        return self._inner.identity

    def embed_passages(self, texts: Sequence[str]) -> FloatMatrix:
        """Embed what is not known yet."""
        known = {text: self._get("p", text) for text in texts}
        new = [text for text, vector in known.items() if vector is None]
        if new:
            for text, vector in zip(new, self._inner.embed_passages(new), strict=True):
                self._put("p", text, vector)
                known[text] = vector
        return np.array([known[text] for text in texts], dtype=np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Embed a query unless it is known."""
        found = self._get("q", text)
        if found is not None:
            return found
        started = time.perf_counter()
        vector = self._inner.embed_query(text)
        self.query_seconds.append(time.perf_counter() - started)
        self._put("q", text, vector)
        return vector

    def _get(self, role: str, text: str) -> NDArray[np.float32] | None:
        row = self._cache.execute(
            "SELECT value FROM vector WHERE key = ?", (_key(role, text),)
        ).fetchone()
        return None if row is None else np.frombuffer(row[0], dtype=np.float32)

    def _put(self, role: str, text: str, vector: NDArray[np.float32]) -> None:
        self._cache.execute(
            "INSERT OR REPLACE INTO vector VALUES (?, ?)", (_key(role, text), vector.tobytes())
        )


def _key(role: str, text: str) -> bytes:
    return hashlib.blake2b(f"{role}\0{text}".encode(errors="surrogatepass")).digest()[:16]

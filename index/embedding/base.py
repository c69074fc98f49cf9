"""The embedder contract: text in, unit vectors out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

FloatMatrix = NDArray[np.float32]


@dataclass(frozen=True)
class EmbedderIdentity:
    """What must be equal for vectors to be comparable."""

    backend: str
    model: str
    dimension: int
    revision: str
    """Changes whenever the same text would get another vector (weights, prefixes, pooling)."""

    def __str__(self) -> str:
        return f"{self.backend}/{self.model}@{self.revision}:{self.dimension}"


class Embedder(Protocol):
    """Turns text into vectors.

    Implementations normalise hostile text themselves and never raise on any str; they raise
    DependencyDownError when something they need is away.
    """

    @property
    def identity(self) -> EmbedderIdentity:
        """Identity of the vectors; cheap once the model was met for the first time.

        Raises ConfigError when there is no such model, and DependencyDownError when it was
        never met and what has it is away.
        """
        ...

    def embed_passages(self, texts: Sequence[str]) -> FloatMatrix:
        """Return an (n, dimension) float32 matrix of unit rows, in the order of `texts`.

        The model family's passage prefix is added here.
        """
        ...

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return a (dimension,) float32 unit vector; the query prefix is added here."""
        ...

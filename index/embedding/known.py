"""What is known of models outside this project, kept below `Home.models`.

So that an identity is cheap, and is there while the server that has the model is away.
"""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import asdict
from pathlib import Path

from context_engine.ids import short_id
from index.embedding.base import EmbedderIdentity


class KnownIdentity:
    """Remembers the identity of one model; a damaged or missing file is an unknown model."""

    def __init__(self, models: Path, backend: str, *names: str) -> None:
        self._path = models / f"{backend}-{short_id(*names)}.json"

    def recall(self) -> EmbedderIdentity | None:
        """Return the identity last remembered."""
        try:
            return EmbedderIdentity(**json.loads(self._path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def remember(self, identity: EmbedderIdentity) -> EmbedderIdentity:
        """Keep `identity`, and return it."""
        folder = self._path.parent
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(prefix=".known-", dir=folder)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            json.dump(asdict(identity), stream)
        Path(temporary).replace(self._path)
        return identity

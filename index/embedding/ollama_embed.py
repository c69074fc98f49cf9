"""Embeddings from an Ollama server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from context_engine.errors import BadInputError, ConfigError, DependencyDownError
from context_engine.ids import short_id
from index.embedding.base import EmbedderIdentity, FloatMatrix
from index.embedding.batching import embed_in_batches
from index.embedding.known import KnownIdentity
from index.embedding.prefixes import prefixes_for
from index.embedding.text import clean

if TYPE_CHECKING:
    import ollama

_NAME = "ollama"
_CONNECT_SECONDS = 5.0
_BAD_REQUEST, _NOT_FOUND = 400, 404
_LEAST_CHARACTERS = 64

Result = TypeVar("Result")
Call = Callable[["ollama.AsyncClient"], Awaitable[Result]]


@dataclass(frozen=True)
class Deadlines:
    """Total seconds of one call, whatever the server does."""

    passages: float = 120.0
    """Long enough for the server to load the model first."""
    query: float = 10.0
    """A search falls back to keywords rather than wait longer."""


class OllamaEmbedder:
    """Asks the server at `url`; keeps below `models` what it knows of the model.

    Whatever can be mended without changing the text (server away or slow, model not pulled) is a
    DependencyDownError. Call it from a thread without a running event loop.
    """

    def __init__(
        self,
        model: str,
        url: str,
        models: Path,
        batch_size: int,
        deadlines: Deadlines = Deadlines(),
    ) -> None:
        self._model = model
        self._url = url
        self._batch_size = batch_size
        self._deadlines = deadlines
        self._prefixes = prefixes_for(model)
        self._known = KnownIdentity(models, _NAME, url, model)
        self._identity: EmbedderIdentity | None = None

    @property
    def identity(self) -> EmbedderIdentity:
        """Identity of the model that the server has, or had when it was last asked.

        Raises DependencyDownError when the server is away and was never asked before.
        """
        if self._identity is None:
            known = self._known.recall()
            try:
                self._identity = self._ask(known)
            except DependencyDownError:
                if known is None:
                    raise
                return known
        return self._identity

    def embed_passages(self, texts: Sequence[str]) -> FloatMatrix:
        """Return an (n, dimension) float32 matrix of unit rows."""
        prepared = [self._prefixes.passage + clean(text) for text in texts]
        return self._embed_all(prepared, self._deadlines.passages)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return a (dimension,) float32 unit vector."""
        prepared = [self._prefixes.query + clean(text)]
        row: NDArray[np.float32] = self._embed_all(prepared, self._deadlines.query)[0]
        return row

    def _embed_all(self, texts: list[str], seconds: float) -> FloatMatrix:
        dimension = self.identity.dimension

        def embed(batch: list[str]) -> FloatMatrix:
            matrix = self._embed(batch, seconds)
            if matrix.shape != (len(batch), dimension):
                reason = f"{self._model} now gives vectors of shape {matrix.shape}; restart"
                raise DependencyDownError(_NAME, reason)
            return matrix

        return embed_in_batches(texts, self._batch_size, dimension, embed)

    def _embed(self, texts: list[str], seconds: float) -> FloatMatrix:
        # An empty input is refused by some models; a full stop says as little.
        inputs = [text or "." for text in texts]
        try:
            reply = self._call(lambda client: client.embed(self._model, inputs), seconds)
        except BadInputError:
            # Not every server cuts to the model's length as it should.
            longest = max(len(text) for text in inputs)
            if longest <= _LEAST_CHARACTERS:
                raise
            return self._embed([text[: longest // 2] for text in inputs], seconds)
        rows = reply.embeddings
        if len({len(row) for row in rows}) > 1:
            raise DependencyDownError(_NAME, f"{self._model} gave vectors of different lengths")
        return np.asarray(rows, np.float32)

    def _ask(self, known: EmbedderIdentity | None) -> EmbedderIdentity:
        digest = self._digest()
        revision = short_id(digest, self._prefixes.query, self._prefixes.passage)
        if known is not None and known.revision == revision:
            return known
        dimension = self._embed(["."], self._deadlines.passages).shape[1]
        identity = EmbedderIdentity(_NAME, self._model, dimension, revision)
        return self._known.remember(identity)

    def _digest(self) -> str:
        listing = self._call(lambda client: client.list(), self._deadlines.query)
        names = (self._model, f"{self._model}:latest")
        for model in listing.models:
            if model.model in names and model.digest:
                return str(model.digest)
        raise self._missing()

    def _missing(self) -> DependencyDownError:
        reason = f"{self._url} has no model {self._model}; run: ollama pull {self._model}"
        return DependencyDownError(_NAME, reason)

    def _call(self, call: Call[Result], seconds: float) -> Result:
        """Return what `call` gives, translating every way in which a server fails."""
        import httpx
        import ollama
        import pydantic

        try:
            return asyncio.run(self._bounded(call, seconds))
        except (TimeoutError, httpx.TimeoutException) as error:
            reason = f"no answer from {self._url} within {seconds:g} s"
            raise DependencyDownError(_NAME, reason) from error
        except (ConnectionError, httpx.TransportError) as error:
            reason = f"{self._url} cannot be reached; start it with: ollama serve"
            raise DependencyDownError(_NAME, reason) from error
        except ollama.ResponseError as error:
            raise self._refusal(error) from error
        except (json.JSONDecodeError, pydantic.ValidationError) as error:
            reason = f"something else answers at {self._url}"
            raise DependencyDownError(_NAME, reason) from error
        except (httpx.InvalidURL, ValueError) as error:
            raise ConfigError(f"ollama_url {self._url!r} is no usable address: {error}") from error

    async def _bounded(self, call: Call[Result], seconds: float) -> Result:
        import httpx
        import ollama

        # Text must reach this host and no other: no proxy from the environment, no redirect.
        client = ollama.AsyncClient(
            host=self._url,
            timeout=httpx.Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS)),
            trust_env=False,
            follow_redirects=False,
        )
        http: Any = client._client  # noqa: SLF001 -- the client offers no way to close it
        async with asyncio.timeout(seconds), http:
            return await call(client)

    def _refusal(self, error: ollama.ResponseError) -> Exception:
        if error.status_code == _NOT_FOUND:
            return self._missing()
        if error.status_code == _BAD_REQUEST:
            return BadInputError(f"{_NAME} ({self._model})", error.error[:200])
        return DependencyDownError(_NAME, f"status {error.status_code}: {error.error[:200]}")

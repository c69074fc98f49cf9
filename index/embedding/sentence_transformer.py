"""Any sentence-transformers model, by name or local folder. Needs the extra of that name."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from context_engine.errors import ConfigError, DependencyDownError
from context_engine.ids import short_id
from index.embedding.base import EmbedderIdentity, FloatMatrix
from index.embedding.batching import embed_in_batches
from index.embedding.known import KnownIdentity
from index.embedding.prefixes import Prefixes, prefixes_for
from index.embedding.text import clean

_BACKEND = "sentence-transformers"
_WEIGHTS = (".safetensors", ".bin", ".pt")
_UNUSED = ["onnx/*", "openvino/*", "*.onnx", "*.h5", "*.msgpack", "*.ot", "*.gguf"]
_SAMPLE = 65_536


class SentenceTransformerEmbedder:
    """Embeds with torch; loads the model when first used, and again after a fork."""

    def __init__(self, model: str, models: Path, threads: int, batch_size: int) -> None:
        if find_spec("sentence_transformers") is None:
            raise ConfigError(
                "the sentence-transformers backend is an extra; "
                "run: pip install 'context-engine[sentence-transformers]'"
            )
        self._model = model
        self._known = KnownIdentity(models, _BACKEND, model)
        self._threads = threads
        self._batch_size = batch_size
        self._loaded: tuple[int, Any] | None = None

    @cached_property
    def identity(self) -> EmbedderIdentity:
        """Identity of the vectors: the files' sizes and samples, and the prefixes.

        Loads the model once in its life to learn the dimension. Raises ConfigError when there is
        no such model, DependencyDownError when it would have to be fetched and cannot.
        """
        prefixes = self._prefixes
        revision = short_id(*_fingerprint(self._folder), prefixes.query, prefixes.passage)
        known = self._known.recall()
        if known is not None and known.revision == revision:
            return known
        dimension = self._embed(["."]).shape[1]
        return self._known.remember(EmbedderIdentity(_BACKEND, self._model, dimension, revision))

    def embed_passages(self, texts: Sequence[str]) -> FloatMatrix:
        """Return an (n, dimension) float32 matrix of unit rows."""
        prepared = [self._prefixes.passage + clean(text) for text in texts]
        return embed_in_batches(prepared, self._batch_size, self.identity.dimension, self._embed)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return a (dimension,) float32 unit vector."""
        prepared = [self._prefixes.query + clean(text)]
        row: NDArray[np.float32] = embed_in_batches(
            prepared, 1, self.identity.dimension, self._embed
        )[0]
        return row

    def _embed(self, texts: list[str]) -> FloatMatrix:
        rows = self._engine().encode(
            texts,
            batch_size=len(texts),
            prompt="",
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        return np.asarray(rows, np.float32)

    @cached_property
    def _folder(self) -> Path:
        folder = Path(self._model).expanduser()
        return folder if folder.is_dir() else _fetch(self._model)

    @cached_property
    def _prefixes(self) -> Prefixes:
        settings = _read_json(self._folder / "config_sentence_transformers.json")
        prompts = settings.get("prompts") if isinstance(settings, dict) else None
        return prefixes_for(self._model.rstrip("/").rsplit("/", 1)[-1], prompts)

    def _engine(self) -> Any:
        if self._loaded is None or self._loaded[0] != os.getpid():
            self._loaded = (os.getpid(), _load(self._folder, self._threads))
        return self._loaded[1]


def _load(folder: Path, threads: int) -> Any:
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(threads)
    try:
        # A model's own code is never run: it comes from strangers.
        return SentenceTransformer(
            str(folder), local_files_only=True, trust_remote_code=False, similarity_fn_name="cosine"
        )
    except (OSError, ValueError, ImportError) as error:
        raise ConfigError(f"{folder} cannot be loaded as an embedding model: {error}") from error


def _fetch(name: str) -> Path:
    """Return the folder of a published model, from the cache when it is there."""
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
    from huggingface_hub import errors, snapshot_download

    try:
        return Path(snapshot_download(name, local_files_only=True, ignore_patterns=_UNUSED))
    except (errors.LocalEntryNotFoundError, errors.HFValidationError):
        pass
    try:
        return Path(snapshot_download(name, ignore_patterns=_UNUSED))
    except (errors.RepositoryNotFoundError, errors.HFValidationError) as error:
        raise ConfigError(f"{name} is neither a folder nor a published model: {error}") from error
    except (OSError, errors.HfHubHTTPError) as error:
        raise DependencyDownError("model hub", f"{name} is not in the cache: {error}") from error


def _fingerprint(folder: Path) -> Iterable[str]:
    """Yield what changes with the model: each small file, each weight file's size and samples."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix in (*_WEIGHTS, ".json", ".txt", ".model"):
            size = path.stat().st_size
            digest = hashlib.sha256()
            with path.open("rb") as stream:
                for place in (0, size // 2, max(0, size - _SAMPLE)):
                    stream.seek(place)
                    digest.update(stream.read(_SAMPLE))
            yield f"{path.relative_to(folder)} {size} {digest.hexdigest()}"


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None

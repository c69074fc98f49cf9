"""The one place where an embedder is chosen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from context_engine.errors import ConfigError
from context_engine.settings import EmbeddingSettings
from index.embedding.base import Embedder

Maker = Callable[[EmbeddingSettings, Path, str], Embedder]


def _e5(settings: EmbeddingSettings, models_dir: Path, ollama_url: str) -> Embedder:
    del ollama_url
    from index.embedding.conversion import MODEL_NAME
    from index.embedding.e5 import E5Embedder

    if settings.model != MODEL_NAME:
        raise ConfigError(
            f"the onnx backend has the model {MODEL_NAME} only; for {settings.model} set"
            ' [embedding] backend = "sentence-transformers" or "ollama"'
        )
    return E5Embedder(models_dir, settings.threads)


def _sentence_transformer(
    settings: EmbeddingSettings, models_dir: Path, ollama_url: str
) -> Embedder:
    del ollama_url
    from index.embedding.sentence_transformer import SentenceTransformerEmbedder

    return SentenceTransformerEmbedder(
        settings.model, models_dir, settings.threads, settings.batch_size
    )


def _ollama(settings: EmbeddingSettings, models_dir: Path, ollama_url: str) -> Embedder:
    from index.embedding.ollama_embed import OllamaEmbedder

    return OllamaEmbedder(settings.model, ollama_url, models_dir, settings.batch_size)


MAKERS: dict[str, Maker] = {
    "onnx": _e5,
    "sentence-transformers": _sentence_transformer,
    "ollama": _ollama,
}


def make_embedder(settings: EmbeddingSettings, models_dir: Path, ollama_url: str) -> Embedder:
    """Return the embedder that `settings` name. Loads nothing yet.

    Raises ConfigError when the backend is not installed or does not have the model.
    """
    return MAKERS[settings.backend](settings, models_dir, ollama_url)

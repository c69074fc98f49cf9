"""An indexed home, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from context_engine.home import Home
from context_engine.settings import EmbeddingSettings
from index.embedding.factory import make_embedder
from support.library import index_home, write_notes


@pytest.fixture(scope="session")
def models(pytestconfig: pytest.Config) -> Path:
    """Where the model is, converted once for all tests."""
    return pytestconfig.cache.mkdir("models")


@pytest.fixture(scope="session")
def indexed_home(tmp_path_factory: pytest.TempPathFactory, models: Path) -> Home:
    """Notes in every scope, indexed. Tests take a copy."""
    home = Home(tmp_path_factory.mktemp("indexed") / "home")
    home.create()
    write_notes(home)
    index_home(home, make_embedder(EmbeddingSettings(), models, "http://127.0.0.1:9"))
    return home

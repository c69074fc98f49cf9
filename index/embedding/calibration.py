"""Finds the scales of the int8 model on a few texts, and checks it against float32."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from context_engine.logs import get_logger
from index.embedding.graph import build_model, build_reference
from index.embedding.runtime import OUTPUT, WordReader, open_session, run
from index.embedding.weights import Weights

_TEXTS = (
    "query: バックアップはいつ取りますか?",
    "query: how do I rotate the API token",
    "query: PROJ-1423 timeout",
    "query: ﾊﾝｶｸ ｶﾅ と全角カナの違い",
    """passage: 会議メモ > 決定事項
    配信は火曜と金曜に行う。障害があれば当番の佐々木さんへ電話する。
    前回は証明書の期限切れが原因だったので、更新を自動にした。""",
    """passage: Caching > Why
    We keep each page for ten minutes, because the upstream rate limit is 60 requests a minute.
    The cache is dropped on deploy (see `deploy.sh`), never by hand.""",
    "passage: 東京は日本の首都であり、人口は約1400万人である。1868年に江戸から改称された。",
    """passage: def load(path: Path) -> dict[str, int]:
        return json.loads(path.read_text())
    Traceback (most recent call last): KeyError: 'retries' == None; exit code 137 😀 https://""",
    """passage: Anna: did you see the photos from Lisbon? Ben: yes!! my sister loved the tram ride,
    we should go back in May 2024 when it is warmer :)""",
    """passage: | 項目 | 値 |
    |---|---|
    | 接続数 | 200 |
    | タイムアウト | 30 s |
    設定ファイルは /etc/app/config.toml にあり、再起動が必要です。依存関係を確認します。""",
)
_AGREEMENT = 0.99
"""Least mean cosine between int8 and float32 on the texts above; .998 on every machine tried."""

_log = get_logger(__name__)


def calibrated_model(weights: Weights, reader: WordReader) -> bytes:
    """Return the int8 model, or the float32 one where this processor computes int8 wrongly."""
    words = [reader.read(text) for text in _TEXTS]
    reference = build_reference(weights)
    session = open_session(reference, threads=1)
    names = [output.name for output in session.get_outputs()]
    columns = zip(*(run(session, item) for item in words), strict=True)
    results = {name: np.stack(column) for name, column in zip(names, columns, strict=True)}
    exact = results.pop(OUTPUT)
    peaks = {name: values.max(axis=0) for name, values in results.items()}
    model = build_model(weights, peaks)
    agreement = _agreement(model, words, exact)
    _log.info("calibrated embedding model", cosine=round(agreement, 4))
    if agreement < _AGREEMENT:
        _log.warning("int8 is off on this processor; embedding in float32, which is slower")
        return reference
    return model


def _agreement(model: bytes, words: list[NDArray[np.float32]], exact: NDArray[np.float32]) -> float:
    session = open_session(model, threads=1)
    close = np.stack([run(session, item)[0] for item in words])
    return float((close * exact).sum(axis=-1).mean())

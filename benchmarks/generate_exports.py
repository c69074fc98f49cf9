"""How fast, and in how much memory, exports of assistants are read.

    python benchmarks/exports.py [--megabytes 200] [--only KIND] [--json]

Each kind is generated once, zipped, and kept in benchmarks/.cache. Each run is a fresh process that
parses only; what it yields is dropped. `photos` is a Takeout nine tenths of which are pictures.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any

from fresh import run_fresh

CACHE = Path(__file__).parent / ".cache"
START = datetime(2026, 11, 1, tzinfo=UTC)
WORDS = ("valkey", "redis", "license", "queue", "決めた", "理由", "計測", "キュー", "index", "shop",
         "deploy", "review", "the", "because", "after", "会議", "顧客", "仕様", "速度")  # fmt: skip


class Forgetful:
    """A ledger that knows nothing."""

    def checkpoint(self, key: str) -> Mapping[str, Any] | None:
        """Return nothing."""
        del key
        return None

    def seen(self, native_ids: Sequence[str]) -> set[str]:
        """Return nothing."""
        del native_ids
        return set()


def _text(rng: random.Random, words: int) -> str:
    return " ".join(rng.choices(WORDS, k=words)) + f" {rng.getrandbits(64):x}"


def _claude(rng: random.Random, number: int) -> bytes:
    messages, parent = [], "00000000-0000-4000-8000-000000000000"
    for turn in range(20):
        name = f"{number:08x}-0000-4000-8000-{turn:012x}"
        text = _text(rng, 150)
        messages.append(
            {
                "uuid": name,
                "parent_message_uuid": parent,
                "sender": "assistant" if turn % 2 else "human",
                "text": text,
                "content": [{"type": "text", "text": text}],
                "created_at": (START + timedelta(minutes=turn)).isoformat(),
                "attachments": [],
                "files": [],
            }
        )
        parent = name
    chat: dict[str, Any] = {
        "uuid": f"{number:08x}-0000-4000-8000-000000000000",
        "name": _text(rng, 5),
    }
    chat |= {"created_at": START.isoformat(), "chat_messages": messages}
    return json.dumps(chat, ensure_ascii=False).encode()


def _chatgpt(rng: random.Random, number: int) -> bytes:
    mapping: dict[str, Any] = {"root": {"id": "root", "parent": None, "message": None}}
    parent = "root"
    for turn in range(20):
        message = {
            "author": {"role": "assistant" if turn % 2 else "user"},
            "create_time": START.timestamp() + turn,
            "content": {"content_type": "text", "parts": [_text(rng, 150)]},
            "metadata": {"model_slug": "gpt-5"},
            "recipient": "all",
        }
        mapping[f"n{turn}"] = {"id": f"n{turn}", "parent": parent, "message": message}
        parent = f"n{turn}"
    chat = {"conversation_id": f"c{number}", "title": _text(rng, 5), "current_node": parent}
    return json.dumps(chat | {"mapping": mapping}).encode()


def _gemini(rng: random.Random, number: int) -> bytes:
    answer = "".join(f"<p>{_text(rng, 40)}</p>" for _ in range(8))
    at = START - timedelta(minutes=7 * number)
    row = {
        "header": "Gemini Apps",
        "title": "Prompted " + _text(rng, 30),
        "time": f"{at:%Y-%m-%dT%H:%M:%S}.120Z",
        "products": ["Gemini Apps"],
        "safeHtmlItem": [{"html": answer}],
    }
    return json.dumps(row, ensure_ascii=False).encode()


def _gemini_page(rng: random.Random, number: int) -> bytes:
    row = json.loads(_gemini(rng, number))
    at = START - timedelta(minutes=7 * number)
    wide, text = "mdl-cell mdl-cell--12-col", "mdl-typography--body-1"
    title, answer = row["title"], row["safeHtmlItem"][0]["html"]
    return (
        f'<div class="outer-cell {wide} mdl-shadow--2dp"><div class="mdl-grid">'
        f'<div class="header-cell {wide}"><p class="mdl-typography--title">Gemini Apps<br></p>'
        f'</div><div class="content-cell mdl-cell mdl-cell--6-col {text}">{title}<br>'
        f"{at:%Y/%m/%d %H:%M:%S} UTC<br>{answer}</div></div></div>"
    ).encode()


Make = Callable[[random.Random, int], bytes]
_PAGE = (b"<html><body>", b"", b"</body></html>")
_ARRAY = (b"[", b",\n", b"]")
KINDS: Mapping[str, tuple[str, str, Make, tuple[bytes, bytes, bytes]]] = {
    "claude-ai": ("claude_ai", "conversations.json", _claude, _ARRAY),
    "chatgpt": ("chatgpt", "conversations.json", _chatgpt, _ARRAY),
    "takeout-json": ("takeout", "Takeout/My Activity/Gemini Apps/MyActivity.json", _gemini, _ARRAY),
    "takeout-html": (
        "takeout",
        "Takeout/My Activity/Gemini Apps/MyActivity.html",
        _gemini_page,
        _PAGE,
    ),
    "photos": ("takeout", "Takeout/My Activity/Gemini Apps/MyActivity.json", _gemini, _ARRAY),
}


def _records(make: Make, frame: tuple[bytes, bytes, bytes], size: int) -> Iterator[bytes]:
    rng, written, number = random.Random(6), 0, 0
    opening, between, closing = frame
    yield opening
    while written < size:
        record = make(rng, number)
        yield (between if number else b"") + record
        written += len(record)
        number += 1
    yield closing


def export(kind: str, megabytes: int) -> Path:
    """Return a zip of this kind that holds so much, made on first use."""
    path = CACHE / f"export-{kind}-{megabytes}.zip"
    if path.exists():
        return path
    CACHE.mkdir(exist_ok=True)
    print(f"generating {megabytes} MB of {kind} …", file=sys.stderr)
    _, name, make, frame = KINDS[kind]
    photos = megabytes * 9 // 40 if kind == "photos" else 0
    unfinished = path.with_suffix(".part")
    with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        with archive.open(name, "w", force_zip64=True) as member:
            for piece in _records(make, frame, (megabytes - 4 * photos) * 1_000_000):
                member.write(piece)
        for number in range(photos):
            noise = random.Random(number).randbytes(4_000_000)
            photo = zipfile.ZipInfo(f"Takeout/Google Photos/{number}.jpg")
            archive.writestr(photo, noise, zipfile.ZIP_STORED)
    unfinished.rename(path)
    return path


def parse(kind: str, path: Path) -> dict[str, float]:
    """Read `path` to its end in this process."""
    from importlib import import_module

    import psutil

    from connectors.base import ReadOptions
    from context_engine.events import SourceDocument

    connector = import_module(f"connectors.{KINDS[kind][0]}").CONNECTOR
    started, busy = time.perf_counter(), time.process_time()
    documents = characters = 0
    for item in connector.read([path], Forgetful(), ReadOptions()):
        if isinstance(item, SourceDocument):
            documents += 1
            characters += sum(len(utterance.text) for utterance in item.utterances)
    with zipfile.ZipFile(path) as archive:
        size = sum(info.file_size for info in archive.infolist())
    busy = time.process_time() - busy
    return {
        "unpacked_mb": size / 1e6,
        "seconds": time.perf_counter() - started,
        "cpu_seconds": busy,
        "mb_per_cpu_second": size / 1e6 / busy,
        "peak_rss_mb": _peak(psutil.Process().memory_info()),
        "documents": documents,
        "characters": characters,
    }


def _peak(memory: Any) -> float:
    status = Path("/proc/self/status")
    lines = status.read_text(encoding="ascii").splitlines() if status.exists() else []
    high = [int(line.split()[1]) / 1e3 for line in lines if line.startswith("VmHWM:")]
    return high[0] if high else float(getattr(memory, "peak_wset", memory.rss)) / 1e6


def main() -> None:
    """Measure, and print a line a kind or JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--only", choices=sorted(KINDS))
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--parse", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.parse:
        print(json.dumps(parse(arguments.only, arguments.parse)))
        return
    kinds = [arguments.only] if arguments.only else list(chain(KINDS))
    report = {
        kind: run_fresh(__file__, "--only", kind, "--parse", str(export(kind, arguments.megabytes)))
        for kind in kinds
    }
    if arguments.json:
        print(json.dumps(report))
        return
    for kind, figures in report.items():
        print(
            f"{kind:<13} {figures['unpacked_mb']:7.0f} MB  {figures['mb_per_cpu_second']:6.1f} MB/s"
            f" of CPU time ({figures['seconds']:.0f} s), peak {figures['peak_rss_mb']:.0f} MB,"
            f" {figures['documents']:,} events"
        )


if __name__ == "__main__":
    main()

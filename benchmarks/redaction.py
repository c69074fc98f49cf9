"""How fast text is redacted, and what is found in text that holds no secret.

python benchmarks/redaction.py                 generated text, MB/s of each kind
python benchmarks/redaction.py FOLDER          every file below, with each hit (the kind and
                                               what surrounds it, never the value)
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from context_engine.redaction import redact

MEGABYTES = 10
MARKER = re.compile(r".{0,40}\[redacted:[a-z-]+\].{0,40}")

PROSE = (
    "We met on Tuesday and agreed to ship the smaller change first, because the larger one "
    "touches billing. Nobody expects trouble; if there is any, we roll back and try next week.\n\n"
)
PROSE_JA = (
    "キューはValkeyにする。ライセンスが理由で、性能はほぼ同じだった。"
    "来週の火曜日に切り替え、問題があればその日のうちに戻す。\n\n"
)
TALK = (
    "The token service is slow again; the key idea is to pass fewer headers.\n"
    "パスワードの扱いは変えない。トークンの期限は3600秒のまま。\n\n"
)
CODE = (
    "```python\nfor item in pending_items_of(session):\n"
    "    result = process(item, timeout=30, token=item.token)\n```\n\n"
)
SECRETS = 'DB_PASSWORD=hunter2x\nexport TOKEN="ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"\n\n'

KINDS = {
    "English prose": PROSE,
    "Japanese prose": PROSE_JA,
    "talk about secrets": TALK,
    "code": CODE,
    "mixed, one secret in 40 paragraphs": (PROSE + PROSE_JA + TALK + CODE) * 10 + SECRETS,
    "nothing but secrets": SECRETS,
}


def speeds() -> None:
    """Print MB/s of each kind of text, in one piece and cut into messages."""
    print(f"{'':36} one piece   messages of one paragraph")
    for name, unit in KINDS.items():
        text = unit * (MEGABYTES * 1_000_000 // len(unit.encode()))
        messages = text.split("\n\n")
        whole = timed([text])
        print(f"{name:36} {whole:6.1f} MB/s {timed(messages[: len(messages) // 4]):6.1f} MB/s")


def timed(texts: list[str]) -> float:
    """Return MB/s of processor time."""
    size = sum(len(text.encode()) for text in texts) / 1e6
    began = time.process_time()
    for text in texts:
        redact(text)
    return size / (time.process_time() - began)


def hits(folder: Path) -> None:
    """Print every hit below `folder` and how many paragraphs have one."""
    paragraphs = touched = 0
    kinds: Counter[str] = Counter()
    for path in sorted(folder.rglob("*")):
        for text in texts_of(path):
            pieces = [piece for piece in text.split("\n\n") if piece.strip()]
            paragraphs += len(pieces)
            if not redact(text).counts:
                continue
            for piece in pieces:
                result = redact(piece)
                touched += bool(result.counts)
                kinds.update(result.counts)
                for found in MARKER.findall(result.text):
                    print(f"{path.relative_to(folder)}: {found!r}")
    share = touched / max(1, paragraphs)
    print(f"{touched} of {paragraphs} paragraphs ({share:.4%}): {dict(kinds)}")


def texts_of(path: Path) -> Iterator[str]:
    """Yield the strings of a JSON or JSON-lines file, or the whole of another text file."""
    if not path.is_file():
        return
    raw = path.read_bytes().decode("utf-8", "replace")
    if "\0" in raw:
        return
    records = raw.splitlines() if path.suffix == ".jsonl" else [raw]
    for record in records:
        if path.suffix not in {".json", ".jsonl"}:
            yield record
            continue
        try:
            yield from strings(json.loads(record))
        except ValueError:
            yield record


def strings(value: object) -> Iterator[str]:
    """Yield the strings inside a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)


if __name__ == "__main__":
    if sys.argv[1:]:
        hits(Path(sys.argv[1]))
    else:
        speeds()

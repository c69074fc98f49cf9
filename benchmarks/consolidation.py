"""How well repetitions and replacements are told, and what the check costs an import.

    python benchmarks/consolidation.py [--pairs FILE] [--insights 2000] [--json]

Relations are measured on the labelled pairs that the program ships, or on a file of the same form.
The cost is that of saving insights into a vault that already holds as many as were saved before,
with the check and without it; the vault lies in a temporary folder.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from context_engine.home import Home
from context_engine.insights import Confidence, Insight, Kind
from context_engine.scopes import Scope
from index.search import Searcher
from index.writer import IndexWriter
from vault.insights import save_insight
from workers.consolidation.consolidate import consolidate
from workers.consolidation.evaluation.evaluate import evaluate, load_pairs, shipped_pairs

_WORDS = [
    "キュー",
    "検索",
    "画像",
    "請求",
    "会員",
    "認証",
    "監視",
    "配信",
    "在庫",
    "通知",
    "予約",
    "決済",
    "索引",
    "履歴",
    "書き出し",
    "取り込み",
    "集計",
    "Valkey",
    "Redis",
    "Postgres",
    "Sentry",
    "Vue",
    "React",
    "Go",
    "Rust",
    "Kafka",
    "Vite",
    "S3",
    "本番",
    "検証",
    "夜間",
    "毎朝",
    "東京",
    "大阪",
]
_START = datetime(2026, 1, 1, tzinfo=UTC)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--pairs", type=Path, default=shipped_pairs())
    parser.add_argument("--insights", type=int, default=2000)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    figures = {"relations": evaluate(load_pairs(given.pairs)), "cost": _cost(given.insights)}
    print(json.dumps(figures, indent=None if given.json else 2, ensure_ascii=False))


def _cost(count: int) -> dict[str, Any]:
    """Return processor milliseconds an insight, without the check, with it, and its share."""
    plain, checked = _spent(count, checked=False), _spent(count, checked=True)
    return {
        "insights": count,
        "saving_ms": round(plain, 2),
        "saving_with_check_ms": round(checked, 2),
        "check_ms": round(checked - plain, 2),
    }


def _spent(count: int, *, checked: bool) -> float:
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder))
        home.create()
        insights = _insights(count)
        half = count // 2
        searcher = Searcher(home, None)
        for insight in insights[:half]:
            save_insight(home, insight)
        with IndexWriter(home, Scope.WORK, None) as writer:
            writer.scan()
        started = time.process_time()
        for insight in insights[half:]:
            if checked:
                consolidate(home, insight, searcher)
            else:
                save_insight(home, insight)
        return 1000 * (time.process_time() - started) / (count - half)


def _insights(count: int) -> list[Insight]:
    chance = random.Random(7)
    return [_insight(chance, number) for number in range(count)]


def _insight(chance: random.Random, number: int) -> Insight:
    about = chance.sample(_WORDS, 5)
    why = f"{about[3]}が{number % 97}件になるので{about[4]}は使わない。"
    text = f"{about[0]}の{about[1]}は{about[2]}にする。{why}"
    return Insight(
        scope=Scope.WORK,
        kind=Kind.DECISION,
        title=text.split("。", 1)[0],
        content=text,
        confidence=Confidence.RAW,
        evidence=text,
        source="claude",
        source_path=None,
        event_id=f"{number:032x}",
        utterance=f"{number:016x}",
        extractor="cues",
        created=_START + timedelta(minutes=number),
        owner_said=True,
    )


if __name__ == "__main__":
    main()

"""What an ingest says of each file where nobody watches a bar."""

from __future__ import annotations

import pytest

from api.cli.progress import Meter
from connectors.base import ReadOptions
from context_engine.events import BadRecord
from workers.collector import CollectReport


def test_only_what_brought_something_or_was_refused_is_a_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    report = CollectReport()
    with Meter(enabled=False) as meter:
        progress = meter.reading(ReadOptions(), report).progress
        assert progress is not None
        progress(0, 9_000, "known.jsonl")
        progress(2_000, 9_000, "known.jsonl")
        progress(0, 9_000, "broken.jsonl")
        meter.bad(BadRecord("broken.jsonl", "not JSON"))
        progress(1_000, 9_000, "broken.jsonl")
        progress(0, 9_000, "短い.jsonl")
        report.messages += 1
        progress(500, 9_000, "短い.jsonl")
        # a source may tell its messages after the last byte was read
        progress(5_500, 9_000, "new.jsonl")
        report.messages += 2
    assert capsys.readouterr().err.splitlines() == [
        "refused broken.jsonl: not JSON",
        "read 短い.jsonl: 500 bytes, 1 message",
        "read new.jsonl: 5 KB, 2 messages",
    ]

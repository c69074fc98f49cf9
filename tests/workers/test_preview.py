"""A dry run keeps nothing of what it counts; `since` takes a part, and the rest may come later."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from connectors.base import Connector, ReadOptions
from connectors.registry import load
from support.archives import write_zip
from support.sources import AKI, write_json
from workers.collector import CollectReport, collect
from workers.outbox import Outbox
from workers.outbox_report import counts
from workers.preview import Preview, preview

SINCE = replace(AKI, since=datetime(2026, 1, 1, tzinfo=UTC))
OLD, NEW = "1735689600", "1793600000"  # 2025-01-01, 2026-11-02


def slack(folder: Path, *stamps: str, text: str = "hello") -> tuple[Connector, Path]:
    for number, stamp in enumerate(stamps):
        said = {"type": "message", "user": "U1", "ts": f"{stamp}.00010{number}", "text": text}
        day = f"{datetime.fromtimestamp(int(stamp), UTC):%Y-%m-%d}"
        write_json(folder / "general" / f"{day}.json", [said])
    return load("slack"), folder


def take(outbox: Path, given: tuple[Connector, Path], options: ReadOptions) -> CollectReport:
    return collect(given[0], [given[1]], Outbox(outbox), options)


def foresee(outbox: Path, given: tuple[Connector, Path], options: ReadOptions = AKI) -> Preview:
    return preview(given[0], [given[1]], outbox, options)


def said(outbox: Path) -> list[str]:
    rows = Outbox(outbox).connection().execute("SELECT event_id FROM event").fetchall()
    documents = [Outbox(outbox).document(str(event_id)) for (event_id,) in rows]
    return sorted(u.native_id for it in documents if it for u in it.utterances)


def test_a_dry_run_on_a_new_home_counts_and_creates_nothing(tmp_path: Path) -> None:
    given = slack(tmp_path / "export", OLD, NEW)
    write_json(tmp_path / "export" / "general" / "2026-11-03.json", [{"type": "message"}])
    found = foresee(tmp_path / "outbox.db", given)
    assert (found.documents, found.messages, found.new, found.unchanged) == (2, 2, 2, 0)
    assert found.years == {"2025": 1, "2026": 1}
    assert [bad.place.rsplit("/", 1)[-1] for bad in found.bad_records] == ["2026-11-03.json#1"]
    assert not (tmp_path / "outbox.db").exists()


def test_a_dry_run_tells_new_from_known_and_keeps_no_reading_state(tmp_path: Path) -> None:
    outbox = tmp_path / "outbox.db"
    take(outbox, slack(tmp_path / "export", OLD), AKI)
    before = hashlib.sha256(outbox.read_bytes()).hexdigest()
    given = slack(tmp_path / "export", OLD, NEW, text="edited")
    for _ in range(2):
        found = foresee(outbox, given)
        assert (found.documents, found.messages, found.new) == (2, 2, 1)
    assert hashlib.sha256(outbox.read_bytes()).hexdigest() == before
    take(outbox, given, AKI)
    found = foresee(outbox, given)
    assert (found.messages, found.units_without_news) == (0, 2)


def test_since_takes_what_was_said_since_and_a_run_without_it_the_rest(tmp_path: Path) -> None:
    outbox, given = tmp_path / "outbox.db", slack(tmp_path / "export", OLD, NEW)
    assert foresee(outbox, given, SINCE).older == 1
    first = take(outbox, given, SINCE)
    assert (first.new, first.messages, first.older) == (1, 1, 1)
    assert take(outbox, given, SINCE).new == 0
    rest = take(outbox, given, AKI)
    assert rest.older == 0
    assert [name.rsplit(":", 1)[-1].split(".")[0] for name in said(outbox)] == [OLD, NEW]
    assert take(outbox, given, AKI).events == 0
    assert counts(Outbox(outbox))["ingest"]["pending"] == 2


CHATS = [
    {
        "uuid": "c1", "name": "Queue", "created_at": "2025-01-01T00:00:00Z",
        "updated_at": "2026-11-02T00:00:00Z",
        "chat_messages": [
            {"uuid": f"m{n}", "sender": "human", "text": f"text {n}", "created_at": at}
            for n, at in enumerate(["2025-01-01T00:00:00Z", "2026-11-02T00:00:00Z"])
        ],
    }
]  # fmt: skip
TRANSCRIPT = "".join(
    f'{{"type":"user","sessionId":"s","uuid":"{n}","timestamp":"{at}",'
    f'"message":{{"role":"user","content":"text {n}"}}}}\n'
    for n, at in enumerate(["2025-01-01T00:00:00Z", "2026-11-02T00:00:00Z"])
)


@pytest.mark.parametrize("source", ["claude", "claude-ai"])
def test_one_conversation_may_lie_on_both_sides_of_since(tmp_path: Path, source: str) -> None:
    if source == "claude":
        path = tmp_path / "s.jsonl"
        path.write_text(TRANSCRIPT)
    else:
        path = write_json(tmp_path / "conversations.json", CHATS)
    outbox, given = tmp_path / "outbox.db", (load(source), path)
    assert take(outbox, given, SINCE).messages == 1
    assert len(said(outbox)) == 1
    take(outbox, given, AKI)
    assert len(set(said(outbox))) == 2


@pytest.mark.parametrize("options", [AKI, SINCE])
def test_progress_names_each_file_before_and_after_it_was_read(
    tmp_path: Path, options: ReadOptions
) -> None:
    calls: list[tuple[int, int, str]] = []

    def progress(read: int, total: int, place: str = "") -> None:
        calls.append((read, total, place.rsplit("/", 1)[-1]))

    folder = tmp_path / "export"
    given = slack(folder, OLD)
    write_zip(folder / "more.zip", {"a/2026-11-02.json": b"[]"})
    take(tmp_path / "outbox.db", given, replace(options, progress=progress))
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    assert sum(read for read, _, _ in calls) >= size
    assert {total for _, total, _ in calls} == {size}
    assert names(calls) == ["more.zip", "2025-01-01.json"]


def names(calls: Sequence[tuple[int, int, str]]) -> list[str]:
    return list(dict.fromkeys(place for _, _, place in calls))


def test_what_a_run_meets_twice_is_new_once(tmp_path: Path) -> None:
    day = {"type": "message", "user": "U1", "ts": f"{NEW}.000100"}
    given = slack(tmp_path / "export")
    for name, text in (("a", "会議は三時から"), ("b", "会議は四時から")):
        write_json(given[1] / name / "general" / "2026-11-02.json", [{**day, "text": text}])
        write_json(given[1] / name / "channels.json", [{"id": "C1", "name": "general"}])
    found = foresee(tmp_path / "outbox.db", given)
    assert (found.events, found.messages, found.new) == (2, 1, 1)
    assert found.years == {"2026": 1}

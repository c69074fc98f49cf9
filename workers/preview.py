"""What a run would bring in, without keeping any of it: nothing is committed anywhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import apsw
import orjson

from connectors.base import Connector, ReadOptions, ledger_name
from context_engine.events import BadRecord, Checkpoint, SourceDocument, UnknownRecord
from context_engine.ids import marker_id
from workers.collector import CollectReport, SourceLedger, refusals, said_since
from workers.outbox import Outbox

_UNDATED = "undated"


@dataclass
class Preview(CollectReport):
    """What one run would read; `new` counts messages here. years: messages by year."""

    documents: int = 0
    withdrawn: int = 0
    """Messages and documents that their source deleted."""
    years: Counter[str] = field(default_factory=Counter)


def preview(
    connector: Connector,
    paths: Sequence[Path],
    outbox: Path,
    options: ReadOptions,
    *,
    on_bad: Callable[[BadRecord], None] | None = None,
    report: Preview | None = None,
) -> Preview:
    """Read `paths` as `collect` would and count. `outbox` need not exist."""
    options = replace(options, downloads=None)
    report = report or Preview()
    known = SourceLedger(Outbox(outbox), ledger_name(connector)) if outbox.exists() else None
    ledger = _Unkept(known)
    for item in connector.read(paths, ledger, options):
        match item:
            case SourceDocument():
                if (wanted := said_since(item, options.since, report)) is not None:
                    ledger.count(wanted, report)
            case Checkpoint():
                report.checkpoints += 1
                ledger.keep(item)
            case BadRecord():
                report.refuse(item, on_bad)
            case UnknownRecord():
                report.meet(item)
    report.units_without_news = len(known.resumed) if known else 0
    return report


def preview_summary(report: Preview) -> dict[str, Any]:
    """Return what `ingest --dry-run --json` prints."""
    return {
        "documents": report.documents,
        "events": report.events,
        "messages": report.messages,
        "new": report.new,
        "unchanged": report.units_without_news,
        "withdrawn": report.withdrawn,
        "older": report.older,
        "years": dict(sorted(report.years.items())),
        "checkpoints": report.checkpoints,
        **refusals(report),
    }


class _Unkept:
    """What was collected before, and in this run: the latter in a temporary file without a name."""

    def __init__(self, known: SourceLedger | None) -> None:
        self._known = known
        self._run = apsw.Connection("")
        self._run.execute(
            "CREATE TABLE state (key TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID;"
            "CREATE TABLE met (key TEXT PRIMARY KEY) WITHOUT ROWID;"
        )

    def checkpoint(self, key: str) -> Mapping[str, Any] | None:
        """Return the reading state of this run, else that of an earlier one."""
        row = self._run.execute("SELECT value FROM state WHERE key=?", (key,)).fetchone()
        if row is not None:
            state: Mapping[str, Any] = orjson.loads(row[0])
            return state
        return self._known.checkpoint(key) if self._known else None

    def seen(self, native_ids: Sequence[str]) -> set[str]:
        """Return those ids that an earlier run committed or this one met."""
        keys = {marker_id("utterance", native_id): native_id for native_id in native_ids}
        rows = self._run.execute(
            "SELECT key FROM met WHERE key IN (SELECT value FROM json_each(?))",
            (orjson.dumps(list(keys)).decode(),),
        )
        met = {keys[key] for (key,) in rows}
        return met | (self._known.seen(native_ids) if self._known else set())

    def keep(self, item: Checkpoint) -> None:
        """Remember a reading state until this run ends."""
        if self._known is not None:
            self._known.resumed.discard(item.key)
        state = orjson.dumps(dict(item.state))
        self._run.execute("INSERT OR REPLACE INTO state VALUES (?,?)", (item.key, state))

    def count(self, document: SourceDocument, report: Preview) -> None:
        """Count what a document brings."""
        # a message comes again in one run when its document grew or a later part renames it
        said = [each for each in document.utterances if self._meet([each.marker])]
        known = self._known.seen([each.native_id for each in said]) if self._known else set()
        report.events += 1
        report.messages += len(said)
        report.new += len(said) - len(known)
        report.withdrawn += sum(each.withdrawn for each in document.utterances)
        report.withdrawn += document.withdrawn
        for each in said:
            at = each.at or document.started
            report.years[str(at.year) if at else _UNDATED] += 1
        report.documents += self._meet([document.document_id])

    def _meet(self, keys: Sequence[str]) -> int:
        before = self._run.total_changes()
        self._run.executemany("INSERT OR IGNORE INTO met VALUES (?)", [(key,) for key in keys])
        return self._run.total_changes() - before

"""Connector → outbox: batches, redacts, commits events together with the reading state."""

from __future__ import annotations

import dataclasses
import time
import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from connectors.base import Connector, ReadOptions, ledger_name
from context_engine.errors import ContextEngineError
from context_engine.events import BadRecord, Checkpoint, SourceDocument, UnknownRecord
from context_engine.redaction import RedactionOptions, redact
from context_engine.scopes import Scope
from context_engine.settings import Settings
from context_engine.text import cap_marks
from vault.forgotten import without_forgotten, without_titles
from vault.tombstones import tombstones
from workers.outbox import Outbox

BATCH_CHARACTERS = 2_000_000
"""Text of one commit: few fsyncs, bounded memory, little to read again after a kill."""

BATCH_EVENTS = 500
BATCH_SECONDS = 5.0
"""Time after which what was read is committed: a slow source is read again no further back."""

MAX_REPORTED = 1_000
"""Bad records kept with place and reason; all are counted."""


def read_options(
    settings: Settings,
    scope: Scope | None = None,
    project: str | None = None,
    since: datetime | None = None,
) -> ReadOptions:
    """Return what the settings and the caller fix for a run."""
    return ReadOptions(
        scope=scope,
        project=project,
        since=since,
        owner_name=settings.owner_name,
        default_scope=settings.default_scope,
        scope_rules=settings.scope_rules,
        live=settings.live,
        downloads=settings.paths.downloads,
    )


@dataclass
class CollectReport:
    """What one run read."""

    run_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    events: int = 0
    new: int = 0
    messages: int = 0
    bad_count: int = 0
    bad_records: list[BadRecord] = field(default_factory=list)
    unknown_types: Counter[str] = field(default_factory=Counter)
    kept_types: Counter[str] = field(default_factory=Counter)
    """Of unknown type too, but what they say was taken."""
    redacted: Counter[str] = field(default_factory=Counter)
    forgotten: int = 0
    """Events left out, all or in part, because their owner had them forgotten."""
    checkpoints: int = 0
    """Reading states committed: something of this source was there, new or not."""
    older: int = 0
    """Messages left out because they were said before `since`, or nobody knows when."""
    units_without_news: int = 0
    """Files, channels, … that were read before and held nothing new."""

    def meet(self, item: UnknownRecord) -> None:
        """Count what is of an unknown type."""
        (self.kept_types if item.kept else self.unknown_types)[item.kind] += 1

    def refuse(self, item: BadRecord, on_bad: Callable[[BadRecord], None] | None) -> None:
        """Take note of what could not be read."""
        self.bad_count += 1
        if len(self.bad_records) < MAX_REPORTED:
            self.bad_records.append(item)
        if on_bad is not None:
            on_bad(item)

    @property
    def unchanged(self) -> int:
        """What was there and brought nothing: units without news, events known already."""
        return self.units_without_news + self.events - self.new


def refusals(report: CollectReport) -> dict[str, Any]:
    """Return what of a run was not taken, or not as it was, as JSON values."""
    return {
        "bad_records": [{"place": bad.place, "reason": bad.reason} for bad in report.bad_records],
        "bad_count": report.bad_count,
        "unknown_types": dict(report.unknown_types),
        "kept_types": dict(report.kept_types),
    }


@dataclass(frozen=True)
class SourceLedger:
    """The outbox as one connector sees it."""

    outbox: Outbox
    source: str
    resumed: set[str] = field(default_factory=set)
    """Units read before, of which this run has committed nothing yet."""

    def checkpoint(self, key: str) -> Mapping[str, Any] | None:
        """Return the state of the last committed checkpoint with this key."""
        state = self.outbox.checkpoint(self.source, key)
        if state is not None:
            self.resumed.add(key)
        return state

    def seen(self, native_ids: Sequence[str]) -> set[str]:
        """Return those utterance ids that an earlier commit holds."""
        return self.outbox.seen(self.source, native_ids)


class _Batch:
    def __init__(
        self, outbox: Outbox, source: str, report: CollectReport, *, at_once: bool
    ) -> None:
        self._outbox = outbox
        self._source = source
        self._report = report
        self._documents: list[SourceDocument] = []
        self._checkpoints: dict[str, Checkpoint] = {}
        self._characters = 0
        self._limits = (0, 0) if at_once else (BATCH_CHARACTERS, BATCH_EVENTS)
        self._since = time.monotonic()

    def add(self, given: SourceDocument) -> None:
        document = without_forgotten(tombstones(self._outbox.home), given)
        self._report.forgotten += document is not given
        if document is None:
            return
        self._documents.append(document)
        self._characters += sum(len(u.text) for u in document.utterances)

    def cover(self, checkpoint: Checkpoint, *, kept: bool) -> None:
        if kept:
            state = without_titles(tombstones(self._outbox.home), checkpoint.state)
            self._checkpoints[checkpoint.key] = Checkpoint(checkpoint.key, state)
        # only here: what was yielded before a checkpoint must be committed before or with it
        characters, events = self._limits
        late = time.monotonic() - self._since >= BATCH_SECONDS
        if late or self._characters >= characters or len(self._documents) >= events:
            self.commit()

    def commit(self) -> None:
        if self._documents or self._checkpoints:
            self._report.new += self._outbox.commit(
                self._source,
                self._documents,
                list(self._checkpoints.values()),
                run_id=self._report.run_id,
            )
        self._documents, self._checkpoints, self._characters = [], {}, 0
        self._since = time.monotonic()


def collect(
    connector: Connector,
    paths: Sequence[Path],
    outbox: Outbox,
    options: ReadOptions,
    *,
    redaction: RedactionOptions | None = None,
    on_bad: Callable[[BadRecord], None] | None = None,
    report: CollectReport | None = None,
) -> CollectReport:
    """Read `paths` with `connector` and acknowledge every event; returns what was read.

    An interruption loses nothing: what was committed stays, the next run goes on from there.
    With `options.since` no reading state is kept: a later run without it takes the rest.
    """
    report = report or CollectReport()
    redaction = redaction or RedactionOptions()
    source = ledger_name(connector)
    ledger = SourceLedger(outbox, source)
    batch = _Batch(outbox, source, report, at_once=options.follow)
    try:
        for item in connector.read(paths, ledger, options):
            match item:
                case SourceDocument():
                    if (wanted := said_since(item, options.since, report)) is not None:
                        report.events += 1
                        report.messages += len(wanted.utterances)
                        batch.add(redact_document(wanted, redaction, report.redacted))
                case Checkpoint():
                    report.checkpoints += 1
                    ledger.resumed.discard(item.key)
                    batch.cover(item, kept=options.since is None)
                case BadRecord():
                    report.refuse(item, on_bad)
                case UnknownRecord():
                    report.meet(item)
    except ContextEngineError:
        # what came before a service went away, refused us or the disk was full is whole
        batch.commit()
        raise
    batch.commit()
    report.units_without_news = len(ledger.resumed)
    return report


def said_since(
    document: SourceDocument, since: datetime | None, report: CollectReport
) -> SourceDocument | None:
    """Return the part of `document` that was said since, None when nothing was.

    What its source deleted is always told. The part has an event id of its own.
    """
    if since is None:
        return document
    kept = tuple(
        said
        for said in document.utterances
        if said.withdrawn or ((at := said.at or document.started) and at >= since)
    )
    report.older += len(document.utterances) - len(kept)
    if len(kept) == len(document.utterances):
        return document
    if not kept and not document.withdrawn:
        return None
    return dataclasses.replace(document, utterances=kept, version="")


def redact_document(
    document: SourceDocument, options: RedactionOptions, counts: Counter[str]
) -> SourceDocument:
    """Return `document` without secrets in any of its text, adding to `counts` what was found."""

    def clean(text: str) -> str:
        redacted = redact(cap_marks(text), options)
        counts.update(redacted.counts)
        return redacted.text

    return dataclasses.replace(
        document,
        title=clean(document.title),
        url=None if document.url is None else clean(document.url),
        project=None if document.project is None else clean(document.project),
        refs=tuple(
            dataclasses.replace(ref, repo=clean(ref.repo), path=clean(ref.path))
            for ref in document.refs
        ),
        meta={key: clean(value) for key, value in document.meta.items()},
        utterances=tuple(
            dataclasses.replace(said, author=clean(said.author), text=clean(said.text))
            for said in document.utterances
        ),
    )

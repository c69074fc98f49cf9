"""Google Takeout: conversations with Gemini, and Keep notes.

Gemini's are rows of the activity log, which has no ids and only sometimes tells the thread. They
are read whole, sorted, and put together again. Other products' activity is left out and counted;
the source `takeout-activity` takes it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

from connectors.archive import Member
from connectors.base import Item, Ledger, ReadOptions
from connectors.claude_layout import unknown_kind
from connectors.conversation_records import Context
from connectors.conversations import Reader
from connectors.json_stream import Element, elements
from connectors.look import Guess, Look, Peek
from connectors.packing import pack
from connectors.pieces import PartCounter, Unseen, split_utterance
from connectors.reports import read_members
from connectors.takeout_gemini import OTHER_ACTIVITY, THREAD_URL, is_gemini, rows_of
from connectors.takeout_keep import parse_note
from connectors.takeout_records import (
    Activity,
    from_html,
    from_json,
    html_product,
    html_rows,
    product_of,
)
from connectors.takeout_spool import Row, Spool
from connectors.text import first_sentence
from connectors.walk import existing_roots
from context_engine.clock import Clock, SystemClock
from context_engine.errors import BadInputError
from context_engine.events import (
    BadRecord,
    Checkpoint,
    Role,
    SourceDocument,
    UnknownRecord,
)

SOURCE = "takeout"
STATE_VERSION = 1
CHECKPOINT_CHARACTERS = 500_000
"""Text of new messages after which what was sent is committed."""

BATCH_CHARACTERS = 500_000
"""Text of one document that is looked at together."""

_HEAD = 64 * 1024
_PAGE_NAMES = (
    "myactivity",
    "my activity",
    "マイアクティビティ",
    "マイ アクティビティ",
    "meineaktivit",
)


class TakeoutConnector:
    """The source `takeout`, and with a log of its own another of its kind."""

    default_paths: tuple[Path, ...] = ()

    def __init__(
        self,
        clock: Clock | None = None,
        *,
        name: str = SOURCE,
        accepts: str = "Google Takeout: its zips or folder; Gemini's activity (JSON, HTML), Keep",
        log: Log | None = None,
    ) -> None:
        self._clock = clock or SystemClock()
        self.name, self.accepts = name, accepts
        self._log = log or GEMINI

    def recognise(self, look: Look) -> Guess | None:
        """Return what `look` shows, None when it is nothing of this source's."""
        if self.name != SOURCE:
            # the rest of the log is taken when it is asked for by name
            return None
        logs = look.holding((".json",), b'"header"', b'"title"', b'"time"')
        logs += tuple(file for file in look.named(".html", ".htm") if _is_page(file, file.head))
        notes = look.holding((".json",), b'"isTrashed"', b'"isPinned"')
        found = [look.counted(len(logs), "activity log")] if logs else []
        found += [look.counted(len(notes), "Keep note")] if notes else []
        return Guess(f"Google Takeout ({', '.join(found)})") if found else None

    def read(self, paths: Sequence[Path], ledger: Ledger, options: ReadOptions) -> Iterator[Item]:
        """Yield what is new below `paths`: Keep notes as they come, then the activity, sorted.

        Raises UsageError when none of the paths exists.
        """
        roots = existing_roots(
            paths, "name a Google Takeout: its zips (or .tgz), or the unpacked folder"
        )
        run = _Run(self.name, self._log, ledger, Context(options, self._clock))
        try:
            yield from read_members(roots, options, run.member, enter=_is_at_the_top)
            yield from run.finish()
        finally:
            run.spool.close()


def _is_at_the_top(path: str) -> bool:
    """Say whether an archive in an archive is a part of the Takeout: Drive holds others."""
    return "/" not in path


@dataclass(frozen=True, slots=True)
class Log:
    """What is taken from the activity log.

    is_wanted: says of a product whether its rows are looked at.
    rows_of: what was said in a row, given the owner's name; nothing when it is to be counted.
    title_of: a document's title, given its name and its first rows.
    left_out: what to count a row as that says nothing.
    notes: whether Keep is read.
    """

    is_wanted: Callable[[str], bool]
    rows_of: Callable[[Activity, str], Iterator[Row]]
    title_of: Callable[[str, Sequence[Row]], str]
    left_out: str
    notes: bool


def _first_prompt(document: str, rows: Sequence[Row]) -> str:
    del document
    typed = (first_sentence(row.text) for row in rows if row.role is Role.OWNER)
    return next((title for title in typed if title), "Gemini")


GEMINI = Log(is_gemini, rows_of, _first_prompt, OTHER_ACTIVITY, notes=True)


@dataclass(slots=True)
class _Sending:
    """How far a document was sent."""

    template: SourceDocument
    counter: PartCounter = field(default_factory=PartCounter)


class _Run:
    """Reads the files of one run."""

    def __init__(self, source: str, log: Log, ledger: Ledger, context: Context) -> None:
        self._source, self._log, self._ledger, self._context = source, log, ledger, context
        self._reader = Reader(source, ledger, context.options)
        self._unseen = Unseen(ledger)
        self._read: list[Member] = []
        self._sent = 0
        self.spool = Spool()

    def member(self, member: Member) -> Iterator[Item]:
        """Read one file, of whichever product."""
        name = member.name.lower()
        if not name.endswith((".json", ".html", ".htm")):
            yield self._not_ours(member)
            return
        if self._reader.is_done(member):
            return
        try:
            with member.open() as stream:
                # the stream of a tar's member is to be had once
                if name.endswith(".json"):
                    yield from self._json(member, stream)
                elif _is_page(member, stream.peek(_HEAD)):
                    yield from self._activity(member, stream, pages=True)
                else:
                    yield self._not_ours(member)
        except BadInputError as error:
            yield BadRecord(error.place, error.reason)

    def finish(self) -> Iterator[Item]:
        """Yield what the activity log says anew, then remember the files that were read."""
        for name, rows in self.spool.documents():
            yield from self._document(name, rows)
        yield from map(self._reader.done, self._read)

    def _not_ours(self, member: Member) -> BadRecord | UnknownRecord:
        if member.named:
            return BadRecord(member.place, "neither Google activity nor a Keep note")
        return UnknownRecord(member.place, unknown_kind(Path(member.name)))

    def _json(self, member: Member, stream: BufferedReader) -> Iterator[Item]:
        head = stream.peek(_HEAD)
        start = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
        if start == b"[" and b'"title"' in head and b'"time"' in head:
            yield from self._activity(member, stream, pages=False)
        elif start == b"{" and b'"isTrashed"' in head and self._log.notes:
            yield from self._reader.records(
                member,
                stream,
                lambda record, place: parse_note(record, place, member.name, self._context),
            )
        else:
            yield self._not_ours(member)

    def _activity(self, member: Member, stream: BinaryIO, *, pages: bool) -> Iterator[Item]:
        cut = html_rows if pages else elements
        take = self._page_row if pages else self._json_row
        for element in cut(stream):
            yield from take(element, f"{member.place}#{element.number}")
        self._read.append(member)

    def _page_row(self, element: Element, place: str) -> Iterator[Item]:
        if element.problem:
            yield BadRecord(place, element.problem)
            return
        product = html_product(element.data)
        if not self._log.is_wanted(product):
            yield UnknownRecord(place, f"activity: {product or 'unknown'}")
            return
        yield from self._take(from_html(element.data, self._context.clock), place)

    def _json_row(self, element: Element, place: str) -> Iterator[Item]:
        record = element.parse()
        if isinstance(record, str):
            yield BadRecord(place, record)
            return
        product = product_of(record)
        if not self._log.is_wanted(product):
            yield UnknownRecord(place, f"activity: {product or 'unknown'}")
            return
        yield from self._take(from_json(record, self._context.clock), place)

    def _take(self, activity: Activity | str, place: str) -> Iterator[Item]:
        if isinstance(activity, str):
            yield BadRecord(place, activity)
            return
        rows = list(self._log.rows_of(activity, self._context.options.owner_name))
        for row in rows:
            self.spool.add(row)
        if not rows:
            yield UnknownRecord(place, self._log.left_out)

    def _document(self, name: str, rows: Iterator[Row]) -> Iterator[Item]:
        sending: _Sending | None = None
        batch: list[Row] = []
        characters = 0
        for row in rows:
            batch.append(row)
            characters += len(row.text)
            if characters > BATCH_CHARACTERS:
                sending = sending or _Sending(self._template(name, batch))
                yield from self._send(sending, batch)
                batch, characters = [], 0
        if batch:
            yield from self._send(sending or _Sending(self._template(name, batch)), batch)

    def _template(self, name: str, rows: Sequence[Row]) -> SourceDocument:
        options = self._context.options
        return SourceDocument(
            source=self._source,
            native_id=name,
            scope=options.scope_of(None),
            title=self._log.title_of(name, rows),
            utterances=(),
            started=rows[0].at,
            project=options.project,
            url=f"{THREAD_URL}{name[4:]}" if name.startswith("app/") else None,
        )

    def _send(self, sending: _Sending, rows: Sequence[Row]) -> Iterator[Item]:
        pieces = [
            (sending.counter.place(len(piece.text)), piece)
            for row in rows
            for piece in split_utterance(row.utterance())
        ]
        new = {piece.native_id for piece in self._unseen.new([it for _, it in pieces])}
        placed = [(part, piece) for part, piece in pieces if piece.native_id in new]
        yield from pack(sending.template, placed)
        self._sent += sum(len(piece.text) for _, piece in placed)
        if self._sent > CHECKPOINT_CHARACTERS:
            # the files are done only at the end; until then this commits what was sent
            yield Checkpoint(f"{self._source}:sending", {"version": STATE_VERSION})
            self._sent = 0


def _is_page(member: Member | Peek, head: bytes) -> bool:
    """Say whether an HTML file is an activity page: its styles may fill all of its beginning."""
    path = unicodedata.normalize("NFC", member.path).lower()
    return b"outer-cell" in head or any(name in path for name in _PAGE_NAMES)


CONNECTOR = TakeoutConnector()

"""Confluence space exports: XML (`entities.xml`) and HTML, as folder or zip.

A page is a document, known by its id in every form of export. Its text is one message that a new
version replaces in place; its comments are further messages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from connectors.archive import Member, walk_members
from connectors.base import Item, Ledger, ReadOptions
from connectors.confluence_export import KEYED, Export
from connectors.confluence_html import PAGE_LIMIT, HtmlPage, page_id_of, read_page
from connectors.confluence_pages import (
    SOURCE,
    Facts,
    Page,
    Sender,
    facts_digest,
    in_order,
    is_news,
    iso,
    known,
)
from connectors.confluence_site import PageReader
from connectors.confluence_xml import EntityReader
from connectors.look import Guess, Look
from connectors.reports import named_or_counted
from connectors.walk import existing_roots
from context_engine.errors import BadInputError
from context_engine.events import BadRecord, Checkpoint, Role, UnknownRecord, Utterance
from context_engine.ids import short_id

STATE_VERSION = 1
_DESCRIPTOR = "exportDescriptor.properties"
_ID = re.compile(r"[\w.:-]{1,64}")
_DESCRIPTOR_LIMIT = 1024 * 1024
_BESIDE = frozenset({"attachments", "config", "plugin-data", "images", "styles", "thumbnails"})
"""Folders of an export that hold no pages."""


class ConfluenceConnector:
    """The source `confluence`."""

    name = SOURCE
    accepts = "Confluence: a space export in XML or HTML (folder or zip)"
    default_paths: tuple[Path, ...] = ()

    def recognise(self, look: Look) -> Guess | None:
        """Return what `look` shows, None when it is nothing of this source's."""
        exports = look.named("entities.xml")
        if exports:
            spaces = look.counted(len(exports), "space")
            return Guess(f"a Confluence space export in XML ({spaces})")
        pages = look.holding((".html", ".htm"), b"aui-")
        pages = tuple(page for page in pages if page_id_of(page.name))
        number = look.counted(len(pages), "page")
        return Guess(f"a Confluence space export in HTML ({number})") if pages else None

    def read(self, paths: Sequence[Path], ledger: Ledger, options: ReadOptions) -> Iterator[Item]:
        """Yield the pages that are new or changed.

        Raises UsageError when no path is given or none exists.
        """
        roots = existing_roots(paths, "name a space export of Confluence: its folder or its zip")
        run = _Run(ledger, options)
        try:
            for item in walk_members(roots, options.progress, enter=_may_hold_pages):
                if isinstance(item, Member):
                    yield from run.member(item)
                else:
                    yield item
            yield from run.finish()
        finally:
            run.close()


def _may_hold_pages(path: str) -> bool:
    return _BESIDE.isdisjoint(path.split("/")[:-1])


@dataclass
class _Pending:
    """An `entities.xml` that was read; the time zone of its times may still follow."""

    export: Export
    member: Member
    complete: bool


@dataclass
class _Run:
    """Reads the files of one run."""

    ledger: Ledger
    options: ReadOptions
    zones: dict[str, ZoneInfo] = field(default_factory=dict)
    pending: _Pending | None = None

    def close(self) -> None:
        if self.pending is not None:
            self.pending.export.close()
            self.pending = None

    def member(self, member: Member) -> Iterator[Item]:
        """Read one file of an export, or say why not."""
        name = member.name.lower()
        if not _may_hold_pages(member.path):
            return
        if name == "entities.xml" or (member.named and name.endswith(".xml")):
            yield from self._entities(member)
        elif member.name == _DESCRIPTOR:
            self._descriptor(member)
        elif name.endswith((".html", ".htm")):
            yield from self._html(member)
        elif member.named:
            yield BadRecord(member.place, "neither entities.xml nor a page of an HTML export")
        else:
            yield UnknownRecord(member.place, f"file:{name.rpartition('.')[2][:20]}")

    def finish(self) -> Iterator[Item]:
        """Yield the pages of the last `entities.xml`."""
        if self.pending is not None:
            yield from self._pages(self.pending)
            self.close()

    # -- XML ----------------------------------------------------------------------------------

    def _entities(self, member: Member) -> Iterator[Item]:
        yield from self.finish()
        state = self.ledger.checkpoint(f"{SOURCE}:file:{member.identity}")
        if state is not None and state.get("version") == STATE_VERSION:
            return
        self.pending = _Pending(Export(), member, complete=False)
        yield from named_or_counted(self._objects(self.pending), member.place)
        self.pending.export.finish()

    def _objects(self, pending: _Pending) -> Iterator[Item]:
        place = pending.member.place
        try:
            with pending.member.open() as stream:
                reader = EntityReader(stream, place)
                for entity in reader:
                    if isinstance(entity, BadRecord):
                        yield entity
                    elif entity.kind in KEYED and not _ID.fullmatch(entity.id):
                        at = f"{place} at byte {entity.offset:,}"
                        yield BadRecord(at, f"a {entity.kind} without a usable id")
                    else:
                        pending.export.add(entity)
            pending.complete = reader.complete
        except BadInputError as error:
            yield BadRecord(error.place, error.reason)
        for kind, count in pending.export.counted.items():
            for _ in range(count):
                yield UnknownRecord(place, f"object:{kind[:60]}")

    def _descriptor(self, member: Member) -> None:
        try:
            with member.open() as stream:
                text = stream.read(_DESCRIPTOR_LIMIT).decode("utf-8", "replace")
        except BadInputError:
            return
        values = dict(line.partition("=")[::2] for line in text.splitlines() if "=" in line)
        try:
            zone = ZoneInfo(values.get("timezoneId", "").strip() or "UTC")
        except (ZoneInfoNotFoundError, ValueError, OSError):
            return
        self.zones[_folder(member)] = zone

    def _pages(self, pending: _Pending) -> Iterator[Item]:
        zone = self.zones.get(_folder(pending.member), ZoneInfo("UTC"))
        place = pending.member.place
        reader = PageReader(pending.export, zone, self.ledger, self.options)
        # what is missing from a damaged file was not deleted
        reader.sender.all_comments = pending.complete and pending.export.has_comments()
        for content in pending.export.pages():
            yield from reader.page(content, f"{place}#{content.id}")
        if pending.complete:
            key = f"{SOURCE}:file:{pending.member.identity}"
            yield Checkpoint(key, {"version": STATE_VERSION})

    # -- HTML ---------------------------------------------------------------------------------

    def _html(self, member: Member) -> Iterator[Item]:
        page_id = page_id_of(member.name)
        if page_id is None:
            if member.name.lower() != "index.html":
                yield UnknownRecord(member.place, "file:html without a page id")
            return
        try:
            with member.open() as stream:
                data = stream.read(PAGE_LIMIT + 1)
        except BadInputError as error:
            yield BadRecord(error.place, error.reason)
            return
        if len(data) > PAGE_LIMIT:
            yield BadRecord(member.place, f"larger than {PAGE_LIMIT >> 20} MiB")
            return
        page = read_page(data, page_id)
        if isinstance(page, str):
            yield BadRecord(member.place, page)
        else:
            yield from self._html_page(page, page_id)

    def _html_page(self, html: HtmlPage, page_id: str) -> Iterator[Item]:
        before = known(self.ledger, page_id)
        page = _page_of(html, page_id)
        parts = [page.title, page.text, page.author, *page.path, *page.labels, *page.attachments]
        said = [part for it in page.comments for part in (it.native_id, it.author, it.text)]
        facts = Facts("html", facts_digest(*parts, *said), modified=iso(page.modified))
        if is_news(before.facts, facts):
            yield from Sender(self.options).send(page, before, facts)


def _folder(member: Member) -> str:
    return member.place[: len(member.place) - len(member.name)]


def _page_of(html: HtmlPage, page_id: str) -> Page:
    comments = [
        Utterance(
            comment.id or short_id("comment", page_id, comment.author, comment.text),
            comment.author or "unknown",
            Role.OTHER,
            comment.at,
            comment.text,
        )
        for comment in html.comments
    ]
    return Page(
        id=page_id,
        title=html.title,
        text=html.text,
        author=html.author or "unknown",
        # who wrote which words of a page, the HTML export does not tell
        role=Role.OTHER,
        space=html.space,
        path=html.path,
        modified=html.modified,
        labels=html.labels,
        attachments=html.attachments,
        comments=in_order(comments),
        url=html.url,
    )


CONNECTOR = ConfluenceConnector()

"""A page, whatever export it comes from: how it becomes a document, and what is news about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from connectors.base import Item, Ledger, ReadOptions
from connectors.pieces import PartCounter, split_utterance
from connectors.revisions import Unit
from connectors.text import clean_text, shorten
from context_engine.clock import isoformat, parse_utc
from context_engine.events import Checkpoint, Role, SourceDocument, Utterance
from context_engine.ids import short_id

SOURCE = "confluence"
RENDERER = "1"
"""Changes when the same page would be rendered otherwise: then all are read again."""

DELETED = frozenset({"deleted", "trashed", "trash"})
_TITLE = 200
_META = 400
_SAME_SITE = timedelta(hours=26)
"""How far two exports' clocks for one moment may be apart: time zones differ by no more."""


@dataclass(frozen=True)
class Page:
    """A page or blog post with its comments. `path` leads from the space to the page above it."""

    id: str
    title: str
    text: str
    author: str
    role: Role
    space: str
    path: Sequence[str] = ()
    kind: str = "page"
    status: str = "current"
    version: int = 0
    created: datetime | None = None
    modified: datetime | None = None
    labels: Sequence[str] = ()
    attachments: Sequence[str] = ()
    comments: Sequence[Utterance] = ()
    url: str | None = None


@dataclass(frozen=True)
class Facts:
    """What is remembered of a page to tell what is newer, and whether anything changed.

    form: `xml`, `html` or `live`. as_of: the latest change in the whole export, as written there.
    digest: over everything the page is made from. Of a live page, listed: digest over what the
    list of its space says of it; read: the day on which it was read.
    """

    form: str
    digest: str
    version: int = 0
    as_of: str = ""
    modified: str = ""
    created: str = ""
    listed: str = ""
    read: str = ""

    def state(self) -> dict[str, Any]:
        """Return JSON values for the checkpoint."""
        return asdict(self)


@dataclass(frozen=True)
class Known:
    """What earlier runs left about the page with an id: its checkpoint's key and state."""

    native_id: str
    state: Mapping[str, Any] | None

    @property
    def facts(self) -> Facts | None:
        """Return what was remembered; None when the page is new (or another version saved it)."""
        saved = (self.state or {}).get("page")
        try:
            return Facts(**saved) if isinstance(saved, Mapping) else None
        except TypeError:
            return None

    @property
    def key(self) -> str:
        """The checkpoint's key."""
        return f"{SOURCE}:{self.native_id}"


def known(ledger: Ledger, page_id: str, created: datetime | None = None) -> Known:
    """Return what is known of a page.

    Two sites number their pages alike: a page of this id that was created at another time is
    another site's, and goes by its id and that time.
    """
    first = Known(page_id, ledger.checkpoint(f"{SOURCE}:{page_id}"))
    before = first.facts.created if first.facts else ""
    if not created or not before or abs(parse_utc(before) - created) <= _SAME_SITE:
        return first
    other = f"{page_id}@{created:%Y-%m-%d}"
    return Known(other, ledger.checkpoint(f"{SOURCE}:{other}"))


def is_news(old: Facts | None, new: Facts) -> bool:
    """Say whether `new` is not older than what was read before, and differs from it."""
    if old is None:
        return True
    return (old.digest, old.form) != (new.digest, new.form) and _is_newer(old, new)


def _is_newer(old: Facts, new: Facts) -> bool:
    if old.form == new.form == "xml":
        return (new.version, new.as_of) >= (old.version, old.as_of)
    if new.form == "live" and old.form != "html":
        return new.version >= old.version
    if old.form == "live" and new.form == "xml":
        # of one version, what the site itself said counts
        return new.version > old.version
    if new.form != "html":
        return new.modified[:10] >= old.modified[:10]
    # the HTML export says less, and only the day
    same = old.form == new.form
    return new.modified[:10] > old.modified[:10] or (same and new.modified >= old.modified)


def document_of(page: Page, native_id: str, options: ReadOptions) -> SourceDocument:
    """Return the document of a page, without its utterances."""
    meta = {
        "kind": page.kind,
        "page_id": page.id,
        "space": page.space,
        "path": _path(page),
        "version": str(page.version or ""),
        "labels": ", ".join(page.labels),
        "status": page.status,
    }
    return SourceDocument(
        source=SOURCE,
        native_id=native_id,
        scope=options.scope_of(None),
        project=options.project,
        title=shorten(clean_text(page.title), _TITLE) or f"Page {page.id}",
        utterances=(),
        started=page.created or page.modified,
        url=page.url,
        meta={name: shorten(clean_text(value), _META) for name, value in meta.items() if value},
    )


def _path(page: Page) -> str:
    return " › ".join(name for name in (page.space, *page.path, page.title) if name)


def body_of(page: Page) -> str:
    """Return the text of a page: its place in the tree, its words, its labels and attachments."""
    place = [_path(page)]
    place += [f"version {page.version}"] if page.version else []
    place += [page.status] if page.status != "current" else []
    lines = [" · ".join(" ".join(part.split()) for part in place), page.text]
    lines += [f"Labels: {', '.join(page.labels)}"] if page.labels else []
    if page.attachments:
        lines.append("Attachments:\n\n" + "\n".join(f"- {name}" for name in page.attachments))
    return clean_text("\n\n".join(line for line in lines if line.strip()))


@dataclass
class Sender:
    """Turns pages into events. all_comments: what is not there any more was deleted."""

    options: ReadOptions
    all_comments: bool = False

    def send(self, page: Page, before: Known, facts: Facts) -> Iterator[Item]:
        """Yield what is new about a page, and its checkpoint."""
        document = document_of(page, before.native_id, self.options)
        unit, counter = Unit(before.key, before.state), PartCounter()
        body = Utterance(before.native_id, page.author, page.role, page.modified, body_of(page))
        unit.add(document, body, counter)
        for comment in page.comments:
            unit.add(document, comment, counter)
        self._withdraw(unit, document, pieces=sum(1 for _ in split_utterance(body)))
        yield from _remembering(unit, before, facts)

    def withdraw(self, page: Page, before: Known, facts: Facts) -> Iterator[Item]:
        """Say that the source deleted a page of which something was sent."""
        document = document_of(page, before.native_id, self.options)
        unit = Unit(before.key, before.state)
        unit.withdraw_document(document)
        yield from _remembering(unit, before, facts)

    def _withdraw(self, unit: Unit, document: SourceDocument, pieces: int) -> None:
        if self.all_comments:
            unit.withdraw_missing(document)
            return
        # a page that became shorter leaves the pieces of its longer version behind
        number = pieces + 1
        while unit.knows(name := f"{document.native_id}~{number}"):
            unit.withdraw(document, name)
            number += 1


def _remembering(unit: Unit, before: Known, facts: Facts) -> Iterator[Item]:
    for item in unit.items():
        if not isinstance(item, Checkpoint):
            yield item
    yield Checkpoint(before.key, {**unit.state(), "page": facts.state()})


def facts_digest(*parts: str) -> str:
    """Return a digest over everything that a page is made from."""
    return short_id(RENDERER, *parts)


def iso(moment: datetime | None) -> str:
    """Return a time as it is remembered; empty when unknown."""
    return isoformat(moment) if moment else ""


def is_owner(name: str, options: ReadOptions) -> bool:
    """Say whether a person of this name is the owner; nobody is while no name is configured."""
    owner = " ".join(options.owner_name.split()).casefold()
    return owner not in {"", "owner"} and " ".join(name.split()).casefold() == owner


def in_order(comments: Sequence[Utterance]) -> tuple[Utterance, ...]:
    """Return comments by time; what has none stays behind what it followed."""
    placed: list[tuple[str, int, Utterance]] = []
    last = ""
    for number, comment in enumerate(comments):
        last = iso(comment.at) or last
        placed.append((last, number, comment))
    return tuple(comment for _, _, comment in sorted(placed, key=lambda item: item[:2]))


def without_text(page: Page) -> bool:
    """Say whether there is nothing in a page to keep."""
    return not (page.text.strip() or page.comments or page.attachments)

"""What a Confluence site tells over its REST API, whichever version of it, and how to read it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol
from urllib.parse import urlsplit

from connectors.text import EARLIEST
from context_engine.clock import parse_utc

HERE = ("current", "archived")
IN_TRASH = ("trashed", "deleted")
_ID = re.compile(r"[\w-]{1,64}", re.ASCII)

Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Space:
    """A space; its `title` is written as exports write it."""

    id: str
    key: str
    name: str

    @property
    def title(self) -> str:
        """Name and key."""
        return f"{self.name} ({self.key})" if self.key != self.name else self.name


@dataclass(frozen=True, slots=True)
class Listed:
    """A page, post or folder as a list tells of it, without its text.

    kind: `page`, `blog post` or `folder`. parent: id and kind of what is above it, if anything is.
    """

    id: str
    kind: str
    status: str
    title: str
    version: int
    parent: tuple[str, str] | None
    created: datetime | None
    modified: datetime | None


@dataclass(frozen=True, slots=True)
class Said:
    """A comment. selection: the words of the page it is about; text: in storage format."""

    id: str
    author: str
    writers: Sequence[str]
    at: datetime | None
    selection: str
    text: str


@dataclass(frozen=True, slots=True)
class Whole:
    """A page or post with all that belongs to it; persons are account ids.

    writers: who wrote its versions; empty when not all of them are known.
    """

    listed: Listed
    text: str
    author: str
    writers: Sequence[str]
    labels: Sequence[str]
    attachments: Sequence[str]
    comments: Sequence[Said]
    url: str


class Site(Protocol):
    """One site, asked by one version of the API."""

    def spaces(self, keys: Sequence[str]) -> Iterator[Space]:
        """Yield the spaces with these keys; all that the account may read when there are none."""
        ...

    def listing(self, space: Space, kind: str, statuses: Sequence[str]) -> Iterator[Listed]:
        """Yield the pages (or posts) of a space that have one of these statuses."""
        ...

    def find(self, content_id: str, kind: str) -> Listed:
        """Return a page or post, in the trash too. Raises GoneError when it is nowhere."""
        ...

    def folder(self, folder_id: str) -> Listed | None:
        """Return a folder, None when it cannot be had: only its name is lost then."""
        ...

    def whole(self, content_id: str, kind: str) -> Whole:
        """Return a page or post as it is now. Raises GoneError when it is not there any more."""
        ...

    def commented_since(self, moment: datetime | None) -> tuple[set[str], datetime | None]:
        """Return the ids of pages with comments that changed since, and the latest change.

        moment: None asks only for the latest change.
        """
        ...

    def person(self, account: str) -> str:
        """Return how a person is called, as far as `learn` found out."""
        ...

    def learn(self, accounts: Iterable[str]) -> None:
        """Ask for the names of these accounts that are not known yet."""
        ...


def statuses_of(kind: str, statuses: Sequence[str]) -> list[str]:
    """Return those of `statuses` that this kind of content can have: posts are never archived."""
    return [status for status in statuses if kind == "page" or status != "archived"]


def results_of(body: Any) -> list[Record]:
    """Return the records of a list."""
    results = body.get("results") if isinstance(body, dict) else None
    return [item for item in results if isinstance(item, dict)] if isinstance(results, list) else []


def record_of(body: Any) -> Record:
    """Return the record that a reply is; an empty one when it is none."""
    return body if isinstance(body, dict) else {}


def inner(record: Record, name: str) -> Record:
    """Return a record in a record; an empty one when there is none."""
    value = record.get(name)
    return value if isinstance(value, dict) else {}


def word(record: Record, name: str) -> str:
    """Return a text or whole number as text; empty when there is none."""
    value = record.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) else ""


def id_of(record: Record, name: str = "id") -> str:
    """Return an id that may be put into an address; empty when there is none."""
    value = word(record, name)
    return value if _ID.fullmatch(value) else ""


def time_of(text: str) -> datetime | None:
    """Return a time in UTC; None when it is none, or one that cannot be."""
    try:
        moment = parse_utc(text)
    except (ValueError, OverflowError):
        return None
    return moment.astimezone(UTC) if moment >= EARLIEST else None


def storage_of(record: Record) -> str:
    """Return the text of a page or comment in storage format."""
    return word(inner(inner(record, "body"), "storage"), "value")


def url_of(record: Record, site: str) -> str:
    """Return where a page is shown; empty when that is not told."""
    links = inner(record, "_links")
    base, page = word(links, "base") or site, word(links, "webui")
    parts = urlsplit(base)
    safe = parts.scheme in {"http", "https"} and not (parts.username or parts.password)
    return f"{base if safe else site}{page}" if page.startswith("/") else ""

"""Confluence's REST API v2 as far as it is read: spaces, lists of their pages, and one page whole.

A list is sorted by id, so that what is edited, added or deleted while it is paged through moves
nothing: no page is passed over and none comes twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

from connectors.live_http import Api, Reply
from connectors.text import EARLIEST, clean_text
from context_engine.clock import parse_utc
from context_engine.errors import BadInputError

HERE = ("current", "archived")
IN_TRASH = ("trashed", "deleted")
_LIST_LIMIT = "250"
_COMMENT_LIMIT = "100"
_NAMES_AT_ONCE = 100
_REPLY_DEPTH = 20
_STORAGE = {"body-format": "storage"}
_COMMENTS = ("footer-comments", "inline-comments")
_ID = re.compile(r"[\w-]{1,64}", re.ASCII)
_PATHS = {"page": "pages", "blog post": "blogposts"}

Params = Mapping[str, str | Sequence[str]]
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


@dataclass
class Rest:
    """One site. progress: called with (bytes of a reply, 0)."""

    api: Api
    site: str
    progress: Callable[[int, int], None] | None = None
    _names: dict[str, str] = field(default_factory=dict)
    _folders: dict[str, Listed | None] = field(default_factory=dict)

    def spaces(self, keys: Sequence[str]) -> Iterator[Space]:
        """Yield the spaces with these keys; all that the account may read when there are none."""
        wanted: Params = {"keys": keys} if keys else {"status": "current"}
        for record in self._all("/api/v2/spaces", {**wanted, "limit": _LIST_LIMIT}):
            key = clean_text(_word(record, "key"))
            if space := _id(record):
                yield Space(space, key, clean_text(_word(record, "name")) or key)

    def listing(self, space: Space, kind: str, statuses: Sequence[str]) -> Iterator[Listed]:
        """Yield the pages (or posts) of a space that have one of these statuses."""
        path = f"/api/v2/spaces/{space.id}/{_PATHS[kind]}"
        asked: Params = {"status": statuses, "sort": "id", "limit": _LIST_LIMIT}
        for record in self._all(path, asked):
            if _id(record):
                yield _listed(record, kind)

    def find(self, content_id: str, kind: str) -> Listed:
        """Return a page or post, in the trash too. Raises GoneError when it is nowhere."""
        path = f"/api/v2/{_PATHS[kind]}/{content_id}"
        return _listed(_record(self._get(path, {"status": [*HERE, *IN_TRASH]})), kind)

    def folder(self, folder_id: str) -> Listed | None:
        """Return a folder, None when it cannot be had: only its name is lost then."""
        if folder_id not in self._folders:
            try:
                found = _listed(_record(self._get(f"/api/v2/folders/{folder_id}")), "folder")
            except BadInputError:
                found = None
            self._folders[folder_id] = found
        return self._folders[folder_id]

    def whole(self, content_id: str, kind: str) -> Whole:
        """Return a page or post as it is now. Raises GoneError when it is not there any more."""
        path = f"/api/v2/{_PATHS[kind]}/{content_id}"
        asked = {**_STORAGE, "include-labels": "true", "include-versions": "true"}
        record = _record(self._get(path, asked))
        listed = _listed(record, kind)
        return Whole(
            listed,
            text=_body(record),
            author=_word(_inner(record, "version"), "authorId") or _word(record, "authorId"),
            writers=_writers(record, listed.version),
            labels=self._labels(record, path),
            attachments=sorted(self._titles(f"{path}/attachments", "title")),
            comments=tuple(self._comments(path)),
            url=self._url(record),
        )

    def commented_since(self, moment: datetime | None) -> tuple[set[str], datetime | None]:
        """Return the ids of pages with comments that changed since, and the latest change.

        moment: None asks only for the latest change.
        """
        pages: set[str] = set()
        latest = moment
        for kind in _COMMENTS:
            asked = {"sort": "-modified-date", "limit": _COMMENT_LIMIT}
            for record in self._all(f"/api/v2/{kind}", asked):
                at = _changed(record)
                if at is not None:
                    latest = max(at, latest or at)
                if moment is None or (at is not None and at < moment):
                    break
                pages.add(_id(record, "pageId") or _id(record, "blogPostId"))
        return pages - {""}, latest

    def person(self, account: str) -> str:
        """Return how a person is called, as far as `learn` found out."""
        return self._names.get(account) or account

    def learn(self, accounts: Iterable[str]) -> None:
        """Ask for the names of these accounts that are not known yet."""
        new = sorted(set(accounts) - {""} - self._names.keys())
        for start in range(0, len(new), _NAMES_AT_ONCE):
            some = new[start : start + _NAMES_AT_ONCE]
            self._names |= dict.fromkeys(some, "")
            reply = self.api.look_up("/api/v2/users-bulk", {"accountIds": some})
            for record in _results(self._counted(reply)):
                name = _word(record, "displayName") or _word(record, "publicName")
                self._names[_word(record, "accountId")] = clean_text(name)[:200]

    # -- parts of a page --------------------------------------------------------------------------

    def _labels(self, record: Record, path: str) -> Sequence[str]:
        first = _inner(record, "labels")
        if _inner(first, "meta").get("hasMore"):
            return sorted(self._titles(f"{path}/labels", "name"))
        return sorted({name for item in _results(first) if (name := _word(item, "name"))})

    def _titles(self, path: str, name: str) -> set[str]:
        titles = (_word(record, name) for record in self._all(path, {"limit": _LIST_LIMIT}))
        return {clean_text(title)[:200] for title in titles} - {""}

    def _comments(self, path: str) -> Iterator[Said]:
        for kind in _COMMENTS:
            yield from self._thread(f"{path}/{kind}", kind, _REPLY_DEPTH)

    def _thread(self, path: str, kind: str, depth: int) -> Iterator[Said]:
        for record in self._all(path, {**_STORAGE, "limit": _COMMENT_LIMIT}):
            if comment := _id(record):
                yield _said(record)
                if depth:
                    below = f"/api/v2/{kind}/{comment}/children"
                    yield from self._thread(below, kind, depth - 1)

    def _url(self, record: Record) -> str:
        links = _inner(record, "_links")
        base, page = _word(links, "base") or self.site, _word(links, "webui")
        parts = urlsplit(base)
        safe = parts.scheme in {"http", "https"} and not (parts.username or parts.password)
        return f"{base if safe else self.site}{page}" if page.startswith("/") else ""

    # -- requests ---------------------------------------------------------------------------------

    def _all(self, path: str, params: Params) -> Iterator[Record]:
        """Yield the records of all pages of a list."""
        cursors = {""}
        asked = dict(params)
        while True:
            reply = self._get(path, asked)
            yield from _results(reply.body)
            cursor = _cursor(reply)
            if cursor in cursors:
                return
            cursors.add(cursor)
            # the cursor alone: the address itself leaves out what a gateway puts in front
            asked["cursor"] = cursor

    def _get(self, path: str, params: Params | None = None) -> Reply:
        reply = self.api.get(path, params)
        self._counted(reply)
        return reply

    def _counted(self, reply: Reply) -> Any:
        if self.progress is not None:
            self.progress(reply.size, 0)
        return reply.body


def _cursor(reply: Reply) -> str:
    """Return what asks for the next part of a list; empty at its end."""
    links = _inner(reply.body if isinstance(reply.body, dict) else {}, "_links")
    query = urlsplit(_word(links, "next") or reply.next_url or "").query
    return (parse_qs(query).get("cursor") or [""])[0]


def _record(reply: Reply) -> Record:
    return reply.body if isinstance(reply.body, dict) else {}


def _results(body: Any) -> list[Record]:
    results = body.get("results") if isinstance(body, dict) else None
    return [item for item in results if isinstance(item, dict)] if isinstance(results, list) else []


def _inner(record: Record, name: str) -> Record:
    value = record.get(name)
    return value if isinstance(value, dict) else {}


def _word(record: Record, name: str) -> str:
    value = record.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) else ""


def _id(record: Record, name: str = "id") -> str:
    """Return an id that may be put into an address; empty when there is none."""
    value = _word(record, name)
    return value if _ID.fullmatch(value) else ""


def _time(text: str) -> datetime | None:
    try:
        moment = parse_utc(text)
    except (ValueError, OverflowError):
        return None
    return moment.astimezone(UTC) if moment >= EARLIEST else None


def _changed(record: Record) -> datetime | None:
    return _time(_word(_inner(record, "version"), "createdAt"))


def _listed(record: Record, kind: str) -> Listed:
    number = _inner(record, "version").get("number")
    parent = _id(record, "parentId")
    return Listed(
        id=_id(record),
        kind=kind,
        status=_word(record, "status") or "current",
        title=clean_text(_word(record, "title")),
        version=number if isinstance(number, int) else 0,
        parent=(parent, _word(record, "parentType") or "page") if parent else None,
        created=_time(_word(record, "createdAt")),
        modified=_changed(record),
    )


def _body(record: Record) -> str:
    return _word(_inner(_inner(record, "body"), "storage"), "value")


def _said(record: Record) -> Said:
    version, properties = _inner(record, "version"), _inner(record, "properties")
    author = _word(version, "authorId") or _word(record, "authorId")
    return Said(
        id=_id(record),
        author=author,
        writers=(author,) if author and version.get("number") == 1 else (),
        at=_changed(record),
        selection=_word(properties, "inlineOriginalSelection"),
        text=_body(record),
    )


def _writers(record: Record, version: int) -> Sequence[str]:
    writers = [_word(item, "authorId") for item in _results(_inner(record, "versions"))]
    whole = len(writers) >= version > 0 and all(writers)
    return (*writers, _word(record, "authorId")) if whole else ()

"""Confluence's REST API v2 as far as it is read: spaces, lists of their pages, and one page whole.

A list is sorted by id, so that what is edited, added or deleted while it is paged through moves
nothing: no page is passed over and none comes twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

from connectors.confluence_records import (
    HERE,
    IN_TRASH,
    Listed,
    Record,
    Said,
    Space,
    Whole,
    id_of,
    inner,
    record_of,
    results_of,
    statuses_of,
    storage_of,
    time_of,
    url_of,
    word,
)
from connectors.live_http import Api, Reply
from connectors.text import clean_text
from context_engine.errors import BadInputError

_LIST_LIMIT = "250"
_COMMENT_LIMIT = "100"
_NAMES_AT_ONCE = 100
_REPLY_DEPTH = 20
_STORAGE = {"body-format": "storage"}
_COMMENTS = ("footer-comments", "inline-comments")
_PATHS = {"page": "pages", "blog post": "blogposts"}

Params = Mapping[str, str | Sequence[str]]


@dataclass
class Rest:
    """One site in the cloud. progress: called with (bytes of a reply, 0)."""

    api: Api
    site: str
    progress: Callable[[int, int], None] | None = None
    _names: dict[str, str] = field(default_factory=dict)
    _folders: dict[str, Listed | None] = field(default_factory=dict)

    def spaces(self, keys: Sequence[str]) -> Iterator[Space]:
        """Yield the spaces with these keys; all that the account may read when there are none."""
        wanted: Params = {"keys": keys} if keys else {"status": "current"}
        for record in self._all("/api/v2/spaces", {**wanted, "limit": _LIST_LIMIT}):
            key = clean_text(word(record, "key"))
            if space := id_of(record):
                yield Space(space, key, clean_text(word(record, "name")) or key)

    def listing(self, space: Space, kind: str, statuses: Sequence[str]) -> Iterator[Listed]:
        """Yield the pages (or posts) of a space that have one of these statuses."""
        path = f"/api/v2/spaces/{space.id}/{_PATHS[kind]}"
        asked: Params = {
            "status": statuses_of(kind, statuses),
            "sort": "id",
            "limit": _LIST_LIMIT,
        }
        for record in self._all(path, asked):
            if id_of(record):
                yield _listed(record, kind)

    def find(self, content_id: str, kind: str) -> Listed:
        """Return a page or post, in the trash too. Raises GoneError when it is nowhere."""
        path = f"/api/v2/{_PATHS[kind]}/{content_id}"
        asked = {"status": [*statuses_of(kind, HERE), *IN_TRASH]}
        return _listed(record_of(self._get(path, asked).body), kind)

    def folder(self, folder_id: str) -> Listed | None:
        """Return a folder, None when it cannot be had: only its name is lost then."""
        if folder_id not in self._folders:
            try:
                found = _listed(record_of(self._get(f"/api/v2/folders/{folder_id}").body), "folder")
            except BadInputError:
                found = None
            self._folders[folder_id] = found
        return self._folders[folder_id]

    def whole(self, content_id: str, kind: str) -> Whole:
        """Return a page or post as it is now. Raises GoneError when it is not there any more."""
        path = f"/api/v2/{_PATHS[kind]}/{content_id}"
        asked = {**_STORAGE, "include-labels": "true", "include-versions": "true"}
        record = record_of(self._get(path, asked).body)
        listed = _listed(record, kind)
        return Whole(
            listed,
            text=storage_of(record),
            author=word(inner(record, "version"), "authorId") or word(record, "authorId"),
            writers=_writers(record, listed.version),
            labels=self._labels(record, path),
            attachments=sorted(self._titles(f"{path}/attachments", "title")),
            comments=tuple(self._comments(path)),
            url=url_of(record, self.site),
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
                pages.add(id_of(record, "pageId") or id_of(record, "blogPostId"))
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
            for record in results_of(self._counted(reply)):
                name = word(record, "displayName") or word(record, "publicName")
                self._names[word(record, "accountId")] = clean_text(name)[:200]

    # -- parts of a page --------------------------------------------------------------------------

    def _labels(self, record: Record, path: str) -> Sequence[str]:
        first = inner(record, "labels")
        if inner(first, "meta").get("hasMore"):
            return sorted(self._titles(f"{path}/labels", "name"))
        return sorted({name for item in results_of(first) if (name := word(item, "name"))})

    def _titles(self, path: str, name: str) -> set[str]:
        titles = (word(record, name) for record in self._all(path, {"limit": _LIST_LIMIT}))
        return {clean_text(title)[:200] for title in titles} - {""}

    def _comments(self, path: str) -> Iterator[Said]:
        for kind in _COMMENTS:
            yield from self._thread(f"{path}/{kind}", kind, _REPLY_DEPTH)

    def _thread(self, path: str, kind: str, depth: int) -> Iterator[Said]:
        for record in self._all(path, {**_STORAGE, "limit": _COMMENT_LIMIT}):
            if comment := id_of(record):
                yield _said(record)
                if depth:
                    below = f"/api/v2/{kind}/{comment}/children"
                    yield from self._thread(below, kind, depth - 1)

    # -- requests ---------------------------------------------------------------------------------

    def _all(self, path: str, params: Params) -> Iterator[Record]:
        """Yield the records of all pages of a list."""
        cursors = {""}
        asked = dict(params)
        while True:
            reply = self._get(path, asked)
            yield from results_of(reply.body)
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
    links = inner(record_of(reply.body), "_links")
    query = urlsplit(word(links, "next") or reply.next_url or "").query
    return (parse_qs(query).get("cursor") or [""])[0]


def _changed(record: Record) -> datetime | None:
    return time_of(word(inner(record, "version"), "createdAt"))


def _listed(record: Record, kind: str) -> Listed:
    number = inner(record, "version").get("number")
    parent = id_of(record, "parentId")
    return Listed(
        id=id_of(record),
        kind=kind,
        status=word(record, "status") or "current",
        title=clean_text(word(record, "title")),
        version=number if isinstance(number, int) else 0,
        parent=(parent, word(record, "parentType") or "page") if parent else None,
        created=time_of(word(record, "createdAt")),
        modified=_changed(record),
    )


def _said(record: Record) -> Said:
    version, properties = inner(record, "version"), inner(record, "properties")
    author = word(version, "authorId") or word(record, "authorId")
    return Said(
        id=id_of(record),
        author=author,
        writers=(author,) if author and version.get("number") == 1 else (),
        at=_changed(record),
        selection=word(properties, "inlineOriginalSelection"),
        text=storage_of(record),
    )


def _writers(record: Record, version: int) -> Sequence[str]:
    writers = [word(item, "authorId") for item in results_of(inner(record, "versions"))]
    whole = len(writers) >= version > 0 and all(writers)
    return (*writers, word(record, "authorId")) if whole else ()

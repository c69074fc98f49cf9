"""Confluence Data Center's REST API, which is version 1 of the cloud's.

Its lists are paged by number, so that what changes meanwhile may move: a page that comes twice
counts once, and one that was passed over is looked for by its id before it is held for deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from connectors.confluence_records import (
    Listed,
    Record,
    Said,
    Space,
    Whole,
    id_of,
    inner,
    record_of,
    results_of,
    storage_of,
    time_of,
    url_of,
    word,
)
from connectors.live_http import Api, GoneError
from connectors.text import clean_text

_LIMIT = 100
_ZONES = timedelta(hours=26)
"""A query's times are in the zone of the account, which is not told."""

_LISTED = "version,ancestors,history"
_WHOLE = "body.storage,version,ancestors,history,metadata.labels"
_COMMENT = "body.storage,version,history,extensions.inlineProperties"
_TYPES = {"page": "page", "blog post": "blogpost"}

Params = Mapping[str, str | Sequence[str]]


@dataclass
class Rest1:
    """One site of Data Center. progress: called with (bytes of a reply, 0)."""

    api: Api
    site: str
    progress: Callable[[int, int], None] | None = None
    _names: dict[str, str] = field(default_factory=dict)

    def spaces(self, keys: Sequence[str]) -> Iterator[Space]:
        """Yield the spaces with these keys; all that the account may read when there are none."""
        asked: Params = {"spaceKey": keys} if keys else {"status": "current"}
        for record in self._all("/rest/api/space", asked):
            key = clean_text(word(record, "key"))
            if space := id_of(record):
                yield Space(space, key, clean_text(word(record, "name")) or key)

    def listing(self, space: Space, kind: str, statuses: Sequence[str]) -> Iterator[Listed]:
        """Yield the pages (or posts) of a space that have one of these statuses."""
        for status in statuses:
            if status in {"current", "trashed"}:
                asked = {"spaceKey": space.key, "type": _TYPES[kind], "status": status}
                for record in self._all("/rest/api/content", {**asked, "expand": _LISTED}):
                    if id_of(record):
                        yield _listed(record, kind)

    def find(self, content_id: str, kind: str) -> Listed:
        """Return a page or post, in the trash too. Raises GoneError when it is nowhere."""
        asked = {"status": "any", "expand": _LISTED}
        return _listed(self._get(f"/rest/api/content/{content_id}", asked), kind)

    def folder(self, folder_id: str) -> Listed | None:
        """Return None: there are no folders here."""
        del folder_id
        return None

    def whole(self, content_id: str, kind: str) -> Whole:
        """Return a page or post as it is now. Raises GoneError when it is not there any more."""
        path = f"/rest/api/content/{content_id}"
        record = self._get(path, {"expand": _WHOLE})
        labels = results_of(inner(inner(record, "metadata"), "labels"))
        files = self._all(f"{path}/child/attachment", {})
        listed = _listed(record, kind)
        author = self._writer(record)
        return Whole(
            listed,
            text=storage_of(record),
            author=author,
            writers=(author,) if author and listed.version == 1 else (),
            labels=sorted({clean_text(word(item, "name"))[:200] for item in labels} - {""}),
            attachments=sorted({clean_text(word(item, "title"))[:200] for item in files} - {""}),
            comments=tuple(self._comments(path)),
            url=url_of(record, self.site),
        )

    def commented_since(self, moment: datetime | None) -> tuple[set[str], datetime | None]:
        """Return the ids of pages with comments that changed since, and the latest change.

        moment: None asks only for the latest change.
        """
        pages: set[str] = set()
        latest = moment
        query = "type = comment order by lastmodified desc"
        if moment is not None:
            since = f"{moment - _ZONES:%Y-%m-%d %H:%M}"
            query = f'type = comment and lastmodified >= "{since}" order by lastmodified desc'
        asked = {"cql": query, "expand": "container,version"}
        for record in self._all("/rest/api/content/search", asked):
            at = _changed(record)
            if at is not None:
                latest = max(at, latest or at)
            if moment is None:
                break
            if at is None or at >= moment:
                pages.add(id_of(inner(record, "container")))
        return pages - {""}, latest

    def person(self, account: str) -> str:
        """Return how a person is called, as far as that was told."""
        return self._names.get(account) or account

    def learn(self, accounts: Iterable[str]) -> None:
        """Ask for the names of these users that are not known yet."""
        for account in sorted(set(accounts) - {""} - self._names.keys()):
            self._names[account] = ""
            for name in ("key", "username"):
                try:
                    self._known(self._get("/rest/api/user", {name: account}), account)
                    break
                except GoneError:
                    continue

    # -- parts ------------------------------------------------------------------------------------

    def _comments(self, path: str) -> Iterator[Said]:
        asked = {"depth": "all", "expand": _COMMENT}
        for record in self._all(f"{path}/child/comment", asked):
            if comment := id_of(record):
                inline = inner(inner(record, "extensions"), "inlineProperties")
                author = self._writer(record)
                yield Said(
                    id=comment,
                    author=author,
                    writers=(author,) if author and _number(record) == 1 else (),
                    at=_created(record) or _changed(record),
                    selection=word(inline, "originalSelection"),
                    text=storage_of(record),
                )

    def _writer(self, record: Record) -> str:
        """Return the key of who changed something last, and remember the name."""
        by = inner(inner(record, "version"), "by")
        return self._known(by, word(by, "userKey") or word(by, "username"))

    def _known(self, person: Record, account: str) -> str:
        if name := clean_text(word(person, "displayName"))[:200]:
            self._names |= {account: name, word(person, "username") or account: name}
        return account

    # -- requests ---------------------------------------------------------------------------------

    def _all(self, path: str, params: Params) -> Iterator[Record]:
        start = 0
        while True:
            asked = {**params, "limit": str(_LIMIT), "start": str(start)}
            reply = self._get(path, asked)
            records = results_of(reply)
            yield from records
            start += len(records)
            if not records or not word(inner(reply, "_links"), "next"):
                return

    def _get(self, path: str, params: Params) -> Record:
        reply = self.api.get(path, params)
        if self.progress is not None:
            self.progress(reply.size, 0)
        return record_of(reply.body)


def _number(record: Record) -> int:
    number = inner(record, "version").get("number")
    return number if isinstance(number, int) else 0


def _changed(record: Record) -> datetime | None:
    return time_of(word(inner(record, "version"), "when"))


def _created(record: Record) -> datetime | None:
    return time_of(word(inner(record, "history"), "createdDate"))


def _listed(record: Record, kind: str) -> Listed:
    ancestors = record.get("ancestors")
    above = ancestors[-1] if isinstance(ancestors, list) and ancestors else None
    parent = id_of(above) if isinstance(above, dict) else ""
    return Listed(
        id=id_of(record),
        kind=kind,
        status=word(record, "status") or "current",
        title=clean_text(word(record, "title")),
        version=_number(record),
        parent=(parent, "page") if parent else None,
        created=_created(record),
        modified=_changed(record),
    )

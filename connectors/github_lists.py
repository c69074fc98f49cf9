"""Reading the lists of a repository again and again: what changed in them, and what is gone.

A list is read in the order of the last change, each page from where the one before it ended: what
is changed meanwhile moves to the end, and nothing is jumped over. The last days are listed anew
each time, since a deleted comment is told by its absence alone; a page that did not change
answers 304, which costs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, timedelta
from typing import Any

from connectors.base import Item, Ledger, ReadOptions
from connectors.github_comments import SOURCE, Comments
from connectors.github_records import Comment, node_id
from connectors.github_threads import thread_of
from connectors.live_http import NOT_MODIFIED, Api, GoneError, Reply
from connectors.text import parse_time
from context_engine.clock import Clock
from context_engine.events import BadRecord, Checkpoint

STATE_VERSION = 1
LISTS = ("issues", "issues/comments", "pulls/comments")
"""Lists of a repository: what threads begin with (pull requests too), then what is said."""

_PARAMETERS = {"state": "all", "sort": "updated", "direction": "asc", "per_page": "100"}
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


@dataclass
class _State:
    """What is known of one list. Times as GitHub writes them, which sort as text does.

    cursor: all changes up to then were read. pages: ETag and start of the next page, by start.
    recent: change, creation, address on the web and in the API of what changed in the window.
    pulls: last change and ETag of the reviews, by number of a pull request.
    """

    cursor: str = ""
    pages: dict[str, list[str]] = field(default_factory=dict)
    recent: dict[str, list[str]] = field(default_factory=dict)
    pulls: dict[str, list[str]] = field(default_factory=dict)

    def forget(self, window: str) -> None:
        """Drop what changed last before the window."""
        self.recent = {name: it for name, it in self.recent.items() if it[0] >= window}
        self.pulls = {number: it for number, it in self.pulls.items() if it[0] >= window}


class Repository:
    """One repository. `name` is `owner/name`."""

    def __init__(
        self,
        name: str,
        api: Api,
        comments: Comments,
        ledger: Ledger,
        options: ReadOptions,
        clock: Clock,
    ) -> None:
        self.name = name
        self._api, self._comments, self._ledger = api, comments, ledger
        self._options, self._clock = options, clock

    def read(self, name: str) -> Iterator[Item]:
        """Yield the news of one list. Raises GoneError when there is no such repository."""
        key = f"{SOURCE}:live:{self.name.lower()}/{name}"
        state = _load(self._ledger.checkpoint(key))
        settings = self._options.live.github
        window = self._days_ago(settings.window_days)
        start = min(state.cursor, window) if state.cursor else ""
        if not state.cursor and settings.history_days:
            start = self._days_ago(settings.history_days)
        if self._options.since:
            start = max(start, f"{self._options.since.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}")
        state.forget(window)
        pages, state.pages = state.pages, {}
        listed: set[str] = set()
        following: str | None = start
        while following is not None:
            reply = self._page(name, following, pages.get(following, ("", ""))[0])
            if reply.status == NOT_MODIFIED:
                state.pages[following] = pages[following]
                end = pages[following][1]
                listed |= {
                    each
                    for each, it in state.recent.items()
                    if following <= it[0] and (not end or it[0] <= end)
                }
                following = end or None
            else:
                following = yield from self._records(reply, following, state, listed)
            state.forget(window)
            listed &= state.recent.keys()
            yield _checkpoint(key, state)
        yield from self._deleted(state, start, listed)
        yield _checkpoint(key, state)

    def _days_ago(self, days: int) -> str:
        # midnight, so that the same question is asked all day long
        return f"{self._clock.now() - timedelta(days=days):%Y-%m-%dT00:00:00Z}"

    def _page(self, name: str, since: str, etag: str) -> Reply:
        parameters = {**_PARAMETERS, **({"since": since} if since else {})}
        return self._get(f"/repos/{self.name}/{name}", parameters, etag)

    def _get(self, url: str, parameters: Mapping[str, str] | None = None, etag: str = "") -> Reply:
        reply = self._api.get(url, parameters, etag or None)
        if self._options.progress is not None:
            self._options.progress(reply.size, 0, f"github {self.name}")
        return reply

    def _linked(self, reply: Reply) -> Iterator[Reply]:
        """Yield `reply` and the pages that follow it by their links, none twice."""
        asked = set()
        yield reply
        while reply.next_url and reply.next_url not in asked:
            asked.add(reply.next_url)
            reply = self._get(reply.next_url)
            yield reply

    def _records(
        self, reply: Reply, since: str, state: _State, listed: set[str]
    ) -> Generator[Item, None, str | None]:
        """Yield the news of a page; returns where the next begins, None after the last."""
        etag, last = reply.etag, since
        for page in self._linked(reply):
            reply = page
            for record in _objects(page):
                changed = _changed(record)
                last = max(last, changed)
                yield from self._record(record, changed, state, listed)
            if last > since or not page.next_url:
                break
            # more than a page of changes in one second: the links lead on
            etag = None
        state.cursor = max(state.cursor, last)
        following = last if reply.next_url and last > since else None
        if etag:
            state.pages[since] = [etag, following or ""]
        return following

    def _record(
        self, record: Mapping[str, Any], changed: str, state: _State, listed: set[str]
    ) -> Iterator[Item]:
        url = str(record.get("url") or "")
        yield from self._comments.take(record, url or self.name)
        native_id = node_id(record)
        listed.add(native_id)
        created = str(record.get("created_at") or "")
        state.recent[native_id] = [changed, created, str(record.get("html_url") or ""), url]
        if isinstance(record.get("pull_request"), dict):
            yield from self._reviews(str(record.get("number")), changed, state)

    def _reviews(self, number: str, changed: str, state: _State) -> Iterator[Item]:
        """Yield the reviews of a pull request that changed since they were read."""
        known, etag = state.pulls.get(number, ("", ""))
        if known == changed:
            return
        reply = self._get(f"/repos/{self.name}/pulls/{number}/reviews", {"per_page": "100"}, etag)
        # one page tells of all changes only where it is the only one
        new = "" if reply.next_url else reply.etag or ""
        for page in self._linked(reply):
            for record in _objects(page):
                if record.get("state") != "PENDING":
                    yield from self._comments.take(record, str(record.get("html_url")))
        state.pulls[number] = [changed, new or (etag if reply.status == NOT_MODIFIED else "")]

    def _deleted(self, state: _State, start: str, listed: set[str]) -> Iterator[Item]:
        """Yield the end of what was not listed any more, when asking for it finds nothing."""
        for native_id, (changed, created, page, url) in list(state.recent.items()):
            if native_id in listed or changed < start or not url:
                continue
            try:
                found = self._get(url).body
                if isinstance(found, dict) and node_id(found) == native_id:
                    yield from self._record(found, _changed(found), state, listed)
                    continue
            except GoneError:
                pass
            del state.recent[native_id]
            thread = thread_of({"html_url": page})
            if thread is None:
                yield BadRecord(page, "tells no thread")
                continue
            at = parse_time(created, self._clock)
            gone = Comment(thread, native_id, "", False, at, "", "", deleted=True)
            yield from self._comments.comment(gone, page)


def _changed(record: Mapping[str, Any]) -> str:
    changed = record.get("updated_at")
    return changed if isinstance(changed, str) and _TIME.fullmatch(changed) else ""


def _objects(reply: Reply) -> Iterator[Mapping[str, Any]]:
    records = reply.body if isinstance(reply.body, list) else []
    return (record for record in records if isinstance(record, dict))


def _checkpoint(key: str, state: _State) -> Checkpoint:
    return Checkpoint(key, {"version": STATE_VERSION, **asdict(state)})


def _load(state: Mapping[str, Any] | None) -> _State:
    if not state or state.get("version") != STATE_VERSION:
        return _State()
    return _State(
        str(state["cursor"]), dict(state["pages"]), dict(state["recent"]), dict(state["pulls"])
    )

"""What was said on GitHub into documents: a thread each, the newest version of each comment.

The same for files and for the REST API, so that what one collected the other does not again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any

from connectors.base import Item, Ledger, ReadOptions
from connectors.github_records import Comment, comments
from connectors.github_threads import Thread
from connectors.owners import is_owner, name_key
from connectors.pieces import PartCounter
from connectors.revisions import Units, remember
from connectors.text import shorten
from context_engine.clock import Clock
from context_engine.events import (
    BadRecord,
    Checkpoint,
    Role,
    SourceDocument,
    UnknownRecord,
    Utterance,
)

SOURCE = "github"
REMEMBERED = 20_000
"""Threads of this run whose title and length are kept at hand."""

_GONE = "9999"
"""Stamp of a deleted comment: later than any version of it."""

_KINDS = {
    "pull": "pull request",
    "issues": "issue",
    "discussions": "discussion",
    "commit": "commit",
}


class Comments:
    """Puts the comments of one run into their documents."""

    def __init__(self, ledger: Ledger, options: ReadOptions, clock: Clock) -> None:
        self._ledger, self._options, self._clock = ledger, options, clock
        self._owner = name_key(options.owner_name)
        self._units = Units(ledger)
        self._titles: OrderedDict[str, str] = OrderedDict()
        self._counters: OrderedDict[str, PartCounter] = OrderedDict()

    def take(self, record: Mapping[str, Any], place: str) -> Iterator[Item]:
        """Yield what is new of what was said in one record of GitHub's."""
        for found in comments(record, self._clock):
            if isinstance(found, Comment):
                yield from self.comment(found, place)
            elif found.reason:
                yield BadRecord(place, found.reason)
            else:
                yield UnknownRecord(place, found.kind)

    def comment(self, comment: Comment, place: str) -> Iterator[Item]:
        """Yield a comment when it is newer than what was sent of it before."""
        unit = self._units.open(f"{SOURCE}:{comment.native_id}")
        utterance = self._utterance(comment)
        stamp = _GONE if comment.deleted else comment.stamp
        known, _, owner = unit.stamp.partition(" ")
        # the same version again counts for nothing, but the owner may be known by now
        if stamp < known or (stamp == known and owner == self._owner):
            return
        unit.mark(f"{stamp} {self._owner}")
        title, checkpoint = self._title(comment.thread)
        template = self._template(comment, title)
        if comment.deleted:
            if not unit.knows(comment.native_id):
                yield UnknownRecord(place, "deleted comment")
            unit.withdraw(template, comment.native_id, at=comment.at)
        else:
            unit.add(template, utterance, self._counter(comment.thread))
        yield from self._units.close(unit)
        if checkpoint and not comment.deleted:
            remember(self._titles, comment.thread.native_id, title, REMEMBERED)
            yield checkpoint

    def _title(self, thread: Thread) -> tuple[str, Checkpoint | None]:
        """Return the title to send, empty when the note has it already, and what to remember."""
        key = f"{SOURCE}:thread:{thread.native_id}"
        sent = self._titles.get(thread.native_id)
        if sent is None:
            state = self._ledger.checkpoint(key) or {}
            sent = str(state.get("title") or "")
            remember(self._titles, thread.native_id, sent, REMEMBERED)
        full = f"{thread.label}: {thread.title}" if thread.title else sent or thread.label
        title = shorten(full, 160)
        return ("", None) if title == sent else (title, Checkpoint(key, {"title": title}))

    def _template(self, comment: Comment, title: str) -> SourceDocument:
        thread = comment.thread
        return SourceDocument(
            source=SOURCE,
            native_id=thread.native_id,
            scope=self._options.scope_of(None),
            project=self._options.project or thread.repo.rpartition("/")[2],
            title=title,
            utterances=(),
            url=thread.url,
            refs=comment.refs,
            meta={"kind": _KINDS[thread.url.split("/")[-2]], "repository": thread.repo},
        )

    def _utterance(self, comment: Comment) -> Utterance:
        owner = not comment.by_bot and is_owner(comment.author, self._options.owner_name)
        return Utterance(
            native_id=comment.native_id,
            author=comment.author,
            role=Role.OWNER if owner else Role.OTHER,
            at=comment.at,
            text=comment.text,
        )

    def _counter(self, thread: Thread) -> PartCounter:
        counter = self._counters.get(thread.native_id) or PartCounter()
        remember(self._counters, thread.native_id, counter, REMEMBERED)
        return counter

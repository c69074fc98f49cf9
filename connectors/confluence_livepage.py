"""One page of a live Confluence: whether it is news, and what it becomes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta

from connectors.base import Item, Ledger, ReadOptions
from connectors.confluence_elements import Context
from connectors.confluence_pages import (
    DELETED,
    Facts,
    Known,
    Page,
    Sender,
    facts_digest,
    in_order,
    is_news,
    is_owner,
    iso,
    known,
    without_text,
)
from connectors.confluence_records import Listed, Said, Site, Space, Whole
from connectors.confluence_storage import storage_to_markdown
from connectors.live_http import GoneError
from connectors.revisions import Unit
from connectors.text import clean_text
from context_engine.clock import Clock, parse_utc
from context_engine.errors import BadInputError
from context_engine.events import BadRecord, Checkpoint, Role, UnknownRecord, Utterance
from context_engine.ids import short_id

_ACCOUNT = re.compile(r'ri:(?:account-id|userkey|username)="([^"]{1,128})"')
_DEPTH = 60
_SHOWN = 1_000
_GONE = "gone"
_PARTS = 64

Tree = Mapping[str, Listed]


def is_in_trash(listed: Listed) -> bool:
    """Say whether a page was deleted at its source."""
    return listed.status in DELETED


@dataclass(frozen=True, slots=True)
class Seen:
    """What is remembered of a page that was listed: enough to find and to withdraw it.

    created: tells it from the page with the same id of another site.
    """

    kind: str
    created: str

    @classmethod
    def of(cls, listed: Listed) -> Seen:
        """Return what is to be remembered of `listed`."""
        return cls(listed.kind, iso(listed.created))

    def listed(self, page_id: str) -> Listed:
        """Return the page as one of which nothing more is told."""
        created = parse_utc(self.created) if self.created else None
        return Listed(page_id, self.kind, _GONE, "", 0, None, created, None)


class LivePages:
    """Reads pages of one site. `vanished`: ids that were listed and then not to be had."""

    def __init__(self, site: Site, ledger: Ledger, options: ReadOptions, clock: Clock) -> None:
        self._site, self._ledger, self._options = site, ledger, options
        self._today: date = clock.now().date()
        self._context = Context(user=site.person)
        self._sender = Sender(options, all_comments=True)
        self._done: set[str] = set()
        self.vanished: set[str] = set()

    def wanted(self, listed: Listed, space: Space, tree: Tree) -> bool:
        """Say whether a page may differ from what was sent of it."""
        facts = known(self._ledger, listed.id, listed.created).facts
        if facts is None or facts.listed != self._stamp(listed, space, tree):
            return True
        days = self._options.live.confluence.reread_days
        # by its id sooner or later within the second half: not all on one day
        share = int(short_id("day", listed.id), 16) % _PARTS / _PARTS
        due = timedelta(days=days * (1 + share) / 2)
        return self._today >= date.fromisoformat(facts.read) + due

    def read(self, listed: Listed, space: Space, tree: Tree) -> Iterator[Item]:
        """Yield what is new about a page that is there."""
        if listed.id in self._done:
            return
        self._done.add(listed.id)
        try:
            whole = self._site.whole(listed.id, listed.kind)
        except GoneError:
            self.vanished.add(listed.id)
            self._done.discard(listed.id)
            return
        except BadInputError as error:
            yield BadRecord(error.place, error.reason)
            return
        if whole.listed.id != listed.id:
            yield BadRecord(f"page {listed.id}", "the site sent another page")
            return
        before = known(self._ledger, listed.id, whole.listed.created)
        path = self._path(whole.listed, tree)
        facts = self._facts(whole, space, path, self._stamp(whole.listed, space, tree))
        page = self._page(whole, space, path) if is_news(before.facts, facts) else None
        if page is not None and (before.facts is not None or not without_text(page)):
            yield from self._unknown(page.url or f"page {page.id}")
            yield from self._sender.send(page, before, facts)
            return
        if page is not None:
            yield UnknownRecord(page.url or f"page {page.id}", "page without text")
        yield _looked_at(before, facts)

    def withdraw(self, listed: Listed, space: Space) -> Iterator[Item]:
        """Take back a page that its source deleted, if anything was sent of it."""
        before = known(self._ledger, listed.id, listed.created)
        old = before.facts
        if old is None or old.listed == _GONE or listed.id in self._done:
            return
        self._done.add(listed.id)
        facts = Facts(
            form="live",
            digest=facts_digest(_GONE),
            version=max(listed.version, old.version),
            modified=iso(listed.modified) or old.modified,
            created=iso(listed.created) or old.created,
            listed=_GONE,
            read=self._today.isoformat(),
        )
        page = Page(listed.id, listed.title, "", "unknown", Role.OTHER, space.title)
        yield from self._sender.withdraw(page, before, facts)

    # -- what it is made from ---------------------------------------------------------------------

    def _stamp(self, listed: Listed, space: Space, tree: Tree) -> str:
        """Return a digest over what a list tells of a page, and over who we are."""
        told = (listed.status, str(listed.version), listed.title, space.title)
        return facts_digest(self._options.owner_name, *told, *self._path(listed, tree))

    def _path(self, listed: Listed, tree: Tree) -> list[str]:
        """Return the titles above a page, the topmost first."""
        titles: list[str] = []
        seen = {listed.id}
        above = listed.parent
        while above and above[0] not in seen and len(titles) < _DEPTH:
            seen.add(above[0])
            parent = tree.get(above[0])
            if parent is None and above[1] == "folder":
                parent = self._site.folder(above[0])
            if parent is None:
                break
            titles.append(parent.title)
            above = parent.parent
        return titles[::-1]

    def _facts(self, whole: Whole, space: Space, path: list[str], stamp: str) -> Facts:
        listed = whole.listed
        parts = [self._options.owner_name, listed.status, listed.title, str(listed.version)]
        parts += [space.title, *path, *whole.labels, *whole.attachments, whole.author, whole.text]
        parts += [word for it in whole.comments for word in (it.id, it.author, it.text)]
        return Facts(
            form="live",
            digest=facts_digest(*parts),
            version=listed.version,
            modified=iso(listed.modified),
            created=iso(listed.created),
            listed=stamp,
            read=self._today.isoformat(),
        )

    def _page(self, whole: Whole, space: Space, path: list[str]) -> Page:
        self._learn(whole)
        listed = whole.listed
        return Page(
            id=listed.id,
            title=listed.title,
            text=self._text(whole.text),
            author=self._name(whole.author),
            role=self._role(*whole.writers),
            space=space.title,
            path=path,
            kind=listed.kind,
            status=listed.status,
            version=listed.version,
            created=listed.created,
            modified=listed.modified,
            labels=whole.labels,
            attachments=whole.attachments,
            comments=in_order([said for it in whole.comments if (said := self._said(it)).text]),
            url=whole.url or None,
        )

    def _learn(self, whole: Whole) -> None:
        texts = (whole.text, *(comment.text for comment in whole.comments))
        named = {account for text in texts for account in _ACCOUNT.findall(text)}
        wrote = {whole.author, *whole.writers, *(comment.author for comment in whole.comments)}
        self._site.learn(named | wrote)

    def _said(self, comment: Said) -> Utterance:
        selection = clean_text(comment.selection)[:_SHOWN]
        quote = "".join(f"> {line}\n" for line in selection.split("\n")) if selection else ""
        text = self._text(comment.text)
        shown = f"{quote}\n{text}".strip() if text else ""
        author, role = self._name(comment.author), self._role(*comment.writers)
        return Utterance(comment.id, author, role, comment.at, shown)

    def _text(self, storage: str) -> str:
        return clean_text(storage_to_markdown(storage, self._context)) if storage.strip() else ""

    def _name(self, account: str) -> str:
        return self._site.person(account) if account else "unknown"

    def _role(self, *writers: str) -> Role:
        """Owner, only when all who wrote it are known and are the owner."""
        ours = writers and all(is_owner(self._name(it), self._options) for it in writers)
        return Role.OWNER if ours else Role.OTHER

    def _unknown(self, place: str) -> Iterator[Item]:
        for kind in self._context.unknown:
            yield UnknownRecord(place, kind, kept=True)
        self._context.unknown.clear()


def _looked_at(before: Known, facts: Facts) -> Checkpoint:
    """Remember that a page was read and nothing in it was news."""
    if before.facts is not None:
        facts = replace(before.facts, listed=facts.listed, read=facts.read)
    state = before.state or Unit(before.key, None).state()
    return Checkpoint(before.key, {**state, "page": facts.state()})

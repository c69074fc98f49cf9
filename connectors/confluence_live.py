"""Confluence asked over its REST API: what changed in its spaces since the last run.

Each run lists every space, without texts, and reads only pages whose entry in the list differs
from what was sent: a new version, another title, another place. What is no longer listed is looked
for and, when it is gone, withdrawn. Pages have the ids and the reading states of the exports.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

from connectors.base import Item, Ledger, Progress, ReadOptions
from connectors.confluence_livepage import LivePages, Seen, is_in_trash
from connectors.confluence_pages import SOURCE
from connectors.confluence_records import HERE, IN_TRASH, Listed, Site, Space
from connectors.confluence_rest import Rest
from connectors.confluence_rest1 import Rest1
from connectors.credentials import secret
from connectors.live_http import Api, GoneError, open_client
from context_engine.clock import Clock, SystemClock, isoformat, parse_utc
from context_engine.errors import AccessDeniedError, BadInputError, UsageError
from context_engine.events import BadRecord, Checkpoint
from context_engine.ids import short_id
from context_engine.source_settings import ConfluenceSettings

STATE_VERSION = 1
SERVICE = "Confluence"
SCOPES = (
    "read:space:confluence, read:page:confluence, read:folder:confluence, read:comment:confluence, "
    "read:attachment:confluence, read:label:confluence, read:user:confluence"
)
OVERLAP = timedelta(minutes=10)
"""How much of the time before the last run is looked at again for comments."""

BELIEVED_AFTER = timedelta(days=7)
"""How long many pages at once may have vanished without a trace before that is believed."""

_FEW = 20


class ConfluenceLiveConnector:
    """The source `confluence-live`."""

    name = "confluence-live"
    shares = SOURCE
    accepts = "Confluence over its REST API: new, changed and deleted pages and their comments"
    needs = "confluence.site, confluence.email and the secret confluence.token"
    default_paths: tuple[Path, ...] = ()

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()

    def read(self, paths: Sequence[Path], ledger: Ledger, options: ReadOptions) -> Iterator[Item]:
        """Yield what changed since the last run.

        Raises UsageError without a site, AccessDeniedError without a token that will do, and
        DependencyDownError when the site is away.
        """
        del paths
        settings = options.live.confluence
        if not settings.site:
            raise UsageError(
                "set confluence.site, the address of your wiki: [confluence] in config.toml "
                "or CE_CONFLUENCE__SITE"
            )
        headers = {"Authorization": _authorization(settings), "Accept": "application/json"}
        refused = f"make a new token ({_needed(settings)}), and check confluence.email"
        with open_client(settings.site, headers) as client:
            api = Api(SERVICE, client, options.pause, refused)
            kind = Rest1 if settings.api == "data-center" else Rest
            reported = _Reported(options.progress)
            site = kind(api, settings.site, reported)
            yield from _Run(site, ledger, options, self._clock, reported).all()


def _authorization(settings: ConfluenceSettings) -> str:
    token = secret(settings, "confluence", "token", _needed(settings))
    if not settings.email:
        return f"Bearer {token}"
    return "Basic " + base64.b64encode(f"{settings.email}:{token}".encode()).decode("ascii")


def _needed(settings: ConfluenceSettings) -> str:
    if settings.api == "data-center":
        return "a personal access token; confluence.email stays empty"
    return f"an API token with the scopes {SCOPES}"


@dataclass
class _Reported:
    """Tells the caller how much was read, and of which space."""

    progress: Progress | None
    space: str = ""

    def __call__(self, read: int, total: int) -> None:
        if self.progress is not None:
            self.progress(read, total, self.space)


@dataclass
class _Known:
    """The pages of a space that earlier runs saw, by id. doubted: since when many are gone."""

    pages: dict[str, Seen] = field(default_factory=dict)
    doubted: str = ""

    @classmethod
    def of(cls, state: Mapping[str, Any] | None) -> _Known:
        if not state or state.get("version") != STATE_VERSION:
            return cls()
        pages = {name: Seen(*seen) for name, seen in state["pages"].items()}
        return cls(pages, state.get("doubted", ""))

    def state(self) -> dict[str, Any]:
        pages = {name: [seen.kind, seen.created] for name, seen in sorted(self.pages.items())}
        return {"version": STATE_VERSION, "pages": pages, "doubted": self.doubted}


_KINDS = ("page", "blog post")


class _Run:
    """One run over one site."""

    def __init__(
        self,
        site: Site,
        ledger: Ledger,
        options: ReadOptions,
        clock: Clock,
        reported: _Reported,
    ) -> None:
        self._site, self._ledger, self._clock, self._reported = site, ledger, clock, reported
        self._settings, self._since = options.live.confluence, options.since
        self._pages = LivePages(site, ledger, options, clock)
        # not the address as it is: a state names no host
        self._key = f"{SOURCE}:live:{short_id('site', self._settings.site)}"
        self._commented: set[str] = set()

    def all(self) -> Iterator[Item]:
        """Yield the news of all spaces, then how far the comments were read."""
        known = (self._ledger.checkpoint(self._key) or {}).get("comments")
        moment = parse_utc(known) - OVERLAP if isinstance(known, str) else None
        self._commented, latest = self._site.commented_since(self._since or moment)
        spaces = list(self._site.spaces(self._settings.spaces))
        yield from self._not_found(spaces)
        for space in spaces:
            self._reported.space = space.title
            yield from self._space(space)
        yield Checkpoint(self._key, {"comments": isoformat(latest) if latest else None})

    def _not_found(self, spaces: Sequence[Space]) -> Iterator[Item]:
        found = {space.key.casefold() for space in spaces}
        for key in self._settings.spaces:
            if key.casefold() not in found:
                yield BadRecord(f"{SERVICE} space {key}", "not there, or not for this account")
        if not spaces and not self._settings.spaces:
            yield BadRecord(SERVICE, "the account may read no space")

    def _space(self, space: Space) -> Iterator[Item]:
        key = f"{self._key}:{space.id}"
        known = _Known.of(self._ledger.checkpoint(key))
        tree = self._list(space, HERE)
        trash = self._trash(space)
        before = set(known.pages)
        known.pages |= {listed.id: Seen.of(listed) for listed in tree.values()}
        if before != set(known.pages):
            # before the pages: of one that is gone when an interrupted run goes on, this tells
            yield Checkpoint(key, known.state())
        for listed in tree.values():
            if self._is_wanted(listed, space, tree):
                yield from self._pages.read(listed, space, tree)
        for listed in trash.values():
            yield from self._pages.withdraw(listed, space)
        yield from self._missing(space, known, tree, trash)
        yield Checkpoint(key, known.state())

    def _is_wanted(self, listed: Listed, space: Space, tree: Mapping[str, Listed]) -> bool:
        if listed.id in self._commented:
            return True
        too_old = self._since and listed.modified and listed.modified < self._since
        return not too_old and self._pages.wanted(listed, space, tree)

    def _list(self, space: Space, statuses: Sequence[str]) -> dict[str, Listed]:
        return {
            listed.id: listed
            for kind in _KINDS
            for listed in self._site.listing(space, kind, statuses)
        }

    def _trash(self, space: Space) -> dict[str, Listed]:
        try:
            return self._list(space, IN_TRASH)
        except (AccessDeniedError, BadInputError):
            # not for everybody to see: what is missing is then looked for one by one
            return {}

    def _missing(
        self, space: Space, known: _Known, tree: Mapping[str, Listed], trash: Mapping[str, Listed]
    ) -> Iterator[Item]:
        """Find out what became of pages that were known and are not listed any more."""
        vanished: list[str] = []
        for name in sorted(known.pages.keys() - (tree.keys() - self._pages.vanished)):
            if name not in trash:
                try:
                    found = self._site.find(name, known.pages[name].kind)
                except GoneError:
                    vanished.append(name)
                    continue
                except BadInputError as error:
                    yield BadRecord(error.place, error.reason)
                    continue
                if is_in_trash(found):
                    yield from self._pages.withdraw(found, space)
                elif name in tree:
                    continue
            # in the trash, or in another space, whose list tells of it
            del known.pages[name]
        yield from self._vanished(space, known, vanished)

    def _vanished(self, space: Space, known: _Known, names: Sequence[str]) -> Iterator[Item]:
        """Withdraw pages that are nowhere; of very many at once rather doubt the account."""
        if len(names) > max(_FEW, len(known.pages) // 2) and not self._is_believed(known):
            yield BadRecord(
                f"{SERVICE} space {space.key}",
                f"{len(names):,} pages are gone without a trace at once: kept until "
                f"{BELIEVED_AFTER.days} days have confirmed it; may the account still see them?",
            )
            return
        for name in names:
            yield from self._pages.withdraw(known.pages.pop(name).listed(name), space)
        known.doubted = ""

    def _is_believed(self, known: _Known) -> bool:
        now: datetime = self._clock.now()
        known.doubted = known.doubted or now.date().isoformat()
        return now.date() - date.fromisoformat(known.doubted) >= BELIEVED_AFTER


CONNECTOR = ConfluenceLiveConnector()

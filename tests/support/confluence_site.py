"""An invented Confluence site behind its REST API v2."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from support.web import Answer, Asked, Web, serving_web

Record = dict[str, Any]

EMAIL, TOKEN = "aki@example.com", "ATATT3xFfGF0-invented-token-0123456789"
AKI, KIM = "557058:aki", "557058:kim"
PEOPLE = {AKI: "Aki", KIM: "Kim 金"}
AUTHORIZATION = "Basic " + base64.b64encode(f"{EMAIL}:{TOKEN}".encode()).decode()
CREATED = "2026-11-01T08:00:00.000Z"
_KINDS = {"pages": "page", "blogposts": "blog post"}
_CONTENT = re.compile(r"/wiki/api/v2/(pages|blogposts)/(\d+)(?:/([\w-]+))?")
_SPACE = re.compile(r"/wiki/api/v2/spaces/(\d+)/(pages|blogposts)")
_REPLIES = re.compile(r"/wiki/api/v2/([\w-]+)/(\d+)/children")


@dataclass
class Content:
    """A page or post with its history."""

    id: str
    title: str
    text: str
    space: str = "100"
    kind: str = "page"
    parent: str | None = None
    parent_type: str = "page"
    status: str = "current"
    writers: list[str] = field(default_factory=lambda: [KIM])
    modified: str = "2026-11-02T09:05:11.000Z"
    created: str = CREATED
    labels: list[str] = field(default_factory=list)
    attachments: list[str] = field(default_factory=list)

    def edit(self, text: str | None = None, title: str | None = None, by: str = KIM) -> None:
        """Make a new version."""
        self.text, self.title = text or self.text, title or self.title
        self.writers.append(by)
        self.modified = f"2026-11-03T10:{len(self.writers):02d}:00.000Z"


@dataclass
class Comment:
    """A comment, or with `above` a reply to one."""

    id: str
    page: str
    text: str
    by: str = KIM
    above: str | None = None
    inline: str = ""
    at: str = "2026-11-02T10:00:00.000Z"


@dataclass
class Site:
    """The site's contents. `step`: records of one reply; `turn`: called before each list reply."""

    pages: dict[str, Content] = field(default_factory=dict)
    comments: dict[str, Comment] = field(default_factory=dict)
    folders: dict[str, Record] = field(default_factory=dict)
    spaces: dict[str, tuple[str, str]] = field(default_factory=lambda: {"100": ("SHOP", "Shop")})
    step: int = 2
    turn: Callable[[str], None] | None = None
    token: str = AUTHORIZATION
    url: str = ""

    def add(self, *things: Content | Comment) -> None:
        for thing in things:
            held: dict[str, Any] = self.pages if isinstance(thing, Content) else self.comments
            held[thing.id] = thing

    def answer(self, asked: Asked) -> Answer:
        if asked.headers.get("authorization") != self.token:
            return Answer(401, {"message": "Client must be authenticated"})
        found = self._find(asked)
        return Answer(404, {"errors": [{"status": 404}]}) if found is None else Answer(200, found)

    def _find(self, asked: Asked) -> Any:
        if match := _CONTENT.fullmatch(asked.path):
            return self._content(asked, match[2], match[3])
        if match := _REPLIES.fullmatch(asked.path):
            return self._list(asked, [it for it in self.comments.values() if it.above == match[2]])
        if match := _SPACE.fullmatch(asked.path):
            return self._in_space(asked, match[1], _KINDS[match[2]])
        name = asked.path.rpartition("/")[2]
        if name in {"footer-comments", "inline-comments"}:
            some = [it for it in self.comments.values() if bool(it.inline) == (name[0] == "i")]
            return self._list(asked, sorted(some, key=lambda it: it.at, reverse=True))
        return self._names(asked, name)

    def _names(self, asked: Asked, name: str) -> Any:
        if name == "users-bulk":
            wanted = json.loads(asked.body)["accountIds"]
            return {"results": [_person(it) for it in wanted if it in PEOPLE]}
        if name == "spaces":
            keys = asked.query.get("keys")
            rows = [
                {"id": number, "key": key, "name": title, "status": "current"}
                for number, (key, title) in self.spaces.items()
                if not keys or key in keys
            ]
            return self._page(asked, rows)
        return self.folders.get(name)

    def _in_space(self, asked: Asked, space: str, kind: str) -> Any:
        assert asked.word("sort") == "id", "only this order stands still while it is paged through"
        assert kind == "page" or "archived" not in asked.query["status"], "posts are never archived"
        if self.turn is not None:
            self.turn(asked.word("cursor"))
        rows = [
            _entry(page)
            for page in sorted(self.pages.values(), key=lambda it: int(it.id))
            if (page.space, page.kind) == (space, kind) and page.status in asked.query["status"]
        ]
        after = int(asked.word("cursor") or 0)
        rest = [row for row in rows if int(row["id"]) > after]
        more = {"cursor": rest[self.step - 1]["id"]} if len(rest) > self.step else None
        return self._reply(rest[: self.step], more)

    def _content(self, asked: Asked, name: str, part: str | None) -> Any:
        page = self.pages.get(name)
        if page is None or page.status not in asked.query.get("status", ["current", "archived"]):
            return None
        if part == "attachments":
            return self._page(asked, [{"title": title} for title in page.attachments])
        if part is not None:
            some = [it for it in self.comments.values() if it.page == name and not it.above]
            inline = part == "inline-comments"
            return self._list(asked, [it for it in some if bool(it.inline) == inline])
        entry = _entry(page)
        if asked.word("body-format") == "storage":
            entry["body"] = {"storage": {"representation": "storage", "value": page.text}}
        if asked.word("include-labels"):
            entry["labels"] = {"results": [{"name": it} for it in page.labels], "meta": {}}
        if asked.word("include-versions"):
            rows = [{"number": n, "authorId": it} for n, it in enumerate(page.writers, 1)]
            entry["versions"] = {"results": rows[::-1], "meta": {"hasMore": False}}
        entry["_links"]["base"] = "https://shop.example.com/wiki"
        return entry

    def _list(self, asked: Asked, comments: Sequence[Comment]) -> Any:
        return self._page(asked, [_said(it, asked.word("body-format")) for it in comments])

    def _page(self, asked: Asked, rows: Sequence[Record]) -> Any:
        start = int(asked.word("cursor") or 0)
        end = start + self.step
        return self._reply(rows[start:end], {"cursor": str(end)} if end < len(rows) else None)

    def _reply(self, rows: Sequence[Record], more: Record | None) -> Record:
        links = {"base": "https://shop.example.com/wiki"}
        if more:
            # as a site behind a gateway says it: an address that leads past the gateway
            links["next"] = f"/past/the/gateway?limit={self.step}&cursor={more['cursor']}"
        return {"results": list(rows), "_links": links}


def _person(account: str) -> Record:
    return {"accountId": account, "displayName": PEOPLE[account], "accountStatus": "active"}


def _entry(page: Content) -> Record:
    return {
        "id": page.id,
        "status": page.status,
        "title": page.title,
        "spaceId": page.space,
        "parentId": page.parent,
        "parentType": page.parent_type if page.parent else None,
        "authorId": page.writers[0],
        "createdAt": page.created,
        "version": {
            "number": len(page.writers),
            "authorId": page.writers[-1],
            "createdAt": page.modified,
        },
        "_links": {"webui": f"/spaces/SHOP/pages/{page.id}"},
    }


def _said(comment: Comment, form: str) -> Record:
    record: Record = {
        "id": comment.id,
        "status": "current",
        "pageId": comment.page,
        "version": {"number": 1, "authorId": comment.by, "createdAt": comment.at},
    }
    if comment.inline:
        record["properties"] = {"inlineOriginalSelection": comment.inline}
    if form == "storage":
        record["body"] = {"storage": {"representation": "storage", "value": comment.text}}
    return record


@contextmanager
def serving_site(site: Site) -> Iterator[Web]:
    """Serve `site`; its wiki is at `web.url` + `/wiki`."""
    with serving_web(site.answer) as web:
        yield web

"""The invented Confluence site behind the REST API of Data Center, version 1."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from support.confluence_site import CREATED, PEOPLE, Comment, Content, Record, Site
from support.web import Asked

PAT = "NzU4invented+personal/access-token"
_CONTENT = re.compile(r"/wiki/rest/api/content/(\d+)(?:/child/(\w+))?")
_TYPES = {"page": "page", "blogpost": "blog post"}


class DataCenter(Site):
    """Paged by number, with what was asked to be expanded."""

    def _find(self, asked: Asked) -> Any:
        path = asked.path.removeprefix("/wiki/rest/api/")
        if match := _CONTENT.fullmatch(asked.path):
            return self._content(asked, match[1], match[2])
        if path == "space":
            keys = asked.query.get("spaceKey")
            rows = [
                {"id": int(number), "key": key, "name": title}
                for number, (key, title) in self.spaces.items()
                if not keys or key in keys
            ]
            return self._part(asked, rows)
        if path == "content":
            return self._listed(asked)
        if path == "content/search":
            some = sorted(self.comments.values(), key=lambda it: it.at, reverse=True)
            assert asked.word("cql").endswith("order by lastmodified desc")
            return self._part(asked, [self._comment(it) for it in some])
        person = asked.word("key")
        return _by(person) if path == "user" and person in PEOPLE else None

    def _listed(self, asked: Asked) -> Any:
        if self.turn is not None:
            self.turn(asked.word("start"))
        rows = [
            self._page_of(page)
            for page in sorted(self.pages.values(), key=lambda it: it.modified, reverse=True)
            if self.spaces[page.space][0] == asked.word("spaceKey")
            and page.kind == _TYPES[asked.word("type")]
            and page.status == asked.word("status")
        ]
        return self._part(asked, rows)

    def _content(self, asked: Asked, name: str, part: str | None) -> Any:
        page = self.pages.get(name)
        if page is None or (page.status != "current" and asked.word("status") != "any"):
            return None
        if part == "attachment":
            return self._part(asked, [{"title": title} for title in page.attachments])
        if part == "comment":
            assert asked.word("depth") == "all", "else replies would be left out"
            said = [it for it in self.comments.values() if it.page == name]
            return self._part(asked, [self._comment(it) for it in said])
        record = self._page_of(page)
        if "body.storage" in asked.word("expand"):
            record["body"] = {"storage": {"value": page.text, "representation": "storage"}}
            record["metadata"] = {"labels": {"results": [{"name": it} for it in page.labels]}}
        record["_links"]["base"] = "https://shop.example.com/wiki"
        return record

    def _page_of(self, page: Content) -> Record:
        above: list[Record] = []
        parent = page.parent
        while parent in self.pages:
            above.insert(0, {"id": parent, "title": self.pages[parent].title})
            parent = self.pages[parent].parent
        return {
            "id": page.id,
            "type": page.kind,
            "status": page.status,
            "title": page.title,
            "ancestors": above,
            "history": {"createdDate": CREATED},
            "version": {
                "number": len(page.writers),
                "when": page.modified.replace("Z", "+09:00"),
                "by": _by(page.writers[-1]),
            },
            "_links": {"webui": f"/display/SHOP/{page.id}"},
        }

    def _comment(self, comment: Comment) -> Record:
        return {
            "id": comment.id,
            "container": {"id": comment.page, "type": "page"},
            "history": {"createdDate": comment.at},
            "version": {"number": 1, "when": comment.at, "by": _by(comment.by)},
            "extensions": {"inlineProperties": {"originalSelection": comment.inline}},
            "body": {"storage": {"value": comment.text, "representation": "storage"}},
        }

    def _part(self, asked: Asked, rows: Sequence[Record]) -> Record:
        start = int(asked.word("start"))
        end = start + min(self.step, int(asked.word("limit")))
        links = {"next": f"/rest/api/x?start={end}"} if end < len(rows) else {}
        return {"results": list(rows[start:end]), "start": start, "_links": links}


def _by(key: str) -> Record:
    return {"userKey": key, "username": key[-3:], "displayName": PEOPLE[key]}

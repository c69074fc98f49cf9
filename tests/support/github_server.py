"""GitHub's REST API on this machine, as far as the connector asks for it."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from support.http_faults import Faults, QuietHandler, send, serving

TOKEN = "github_pat_11ABCDEFG_secretsecret"
REPO = "aki-labs/shop"
WEB = f"https://github.com/{REPO}"

Record = dict[str, Any]


@dataclass
class GitHubServer:
    """One repository. Records hold what a reply holds; addresses are made here."""

    port: int = 0
    issues: list[Record] = field(default_factory=list)
    issue_comments: list[Record] = field(default_factory=list)
    review_comments: list[Record] = field(default_factory=list)
    reviews: dict[int, list[Record]] = field(default_factory=dict)
    page: int = 100
    faults: Faults = field(default_factory=Faults)
    asked: list[str] = field(default_factory=list)
    """Address of each request, and behind it the status of its reply."""
    twist: Callable[[str, Any], Any] = lambda _, answer: answer
    """Turns the answer to a path into another."""
    after: Callable[[str], None] | None = None
    """Called after each list with its path: something happens between two pages."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def issue(self, number: int, title: str, body: str, at: str, *, pull: bool = False) -> None:
        page = f"{WEB}/{'pull' if pull else 'issues'}/{number}"
        record = self._record(f"I_{number}", body, at, page, f"issues/{number}")
        self.issues.append({**record, "number": number, "title": title, "comments": 0})
        if pull:
            self.issues[-1]["pull_request"] = {"html_url": page}

    def comment(self, number: int, issue: int, body: str, at: str, login: str = "kim") -> None:
        page = f"{WEB}/issues/{issue}#issuecomment-{number}"
        record = self._record(f"IC_{number}", body, at, page, f"issues/comments/{number}", login)
        self.issue_comments.append(record)

    def review_comment(self, number: int, pull: int, body: str, at: str) -> None:
        page = f"{WEB}/pull/{pull}#discussion_r{number}"
        record = self._record(f"RC_{number}", body, at, page, f"pulls/comments/{number}")
        self.review_comments.append({**record, "path": "app.py", "line": 3})

    def review(self, number: int, pull: int, body: str, at: str, state: str = "APPROVED") -> None:
        page = f"{WEB}/pull/{pull}#pullrequestreview-{number}"
        record = self._record(f"R_{number}", body, at, page, "")
        del record["url"], record["created_at"], record["updated_at"]
        self.reviews.setdefault(pull, []).append({**record, "state": state, "submitted_at": at})
        self.touch(pull, at)

    def touch(self, number: int, at: str) -> None:
        for issue in self.issues:
            if issue["number"] == number:
                issue["updated_at"] = at

    def _record(
        self, name: str, body: str, at: str, page: str, path: str, login: str = "kim"
    ) -> Record:
        return {
            "node_id": name,
            "body": body,
            "user": {"login": login, "type": "User"},
            "created_at": at,
            "updated_at": at,
            "html_url": page,
            "url": f"{self.url}/repos/{REPO}/{path}",
        }

    def answer(self, path: str, query: dict[str, str]) -> tuple[Any, str | None] | None:
        """Return body and Link header, None for 404."""
        base = f"/repos/{REPO}/"
        name = path.removeprefix(base)
        lists = {
            "issues": self.issues,
            "issues/comments": self.issue_comments,
            "pulls/comments": self.review_comments,
        }
        if not path.startswith(base):
            return None
        if name in lists:
            records = sorted(lists[name], key=lambda record: str(record["updated_at"]))
            records = [it for it in records if it["updated_at"] >= query.get("since", "")]
            return self._paged(path, records, query)
        if name.endswith("/reviews"):
            number = int(name.split("/")[1])
            return self._paged(path, self.reviews.get(number, []), query)
        every = [record for records in lists.values() for record in records]
        found = [record for record in every if record["url"].endswith(path)]
        return (found[0], None) if found else None

    def _paged(
        self, path: str, records: list[Record], query: dict[str, str]
    ) -> tuple[Any, str | None]:
        number = int(query.get("page", "1"))
        start = (number - 1) * self.page
        following = urlencode({**query, "page": str(number + 1)})
        link = f'<{self.url}{path}?{following}>; rel="next"'
        more = start + self.page < len(records)
        return records[start : start + self.page], link if more else None


@contextmanager
def github_server() -> Iterator[GitHubServer]:
    """Serve a repository."""
    server = GitHubServer()

    class Handler(QuietHandler):
        def do_GET(self) -> None:  # noqa: N802 - http.server calls it so
            parts = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            fault = server.faults.take(parts.path)
            if fault is not None and not fault.half:
                self._send(fault.status, fault.body, dict(fault.headers))
                return
            if self.headers.get("Authorization") != f"Bearer {TOKEN}":
                self._send(401, {"message": "Bad credentials"}, {})
                return
            answer = server.answer(parts.path, query)
            if answer is None:
                self._send(404, {"message": "Not Found"}, {})
                return
            body, link = server.twist(parts.path, answer[0]), answer[1]
            etag = f'W/"{hashlib.sha256(json.dumps([body, link]).encode()).hexdigest()}"'
            headers = {"ETag": etag, "X-RateLimit-Remaining": "4999"}
            headers |= {"Link": link} if link else {}
            if self.headers.get("If-None-Match") == etag:
                self._send(304, b"", headers)
            else:
                self._send(200, body, headers, half=fault is not None)
            if server.after is not None:
                server.after(parts.path)

        def _send(
            self, status: int, value: Any, headers: dict[str, str], *, half: bool = False
        ) -> None:
            server.asked.append(f"{self.path} {status}")
            send(self, status, value, headers, half=half)

    with serving(Handler) as port:
        server.port = port
        yield server


def soon(seconds: int) -> str:
    """Return a moment as X-RateLimit-Reset tells it."""
    return str(int(time.time()) + seconds)

"""A service on this machine that answers as a test tells it, and fails when a test tells it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from support.http_faults import Fault, Faults, QuietHandler, send, serving


@dataclass(frozen=True)
class Asked:
    """One request."""

    method: str
    path: str
    query: Mapping[str, list[str]]
    headers: Mapping[str, str]
    body: bytes

    def word(self, name: str, default: str = "") -> str:
        return self.query.get(name, [default])[0]


@dataclass(frozen=True)
class Answer:
    """One reply; `body` is bytes or a JSON value."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Web:
    """What the service was asked, and what is to go wrong."""

    answer: Callable[[Asked], Answer]
    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    faults: Faults = field(default_factory=Faults)

    def paths(self, part: str = "") -> list[str]:
        return [asked.path for asked in self.asked if part in asked.path]


@contextmanager
def serving_web(answer: Callable[[Asked], Answer]) -> Iterator[Web]:
    """Serve for as long as the block runs."""
    web = Web(answer)

    class Handler(QuietHandler):
        def do_GET(self) -> None:  # noqa: N802 - the base's name
            parts = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            query = parse_qs(parts.query, keep_blank_values=True)
            asked = Asked(self.command, parts.path, query, headers, body)
            web.asked.append(asked)
            self.reply(asked, web.faults.take(asked.path))

        do_POST = do_GET  # noqa: N815 - the base's name

        def reply(self, asked: Asked, fault: Fault | None) -> None:
            if fault is not None and not fault.half:
                send(self, fault.status, fault.body, fault.headers)
                return
            answer = web.answer(asked)
            send(self, answer.status, answer.body, answer.headers, half=fault is not None)

    with serving(Handler) as port:
        web.url = f"http://127.0.0.1:{port}"
        yield web

"""Slack's Web API and Socket Mode on this machine, as far as the connector asks for them."""

from __future__ import annotations

import base64
import hashlib
import json
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from queue import Queue
from typing import Any
from urllib.parse import parse_qs

from support.http_faults import Faults, QuietHandler, send, serving
from support.slack import CHANNELS, USERS, Record

TOKEN = "xoxp-1234567890-abcdefghij"
APP_TOKEN = "xapp-1-A0001-secretsecret"
_WEBSOCKET = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_TEXT, _CLOSE, _PING, _PONG = 1, 8, 9, 10


@dataclass
class SlackServer:
    """A workspace. `messages` by channel; replies have a `thread_ts` of another message."""

    port: int = 0
    users: list[Record] = field(default_factory=lambda: list(USERS))
    channels: list[Record] = field(
        default_factory=lambda: [{**CHANNELS[0], "is_channel": True, "is_member": True}]
    )
    messages: dict[str, list[Record]] = field(default_factory=dict)
    page: int = 100
    scopes: frozenset[str] = frozenset({"public_channel", "private_channel", "mpim", "im"})
    faults: Faults = field(default_factory=Faults)
    calls: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    twist: Callable[[str, Any], Any] = lambda _, answer: answer
    """Turns the answer to a method into another."""
    after: Callable[[str], None] | None = None
    """Called after each answer with the method: something happens between two pages."""
    sockets: Queue[Socket] = field(default_factory=Queue)
    """Connections of Socket Mode, in the order in which they were made."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/api"

    def called(self, method: str) -> int:
        return sum(1 for name, _ in self.calls if name == method)

    def say(self, channel: str, *records: Record) -> None:
        self.messages.setdefault(channel, []).extend(records)

    def answer(self, method: str, params: dict[str, str], token: str) -> Record:
        if method == "apps.connections.open":
            if token != APP_TOKEN:
                return {"ok": False, "error": "invalid_auth"}
            return {"ok": True, "url": f"ws://127.0.0.1:{self.port}/link?ticket=t1"}
        if token != TOKEN:
            return {"ok": False, "error": "token_expired"}
        answers = {
            "auth.test": self._auth,
            "users.list": self._users,
            "conversations.list": self._channels,
            "conversations.info": self._info,
            "conversations.history": self._history,
            "conversations.replies": self._replies,
        }
        return answers[method](params)

    def _auth(self, _: dict[str, str]) -> Record:
        return {"ok": True, "url": "https://acme.slack.com/", "user_id": "U00000AKI"}

    def _users(self, params: dict[str, str]) -> Record:
        return self._paged("members", self.users, params)

    def _channels(self, params: dict[str, str]) -> Record:
        kind = params["types"]
        if kind not in self.scopes:
            return {"ok": False, "error": "missing_scope", "needed": f"{kind[:2]}:read"}
        flags = {"public_channel": "is_channel", "private_channel": "is_group"}
        flag = flags.get(kind, f"is_{kind}")
        return self._paged("channels", [c for c in self.channels if c.get(flag)], params)

    def _info(self, params: dict[str, str]) -> Record:
        found = [c for c in self.channels if c["id"] == params["channel"]]
        return {"ok": True, "channel": found[0]} if found else _not_found("channel_not_found")

    def _history(self, params: dict[str, str]) -> Record:
        if params["channel"] not in {c["id"] for c in self.channels}:
            return _not_found("channel_not_found")
        shown = [
            self._with_replies(m)
            for m in self.messages.get(params["channel"], [])
            if m.get("thread_ts", m["ts"]) == m["ts"] or m.get("subtype") == "thread_broadcast"
            if params.get("oldest", "0") <= m["ts"] <= params.get("latest", "9")
        ]
        shown.sort(key=lambda m: str(m["ts"]), reverse=True)
        # a cursor of Slack's names a message, not a number: what is said meanwhile moves nothing
        before = params.get("cursor")
        rest = [m for m in shown if before is None or m["ts"] < before]
        page = rest[: self.page]
        more = len(rest) > len(page)
        metadata = {"response_metadata": {"next_cursor": page[-1]["ts"]}} if more else {}
        return {"ok": True, "messages": page, "has_more": more, **metadata}

    def _with_replies(self, parent: Record) -> Record:
        replies = [m["ts"] for m in self._thread(parent["ts"]) if m["ts"] != parent["ts"]]
        if not replies:
            return parent
        return {
            **parent,
            "thread_ts": parent["ts"],
            "reply_count": len(replies),
            "latest_reply": max(replies),
        }

    def _thread(self, ts: str) -> list[Record]:
        every = [m for messages in self.messages.values() for m in messages]
        found = [m for m in every if m["ts"] == ts or m.get("thread_ts") == ts]
        return sorted(found, key=lambda m: str(m["ts"]))

    def _replies(self, params: dict[str, str]) -> Record:
        thread = self._thread(params["ts"])
        if not thread:
            return _not_found("thread_not_found")
        first = [self._with_replies(m) if m["ts"] == params["ts"] else m for m in thread]
        return self._paged("messages", first, params)

    def _paged(self, key: str, records: list[Record], params: dict[str, str]) -> Record:
        start = int(params.get("cursor") or 0)
        end = start + self.page
        following = str(end) if end < len(records) else ""
        page = records[start:end]
        return {"ok": True, key: page, "response_metadata": {"next_cursor": following}}


def _not_found(code: str) -> Record:
    return {"ok": False, "error": code}


@contextmanager
def slack_server() -> Iterator[SlackServer]:
    """Serve a workspace."""
    server = SlackServer()

    class Handler(QuietHandler):
        def do_POST(self) -> None:  # noqa: N802 - http.server calls it so
            length = int(self.headers.get("Content-Length") or 0)
            form = parse_qs(self.rfile.read(length).decode())
            params = {name: values[0] for name, values in form.items()}
            method = self.path.rpartition("/")[2]
            server.calls.append((method, params))
            fault = server.faults.take(method)
            token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
            if fault is None or fault.half:
                answer = server.twist(method, server.answer(method, params, token))
                send(self, 200, answer, half=fault is not None)
            else:
                send(self, fault.status, fault.body, fault.headers)
            if server.after is not None and fault is None:
                server.after(method)

        def do_GET(self) -> None:  # noqa: N802 - http.server calls it so
            key = (self.headers.get("Sec-WebSocket-Key") or "").encode()
            accept = base64.b64encode(hashlib.sha1(key + _WEBSOCKET).digest())  # noqa: S324 - RFC 6455
            self.send_response(101)
            self.send_header("Upgrade", "websocket")
            self.send_header("Connection", "Upgrade")
            self.send_header("Sec-WebSocket-Accept", accept.decode())
            self.end_headers()
            self.close_connection = True
            link = Socket(self)
            link.send({"type": "hello", "num_connections": 1})
            server.sockets.put(link)
            link.serve()

    with serving(Handler) as port:
        server.port = port
        yield server


class Socket:
    """One WebSocket, the server's side."""

    def __init__(self, handler: QuietHandler) -> None:
        self._handler = handler
        self.acknowledged: Queue[str] = Queue()

    def send(self, value: Any) -> None:
        self._frame(_TEXT, json.dumps(value).encode())

    def event(self, envelope_id: str, event: Record) -> None:
        """Tell of an event; the client acknowledges it by its envelope."""
        payload = {"type": "event_callback", "team_id": "T1", "event": event}
        envelope = {"type": "events_api", "envelope_id": envelope_id, "payload": payload}
        self.send({**envelope, "accepts_response_payload": False})

    def close(self) -> None:
        """End the connection, as Slack does every few hours."""
        self._frame(_CLOSE, struct.pack("!H", 1000))

    def serve(self) -> None:
        while (frame := self._read()) is not None:
            opcode, data = frame
            if opcode == _PING:
                self._frame(_PONG, data)
            elif opcode == _TEXT:
                self.acknowledged.put(json.loads(data)["envelope_id"])
            elif opcode == _CLOSE:
                return

    def _frame(self, opcode: int, data: bytes) -> None:
        size = (
            struct.pack("!B", len(data)) if len(data) < 126 else struct.pack("!BH", 126, len(data))
        )
        self._handler.wfile.write(bytes([0x80 | opcode]) + size + data)
        self._handler.wfile.flush()

    def _read(self) -> tuple[int, bytes] | None:
        head = self._handler.rfile.read(2)
        if len(head) < 2:
            return None
        size = head[1] & 0x7F
        if size == 126:
            (size,) = struct.unpack("!H", self._handler.rfile.read(2))
        mask = self._handler.rfile.read(4)
        data = self._handler.rfile.read(size)
        return head[0] & 0x0F, bytes(byte ^ mask[i % 4] for i, byte in enumerate(data))

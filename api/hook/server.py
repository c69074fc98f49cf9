"""Answers hooks inside the engine, on a Unix socket that only the owner can open.

One connection is one question: JSON in, the text for the assistant out. `state/hook.json` says
where the socket is. No token is needed, since whoever opens the socket can read the vault itself;
what a hook may see follows from its folder, by the scope rules.
"""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any

import orjson

from api.audit import AuditLog
from api.caller import Caller, Transport
from api.dispatch import perform
from api.exchange import Exchange
from api.hook.bookend import recall_text, start_text
from api.operations.base import Answer, Services
from api.operations.registry import OPERATIONS
from api.problems import Problem
from context_engine.clock import Clock
from context_engine.errors import ConfigError
from context_engine.home import Home
from context_engine.logs import get_logger
from context_engine.scopes import scope_for_path
from context_engine.settings import Settings
from context_engine.sockets import make_socket_folder, socket_place
from vault.store import rewrite

CLIENT = "hook"
MAX_QUESTION = 256 * 1024
QUESTION_SECONDS = 2.0
THREADS = 4
_ANNOUNCEMENT = "hook.json"

log = get_logger(__name__)


class Hooks:
    """What is said to each event."""

    def __init__(
        self,
        settings: Settings,
        services: Callable[[], Services],
        audit: AuditLog,
        clock: Clock,
    ) -> None:
        self._settings = settings
        self._services = services
        self._audit = audit
        self._clock = clock

    def answer(self, question: Mapping[str, Any]) -> str:
        """Return the text for the assistant, "" for none; raises AuditError."""
        caller = self._caller(str(question.get("cwd", "")))
        if caller is None:
            return ""
        match question.get("event"):
            case "session-start":
                return start_text(self._perform("query_self", caller, self._start(caller)))
            case "user-prompt" if self._recalls(question):
                return recall_text(self._perform("recall", caller, _prompt(question)))
            case _:
                return ""

    def _recalls(self, question: Mapping[str, Any]) -> bool:
        return self._settings.hooks.recall and bool(str(question.get("prompt", "")).strip())

    def _start(self, caller: Caller) -> dict[str, Any]:
        return {"cwd": caller.folder, "budget": self._settings.hooks.session_budget}

    def _caller(self, cwd: str) -> Caller | None:
        """Return who asks; None without a folder, since then no rule says what it may see."""
        if not cwd.startswith("/") or "\0" in cwd:
            return None
        scope = scope_for_path(cwd, self._settings.scope_rules, self._settings.default_scope)
        return Caller(CLIENT, scope, Transport.HOOK, cwd)

    def _perform(self, name: str, caller: Caller, arguments: dict[str, Any]) -> Answer | None:
        exchange = Exchange(Transport.HOOK, name, self._clock.monotonic(), caller)
        outcome = perform(OPERATIONS[name], self._services, caller, arguments, self._audit)
        if isinstance(outcome, Problem):
            exchange.outcome = outcome.code
            log.warning("hook not answered", operation=name, reason=outcome.message)
        else:
            exchange.results = outcome.result_ids()
        exchange.record(self._audit, self._clock)
        return None if isinstance(outcome, Problem) else outcome


def _prompt(question: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "prompt": _whole(str(question["prompt"])),
        "session": _whole(str(question.get("session_id") or "unnamed")[:100]),
    }


def _whole(text: str) -> str:
    """Return `text` without the halves of characters that a terminal may cut."""
    return text.encode("utf-8", "replace").decode("utf-8")


@contextmanager
def listening(home: Home, answer: Callable[[Mapping[str, Any]], str]) -> Iterator[None]:
    """Answer hooks while the block runs. An engine that cannot listen goes on without hooks."""
    place = socket_place(home, home.state / "hook.sock")
    try:
        make_socket_folder(place)
        place.unlink(missing_ok=True)
        server = _Server(str(place), _handler(answer))
    except (OSError, ConfigError) as error:
        log.warning("hooks are not answered", reason=str(error))
        yield
        return
    place.chmod(0o600)
    announcement = orjson.dumps({"socket": str(place)})
    rewrite(home.state, _ANNOUNCEMENT, lambda _: (announcement, None))
    thread = threading.Thread(target=server.serve_forever, args=(0.1,), name="hooks", daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        for path in (place, home.state / _ANNOUNCEMENT):
            with suppress(OSError):
                path.unlink()


class _Server(socketserver.UnixStreamServer):
    """Answers in a few threads that stay: each keeps its connections to the indexes."""

    request_queue_size = 64

    def __init__(self, place: str, handler: type[socketserver.StreamRequestHandler]) -> None:
        super().__init__(place, handler)
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="hook")

    def process_request(self, request: Any, client_address: Any) -> None:
        self._threads.submit(self._answer, request, client_address)

    def _answer(self, request: Any, client_address: Any) -> None:
        try:
            self.finish_request(request, client_address)
        except Exception:
            log.exception("hook failed")
        finally:
            self.shutdown_request(request)

    def server_close(self) -> None:
        super().server_close()
        self._threads.shutdown(wait=False, cancel_futures=True)


def _handler(
    answer: Callable[[Mapping[str, Any]], str],
) -> type[socketserver.StreamRequestHandler]:
    class Handler(socketserver.StreamRequestHandler):
        timeout = QUESTION_SECONDS

        def handle(self) -> None:
            try:
                given = json.loads(self.rfile.read(MAX_QUESTION))
                if isinstance(given, dict):
                    self.wfile.write(answer(given).encode("utf-8", "replace"))
            except (ValueError, OSError) as error:
                # cut short, no JSON, or a hook that did not wait
                log.info("hook not answered", reason=str(error))

    return Handler

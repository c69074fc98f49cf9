"""The audit log: one JSON line a request, written before the reply.

A line says who asked for what and which results left, never any text of them. When the log cannot
be written the request fails: what is not recorded does not happen.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from api.audit_files import rotate
from context_engine.clock import isoformat
from context_engine.errors import ContextEngineError
from context_engine.logs import get_logger

log = get_logger(__name__)

MAX_BYTES = 10_000_000
KEEP = 20
"""Older files that are kept: some hundred thousand requests."""

_NOT_ESCAPED_BY_JSON = {0x7F: "\\u007f"}


class AuditError(ContextEngineError):
    """The audit log could not be written."""


@dataclass(frozen=True)
class AuditEntry:
    """One request. `client` and `scope` are None until a token was verified."""

    at: datetime
    transport: str
    action: str
    """An operation's name, an MCP method, or METHOD /path."""
    outcome: str
    """`ok`, or the code of the error that was answered."""
    client: str | None = None
    scope: str | None = None
    results: tuple[str, ...] = ()
    """Ids of chunks or paths of notes that the reply holds or that were written."""
    milliseconds: float = 0.0


class AuditLog:
    """Appends to one file. Safe from several threads and processes: a line is one write.

    A file that has reached `max_bytes` is put aside, and the last `keep` of those are kept.
    """

    def __init__(self, path: Path, *, max_bytes: int = MAX_BYTES, keep: int = KEEP) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._keep = keep

    def check(self) -> None:
        """Raise AuditError when a line could not be written now.

        Called before something is changed, so that nothing is written to the vault unrecorded.
        """
        os.close(self._open())

    def write(self, entry: AuditEntry) -> None:
        """Append one line.

        Raises AuditError when it did not reach the file whole.
        """
        line = encode(entry)
        descriptor = self._open()
        try:
            written = os.write(descriptor, line)
            size = os.fstat(descriptor).st_size
        except OSError as error:
            raise self._failed(error.strerror or str(error)) from error
        finally:
            os.close(descriptor)
        if written != len(line):
            raise self._failed("the disk is full")
        if size >= self._max_bytes:
            self._rotate()

    def _rotate(self) -> None:
        try:
            rotate(self._path, self._max_bytes, self._keep)
        except OSError as error:
            # the line is written, which is what counts; the next one tries again
            log.warning("audit_not_rotated", reason=str(error))

    def _open(self) -> int:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            return os.open(self._path, flags, 0o600)
        except OSError as error:
            raise self._failed(error.strerror or str(error)) from error

    def _failed(self, reason: str) -> AuditError:
        return AuditError(f"the audit log {self._path} cannot be written ({reason})")


def encode(entry: AuditEntry) -> bytes:
    """Return the line: ASCII only, so that no control or bidi character reaches a terminal."""
    fields: Mapping[str, object] = {
        "time": isoformat(entry.at),
        "client": entry.client,
        "scope": entry.scope,
        "transport": entry.transport,
        "action": entry.action,
        "outcome": entry.outcome,
        "results": entry.results,
        "ms": round(entry.milliseconds, 1),
    }
    text = json.dumps(fields, ensure_ascii=True, separators=(",", ":"))
    return text.translate(_NOT_ESCAPED_BY_JSON).encode("ascii") + b"\n"

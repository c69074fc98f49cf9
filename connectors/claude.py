"""Claude Code transcripts: `~/.claude/projects` and single files of it.

A conversation is one document that grows; a subagent's is a document of its own that names its
parent. Taken are the words of persons and assistants. Left out are tool calls and their results
(a tool's output must not pass for its owner's words), thinking, images, notices that Claude Code
writes in the user's name, summaries made by compaction, and our own injected context.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

from connectors.base import Item, Ledger, ReadOptions
from connectors.claude_layout import (
    Kind,
    by_age,
    first_value,
    kind_of,
    native_id,
    subagent_of,
    unknown_kind,
)
from connectors.claude_memory import read_memory
from connectors.claude_session import SOURCE, Env, Session, Transcript
from connectors.jsonl import (
    LINE_LIMIT,
    Cursor,
    Line,
    LineReader,
    is_unchanged,
    load_cursor,
    parse_object,
    salvage,
    still_continues,
)
from connectors.look import Guess, Look
from connectors.pieces import Unseen
from connectors.reports import named_or_counted
from connectors.text import clean_text, shorten, show_path
from connectors.walk import Found, find_files, reason_of
from context_engine.clock import Clock, SystemClock
from context_engine.errors import UsageError
from context_engine.events import BadRecord, Checkpoint, UnknownRecord

STATE_VERSION = 1
CHECKPOINT_BYTES = 8 * 1024 * 1024
"""Bytes of a transcript after which what was read so far is committed."""
_BUFFER = 1024 * 1024
_RECORD = re.compile(rb'"sessionId"\s*:|"type"\s*:\s*"(?:user|assistant)"')


class ClaudeConnector:
    """The source `claude`."""

    name = "claude"
    accepts = "Claude Code: ~/.claude/projects, a folder below it, or .jsonl and .json transcripts"
    default_paths: tuple[Path, ...] = (Path("~/.claude/projects"),)

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()

    def recognise(self, look: Look) -> Guess | None:
        """Return what `look` shows, None when it is nothing of this source's."""
        found = tuple(file for file in look.named(".jsonl") if _RECORD.search(file.head))
        found += look.holding((".json",), b'"loglines"')
        sessions = look.counted(len(found), "session")
        return Guess(f"Claude Code transcripts ({sessions})") if found else None

    def read(self, paths: Sequence[Path], ledger: Ledger, options: ReadOptions) -> Iterator[Item]:
        """Yield what is new below `paths`, the files that changed longest ago first.

        Raises UsageError when none of the paths exists.
        """
        roots = [path.expanduser() for path in paths or self.default_paths]
        if not any(root.exists() for root in roots):
            raise UsageError(_nothing_there(roots))
        files: dict[str, Found] = {}
        for root in roots:
            for found in find_files(root):
                if isinstance(found, Found):
                    files[show_path(found.path.absolute())] = found
                else:
                    yield found
        env = Env(options, Unseen(ledger), self._clock)
        named = {root.absolute() for root in roots}
        run = _Run(ledger, env, named, sum(found.size for found in files.values()))
        for found in by_age(list(files.values())):
            yield from run.file(found)


def _nothing_there(roots: Sequence[Path]) -> str:
    names = ", ".join(show_path(root) for root in roots)
    return f"{names}: does not exist; name a folder or a .jsonl file of Claude Code sessions"


class _Run:
    """Reads the files of one run."""

    def __init__(self, ledger: Ledger, env: Env, named: set[Path], total: int) -> None:
        self._ledger, self._env, self._named, self._total = ledger, env, named, total

    def file(self, found: Found) -> Iterator[Item]:
        kind = kind_of(found.path)
        place = show_path(found.path)
        try:
            if kind is Kind.TRANSCRIPT:
                yield from named_or_counted(self._transcript(found), place)
                return
            if kind is Kind.EXPORT:
                yield from named_or_counted(self._export(found), place)
            elif kind is Kind.MEMORY:
                yield from read_memory(found, self._ledger, self._env)
            elif kind is Kind.UNKNOWN:
                yield self._not_ours(found)
            self._progress(found.size, found)
        except OSError as error:
            yield BadRecord(place, reason_of(error))

    def _not_ours(self, found: Found) -> BadRecord | UnknownRecord:
        place = show_path(found.path)
        if found.path.absolute() in self._named:
            return BadRecord(place, "not a Claude Code transcript (.jsonl or .json)")
        return UnknownRecord(place, unknown_kind(found.path))

    def _progress(self, size: int, found: Found) -> None:
        if self._env.options.progress is not None:
            self._env.options.progress(size, self._total, show_path(found.path))

    def _transcript(self, found: Found) -> Iterator[Item]:
        key = f"{SOURCE}:{native_id(found.path)}"
        state = self._ledger.checkpoint(key) or {}
        if is_unchanged(_cursor(state), found):
            self._progress(found.size, found)
            return
        with found.path.open("rb", buffering=_BUFFER) as handle:
            cursor, session = self._resume(describe(found.path), state, handle)
            reader = LineReader(handle, cursor)
            self._progress(cursor.offset, found)
            reported = committed = cursor.offset
            place = show_path(found.path)
            for line in reader:
                yield from _records(session, line, place)
                if reader.offset - committed >= CHECKPOINT_BYTES:
                    yield from _commit(session, reader.cursor(at_end=False), key)
                    self._progress(reader.offset - reported, found)
                    reported = committed = reader.offset
            end = reader.cursor(at_end=True)
            if end != cursor and end.offset:
                yield from _commit(session, end, key)
            self._progress(max(found.size, reader.offset) - reported, found)

    def _resume(
        self, transcript: Transcript, state: Mapping[str, Any], handle: BinaryIO
    ) -> tuple[Cursor, Session]:
        """Return where and with what to go on; a file that was replaced is read from its start."""
        cursor = _cursor(state)
        if cursor.offset and still_continues(handle, cursor):
            try:
                return cursor, Session(transcript, state["session"], self._env)
            except (AttributeError, KeyError, TypeError, ValueError):
                pass  # written by another version: what was sent before is known by its ids
        return Cursor(), Session(transcript, {}, self._env)

    def _export(self, found: Found) -> Iterator[Item]:
        """Read a transcript that is one JSON document: a list of records, or `loglines`."""
        place = show_path(found.path)
        if found.size > LINE_LIMIT:
            yield BadRecord(place, f"larger than {LINE_LIMIT >> 20} MiB: only .jsonl is a stream")
            return
        data = found.path.read_bytes()
        records = _whole_document(data)
        if records is None:
            yield self._not_ours(found)
            return
        key, digest = f"{SOURCE}:{native_id(found.path)}", sha256(data).hexdigest()
        if (self._ledger.checkpoint(key) or {}).get("digest") == digest:
            return
        session = Session(describe(found.path), {}, self._env)
        for number, record in enumerate(records, 1):
            if isinstance(record, dict):
                yield from session.feed(record, f"{place}#{number}")
            else:
                yield BadRecord(f"{place}#{number}", "not a JSON object")
        yield from session.flush()
        yield Checkpoint(key, {"version": STATE_VERSION, "digest": digest})


def _whole_document(data: bytes) -> list[Any] | None:
    data = data.removeprefix(b"\xef\xbb\xbf").strip()
    # a list becomes an object, so that one parser with one set of limits does for both
    value = parse_object(b'{"loglines":' + data + b"}" if data.startswith(b"[") else data)
    records = value.get("loglines") if isinstance(value, dict) else None
    return records if isinstance(records, list) else None


def describe(path: Path) -> Transcript:
    """Return what is known of a transcript before it is read."""
    agent, name = subagent_of(path), native_id(path)
    if agent is None:
        return Transcript(name)
    meta = {"kind": "subagent", "agent": agent.name, "agent_type": agent.kind}
    meta["parent"] = native_id(agent.parent) if agent.parent else None
    return Transcript(
        name,
        by_agent=True,
        cwd=first_value(agent.parent, "cwd") if agent.parent else None,
        title=shorten(clean_text(agent.task)) if agent.task else None,
        meta={key: clean_text(value)[:300] for key, value in meta.items() if value},
    )


def _cursor(state: Mapping[str, Any]) -> Cursor:
    saved = state.get("cursor")
    if state.get("version") != STATE_VERSION or not isinstance(saved, Mapping):
        return Cursor()
    return load_cursor(saved)


def _commit(session: Session, cursor: Cursor, key: str) -> Iterator[Item]:
    yield from session.flush()
    state = {"cursor": cursor.state(), "session": session.state()}
    yield Checkpoint(key, {"version": STATE_VERSION, **state})


def _records(session: Session, line: Line, file: str) -> Iterator[Item]:
    """Read one line; of two records run together the whole one is kept."""
    place = f"{file}:{line.number}"
    value = line.problem or parse_object(line.data)
    if isinstance(value, str):
        rest = salvage(line.data)
        kept = "; the whole record that follows on the line was read" if rest else ""
        yield BadRecord(place, value + kept)
        value = rest
    if value is not None:
        yield from session.feed(value, place)


CONNECTOR = ClaudeConnector()

"""Reading Ollama's NDJSON stream in bounded memory, and telling a reply that never ends."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

from context_engine.errors import LLMOutputError
from workers.extraction.outcomes import Outcome

MAX_LINE = 1_000_000
"""Bytes of one line: a whole unstreamed reply fits, a body without end does not."""

MAX_BODY = 8_000_000
"""Bytes of one response: each token costs about 150 on the wire."""

TAIL = 900
"""Characters at the end of an answer in which repetition shows."""

_REPEATS = 6


async def lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the non-empty lines of `chunks`.

    Raises LLMOutputError(too_large) when a line or the whole exceeds its bound.
    """
    pending = bytearray()
    total = 0
    async for chunk in chunks:
        total += len(chunk)
        pending += chunk
        if b"\n" in chunk:
            *whole, rest = pending.split(b"\n")
            pending = bytearray(rest)
            for line in whole:
                if line.strip():
                    yield bytes(line)
        if len(pending) > MAX_LINE or total > MAX_BODY:
            raise LLMOutputError(Outcome.TOO_LARGE, f"the server sent {total:,} bytes and more")
    if pending.strip():
        yield bytes(pending)


def parse_line(line: bytes) -> dict[str, Any]:
    """Return the object on one line.

    Raises LLMOutputError(server_error) when it is none.
    """
    try:
        part = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise LLMOutputError(
            Outcome.SERVER_ERROR, f"a line that is no JSON: {line[:80]!r}"
        ) from error
    if not isinstance(part, dict):
        raise LLMOutputError(Outcome.SERVER_ERROR, f"a line that is no object: {line[:80]!r}")
    return part


def repeats_without_end(text: str) -> bool:
    """Tell whether `text` ends in one short piece said over and over, white space included."""
    tail = text[-TAIL:]
    if len(tail) < TAIL:
        return False
    if not tail[-TAIL // 2 :].strip():
        return True
    # the period is the distance to the previous occurrence of the last few characters
    probe = tail[-24:]
    before = tail.rfind(probe, 0, len(tail) - 1)
    period = len(tail) - len(probe) - before
    if before < 0 or period * _REPEATS > TAIL:
        return False
    span = period * _REPEATS
    return tail[-span:-period] == tail[-span + period :]

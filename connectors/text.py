"""Small things every source needs done to text, times and names."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from context_engine.clock import Clock, parse_utc

EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
"""No conversation that we collect is older; an earlier time is a clock that was never set."""

TITLE_LENGTH = 80
_MILLISECONDS = 1e11  # as seconds this would be the year 5138

# Control characters but tab and line feed; C1 too. ESC sequences lose their ESC and their colours.
_ANSI = re.compile(r"\x1b\[[0-9;?]{0,32}[A-Za-z]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_SENTENCE_END = re.compile(r"[。！？!?](?=.)|\.(?=\s)")
_MARKUP = re.compile(r"^[\s#>*\-•・]+")


def clean_text(text: str) -> str:
    r"""Return `text` with `\n` line ends, without control characters and unpaired surrogates."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    return _CONTROL.sub(_substitute, text).strip()


def _substitute(match: re.Match[str]) -> str:
    return "\ufffd" if match.group() >= "\ud800" else ""


def split_text(text: str, limit: int) -> Iterator[str]:
    """Yield `text` in pieces of at most `limit` characters, cut at a line end where there is one.

    The pieces joined are `text`.
    """
    start = 0
    while len(text) - start > limit:
        # only the last tenth is searched: pieces stay large, and the cost linear
        end = text.rfind("\n", start + limit - limit // 10, start + limit) + 1
        end = end if end > start else start + limit
        yield text[start:end]
        start = end
    yield text[start:]


def shorten(text: str, limit: int = TITLE_LENGTH) -> str:
    """Return `text` as one line of at most `limit` characters, cut at a space near the end."""
    line = " ".join(text[: 8 * limit].split())
    if len(line) <= limit:
        return line
    cut = line[: limit - 1]
    space = cut.rfind(" ", limit * 2 // 3)
    return (cut[:space] if space > 0 else cut).rstrip(" ,;:、。") + "…"


def first_sentence(text: str, limit: int = TITLE_LENGTH) -> str:
    """Return the first sentence of the first line with words, fit for a title; may be empty."""
    for line in text[:4000].splitlines():
        words = _MARKUP.sub("", line).strip(" \t\\")
        if not re.search(r"\w", words):
            continue
        end = _SENTENCE_END.search(words, 12)
        return shorten(words[: end.end()] if end else words, limit)
    return ""


def parse_time(value: Any, clock: Clock) -> datetime | None:
    """Return a UTC time from ISO 8601 or from seconds or milliseconds since 1970.

    None when there is none, or one that cannot be: before 2000, or more than a day ahead.
    """
    try:
        moment = _moment(value)
    except (ValueError, OverflowError, OSError):
        return None
    if moment is None or not EARLIEST <= moment <= clock.now() + timedelta(days=1):
        return None
    return moment


def _moment(value: Any) -> datetime | None:
    if isinstance(value, str):
        return parse_utc(value.strip())
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return datetime.fromtimestamp(value / 1000 if value > _MILLISECONDS else value, UTC)


def show_path(path: Path | str) -> str:
    """Return `path` as text that every encoder takes: bytes that are no UTF-8 are escaped."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")

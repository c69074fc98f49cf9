"""Timed captions: WebVTT, SubRip and SubViewer, read as forgivingly as players do.

A line with a time range begins a cue wherever it stands; what cannot be understood is reported
with its line, and its words are kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from html import unescape
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class Cue:
    """Words of one speaker. `start` in milliseconds from the beginning, None when unknown."""

    start: int | None
    speaker: str | None
    text: str


@dataclass(slots=True)
class Transcript:
    """What a file holds: cues, what was wrong with it (line, reason), its title if it has one."""

    cues: list[Cue] = field(default_factory=list)
    problems: list[tuple[int, str]] = field(default_factory=list)
    title: str = ""


@dataclass(frozen=True, slots=True)
class _Raw:
    start: int | None
    lines: tuple[str, ...]


_CLOCK = r"(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})(?:[.,](\d{1,3}))?"
_RANGE = re.compile(
    rf"^\s*{_CLOCK}\s*(?:-->|,)\s*(?:\d{{1,4}}:)?\d{{1,2}}:\d{{1,2}}(?:[.,]\d{{1,3}})?(?:\s|$)"
)
_BROKEN = re.compile(r"^[\s\d:.,a-z]{0,20}-->|^\d[\da-z:.]{3,15},\d[\da-z:.]{3,15}$")
_HEADER = re.compile(r"WEBVTT(?:[ \t]+-?[ \t]*(.*))?$")
_IGNORED = re.compile(r"(?:NOTE|STYLE|REGION)(?:[ \t]|$)")
_VOICE = re.compile(r"<v(?:\.[\w.-]{1,80})?[ \t]+([^<>\n]{1,200})>")
_TAG = re.compile(r"</?[A-Za-z0-9:][^<>\n]{0,200}>|</>")
_WORD_TIME = re.compile(r"<\d{1,2}:\d{2}[:.\d]{0,10}>")
_ROLLING_SHARE = 3  # of so many cues one repeats the line before it


def clock(hours: str | None, minutes: str, seconds: str, fraction: str | None) -> int:
    """Return a time in milliseconds."""
    whole = (int(hours or 0) * 60 + int(minutes)) * 60 + int(seconds)
    return whole * 1000 + int((fraction or "0").ljust(3, "0"))


def is_captions(text: str) -> bool:
    """Say whether `text` is timed captions rather than prose."""
    head = text[:20_000]
    return head.lstrip("\ufeff").startswith("WEBVTT") or any(map(_RANGE.match, head.split("\n")))


def parse_captions(text: str) -> Transcript:
    """Return the cues in `text`, each line of rolling captions once."""
    transcript = Transcript()
    raw = list(_raw_cues(text.lstrip("\ufeff"), transcript))
    rolling = _is_rolling(raw)
    lines = _unrolled(raw) if rolling else raw
    transcript.cues = [cue for each in lines for cue in _voices(each)]
    return transcript


def _raw_cues(text: str, transcript: Transcript) -> Iterator[_Raw]:
    started = False
    start: int | None = None
    for number, block in _blocks(text):
        header = _HEADER.match(block[0]) if not started else None
        if header:
            transcript.title = (header[1] or "").strip()
        if _IGNORED.match(block[0]) and not any(map(_RANGE.match, block)):
            continue
        times = [index for index, line in enumerate(block) if _RANGE.match(line)]
        if not times:
            if started and _words(block):
                yield _untimed(block, number, start, transcript)
            continue
        started = True
        if times[0] > 1 and not header:
            # the line right before a time is the cue's name
            yield _Raw(start, tuple(block[: times[0] - 1]))
        for index, end in zip(times, [*times[1:], len(block)], strict=True):
            start = _start(block[index])
            yield _Raw(start, tuple(_without_number(block[index + 1 : end], end < len(block))))


def _blocks(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield runs of lines between blank ones, each with the number of its first line."""
    block: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            block.append(line.strip())
        elif block:
            yield number - len(block), block
            block = []
    if block:
        yield text.count("\n") + 2 - len(block), block


def _start(line: str) -> int | None:
    match = _RANGE.match(line)
    return clock(match[1], match[2], match[3], match[4]) if match else None


def _untimed(block: list[str], number: int, start: int | None, transcript: Transcript) -> _Raw:
    broken = next((line for line in block if _BROKEN.match(line)), None)
    reason = f"not a time: {broken[:60]}" if broken else "text without a time"
    transcript.problems.append((number, reason))
    return _Raw(start, tuple(_words(block)))


def _words(block: Sequence[str]) -> list[str]:
    """Return the lines of a block without its number and without a broken time."""
    lines = [line for line in block if not _BROKEN.match(line)]
    return lines[1:] if lines and lines[0].isdigit() and len(block) > 1 else lines


def _without_number(lines: Sequence[str], another_follows: bool) -> Sequence[str]:
    """Return the lines of a cue without the number of the one that follows at once."""
    return lines[:-1] if another_follows and lines and lines[-1].isdigit() else lines


def _is_rolling(raw: Sequence[_Raw]) -> bool:
    """Say whether cues repeat the lines before them, as live captions do."""
    if any(_WORD_TIME.search(line) for cue in raw for line in cue.lines):
        return True
    said = [cue.lines for cue in raw if cue.lines]
    repeats = sum(len(after) > 1 and after[0] == before[-1] for before, after in pairwise(said))
    return repeats * _ROLLING_SHARE > len(said)


def _unrolled(raw: Sequence[_Raw]) -> Iterator[_Raw]:
    shown: list[str] = []
    for cue in raw:
        plain = [_plain(line) for line in cue.lines]
        lines = [line for line in plain if line]
        sizes = range(min(len(lines), len(shown)) + 1)
        known = max(size for size in sizes if lines[:size] == shown[len(shown) - size :])
        if lines:
            shown = lines
        yield replace(cue, lines=tuple(lines[known:]))


def _voices(raw: _Raw) -> Iterator[Cue]:
    """Yield the words of a cue, one for each speaker its voice tags name."""
    parts = _VOICE.split("\n".join(raw.lines))
    speakers = [None, *parts[1::2]]
    for speaker, part in zip(speakers, parts[::2], strict=True):
        text = "\n".join(filter(None, map(_plain, part.split("\n"))))
        if text:
            yield Cue(raw.start, unescape(speaker).strip() if speaker else None, text)


def _plain(line: str) -> str:
    return unescape(_TAG.sub("", line)).replace("\xa0", " ").strip()

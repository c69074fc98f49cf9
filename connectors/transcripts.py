"""Transcripts as plain text or Markdown: who spoke, when, and what, in the usual layouts.

`Kim: text`, `[00:12:30] Kim: text`, `Kim  0:30` above the text, `[Kim] 10:00:05` above the text,
`10:00:05 From Kim to Everyone:`. Text without speakers is cut at its paragraphs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from connectors.captions import Cue, Transcript, clock

_CLOCK = r"[\[(]?(?:(\d{1,2}):)?(\d{1,2}):(\d{2})(?:[.,](\d{1,3}))?[\])]?"
_NAME = r"([^\W\d_][^:：\n\t\[\]()<>|*!?。]{0,39}?(?:[ ]?\([^()\n]{1,30}\))?)"
_TIME_ONLY = re.compile(rf"^{_CLOCK}$")
_TIME_FIRST = re.compile(rf"^{_CLOCK}[ \t\-–—|]{{0,6}}(.*)$")
_CHAT = re.compile(
    rf"^From[ \t]+{_NAME}(?:[ \t]+to[ \t]+[^:：\n]{{1,60}})?[:：]?[ \t]*$", re.IGNORECASE
)
_NAME_TIME = re.compile(
    rf"^\**\[?{_NAME}\]?\**(?:[ \t]{{2,}}|\t|[ \t]+(?=[\[(])|(?<=\])[ \t]+)"
    rf"\**{_CLOCK}\**[:：]?(?:[ \t]+(.*))?$"
)
_NAME_TEXT = re.compile(rf"^[-*]{{0,1}}[ \t]?\**{_NAME}\**[:：]\**(?:[ \t]+|(?<=：)|$)(.*)$")
_HEADING = re.compile(r"^#{1,6}[ \t]+(.*)$")
_METADATA_WORDS = (
    "date time when where attendees participants present absent duration location meeting subject "
    "title agenda host recording url link topic id start end note notes action decision todo "
    "summary transcript language kind 日時 日付 開催日 参加者 出席者 欠席者 議題 場所 会議名 件名 "
    "議事録 記録 決定事項 宿題 備考 次回 目的"
)
_METADATA = frozenset(_METADATA_WORDS.split())
_MOST = 2
_OFTEN = 3
_NAME_WORDS = 5


@dataclass(frozen=True, slots=True)
class _Line:
    start: int | None
    speaker: str | None
    text: str
    plain: str
    """The line without a time, as it is when the speaker turns out to be none."""


def parse_transcript(text: str) -> Transcript:
    """Return the turns in `text`, in order. Raises nothing; any text is a transcript."""
    transcript = Transcript()
    blocks: list[list[_Line]] = [[]]
    for line in text.split("\n"):
        stripped = line.strip()
        heading = _HEADING.match(stripped)
        if heading and not transcript.title:
            transcript.title = heading[1].strip()
        elif stripped:
            blocks[-1].append(_read(stripped))
        else:
            blocks.append([])
    speakers = _speakers([line for block in blocks for line in block])
    transcript.cues = list(_turns([block for block in blocks if block], speakers))
    return transcript


def _read(line: str) -> _Line:
    only = _TIME_ONLY.match(line)
    if only:
        return _Line(_time(only), None, "", "")
    headed = _NAME_TIME.match(line)
    if headed:
        at = clock(headed[2], headed[3], headed[4], headed[5])
        return _Line(at, headed[1].strip(), headed[6] or "", line)
    first = _TIME_FIRST.match(line)
    start = _time(first) if first else None
    rest = first[5].strip() if first else line
    chat = _CHAT.match(rest) if first else None
    if chat:
        return _Line(start, chat[1].strip(), "", rest)
    named = _NAME_TEXT.match(rest)
    if named and _may_be_name(named[1]):
        return _Line(start, named[1].strip(), named[2].strip(), rest)
    return _Line(start, None, rest, rest)


def _time(match: re.Match[str]) -> int:
    return clock(match[1], match[2], match[3], match[4])


def _may_be_name(words: str) -> bool:
    return words.strip().casefold() not in _METADATA and len(words.split()) <= _NAME_WORDS


def _speakers(lines: Sequence[_Line]) -> frozenset[str]:
    """Return who speaks: names that stand with a time, and names most lines begin with, or often.

    A single `Result: fine` among prose makes nobody a speaker.
    """
    timed = {line.speaker for line in lines if line.speaker and line.start is not None}
    counts = Counter(line.speaker for line in lines if line.speaker)
    if sum(counts.values()) * _MOST >= len(lines):
        return frozenset(counts)
    often = {name for name, count in counts.items() if count >= _OFTEN}
    return frozenset(timed | often)


def _turns(blocks: Sequence[Sequence[_Line]], speakers: frozenset[str]) -> Iterator[Cue]:
    start: int | None = None
    speaker: str | None = None
    for block in blocks:
        texts: list[str] = []
        for line in block:
            known = line.speaker in speakers
            if (known or line.start is not None) and texts:
                yield Cue(start, speaker, "\n".join(texts))
                texts = []
            if known:
                speaker = line.speaker
            start = line.start if line.start is not None else start
            text = line.text if known else line.plain
            if text:
                texts.append(text)
        if texts:
            yield Cue(start, speaker, "\n".join(texts))

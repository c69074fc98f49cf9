"""Meetings: transcripts and captions as Zoom, Teams, Meet, Otter, YouTube and people write them.

A meeting is one document. Its name is made from what it holds, so that the same transcript again,
under another name or in another format, adds nothing; a corrected one updates it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

from connectors.archive import Member
from connectors.base import Item, Ledger, ReadOptions
from connectors.captions import Cue, Transcript, is_captions, parse_captions
from connectors.decoding import decode, read_text
from connectors.front_matter import Front, split_front
from connectors.look import Guess, Look
from connectors.meeting_names import file_key, moment_in, title_in
from connectors.owners import is_owner
from connectors.pieces import PartCounter
from connectors.reports import read_members
from connectors.revisions import Unit, Units
from connectors.text import clean_text, parse_time, shorten
from connectors.transcripts import parse_transcript
from connectors.walk import existing_roots
from context_engine.clock import Clock, SystemClock
from context_engine.errors import BadInputError
from context_engine.events import (
    BadRecord,
    Checkpoint,
    Role,
    SourceDocument,
    UnknownRecord,
    Utterance,
)
from context_engine.ids import short_id
from context_engine.markers import strip_injected

SOURCE = "meeting"
CAPTIONS = (".vtt", ".srt", ".sbv")
TEXTS = (".txt", ".md", ".markdown")

SPAN = 90_000
"""Milliseconds that one utterance covers at most: a passage one can find and cite."""

LENGTH = 1_500
"""Characters after which text without times is cut at the next paragraph."""

_UNKNOWN = "unknown speaker"
_LATE = 30 * 60_000  # a recording does not begin so late: these are times of the day
_FEW = 8
_SIMILAR = 0.5
_SKETCH = 128
_SPEAKERS = 20


_TURNS, _TIMED_TURNS = 3, 2


class MeetingConnector:
    """The source `meeting`."""

    name = SOURCE
    accepts = "meeting transcripts: .vtt, .srt, .sbv, .txt or .md files, folders and zips of them"
    default_paths: tuple[Path, ...] = ()

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()

    def recognise(self, look: Look) -> Guess | None:
        """Return what `look` shows, None when it is nothing of this source's."""
        captions = look.named(*CAPTIONS)
        texts = look.named(*TEXTS)
        spoken = tuple(file for file in texts if _is_spoken(file.head))
        if not captions and not spoken:
            return None
        number = look.counted(len(captions) + len(spoken), "transcript")
        # a folder of notes may hold a few transcripts, and one of transcripts a few notes
        return Guess(f"meetings ({number})", sure=len(spoken) == len(texts))

    def read(self, paths: Sequence[Path], ledger: Ledger, options: ReadOptions) -> Iterator[Item]:
        """Yield the meetings that are new or were corrected.

        Raises UsageError when no path is given or none exists.
        """
        roots = existing_roots(paths, "name a transcript or a folder of transcripts")
        run = _Run(ledger, options, self._clock)
        yield from read_members(roots, options, run.file)


@dataclass(frozen=True, slots=True)
class _Meeting:
    """A transcript with what its names tell. `turns` are cues joined by speaker."""

    turns: tuple[Cue, ...]
    fingerprint: str
    started: datetime | None
    title: str
    name: str


class _Run:
    def __init__(self, ledger: Ledger, options: ReadOptions, clock: Clock) -> None:
        self._ledger, self._options, self._clock = ledger, options, clock
        self._units = Units(ledger)

    def file(self, member: Member) -> Iterator[Item]:
        """Read one file."""
        if not member.name.lower().endswith((*CAPTIONS, *TEXTS)):
            yield _not_ours(member)
            return
        try:
            text = clean_text(strip_injected(read_text(member)))
        except BadInputError as error:
            yield BadRecord(error.place, error.reason)
            return
        front, body = split_front(text)
        if front.is_own_note:
            yield UnknownRecord(member.place, "own note")
            return
        transcript = self._parse(member, body)
        for line, reason in transcript.problems:
            yield BadRecord(f"{member.place}:{line}", reason)
        if transcript.cues:
            yield from self._meeting(self._describe(member, front, transcript))
        else:
            yield BadRecord(member.place, "no words in it" if text else "empty")

    def _parse(self, member: Member, text: str) -> Transcript:
        if member.name.lower().endswith(CAPTIONS) or is_captions(text):
            transcript = parse_captions(text)
            transcript.cues = named(transcript.cues)
            return transcript
        return parse_transcript(text)

    def _describe(self, member: Member, front: Front, transcript: Transcript) -> _Meeting:
        stem, folder = member.name.rsplit(".", 1)[0], _folder_of(member)
        dated = parse_time(front.words.get("date"), self._clock)
        started = dated or moment_in(stem, folder)
        title = front.words.get("title") or transcript.title or title_in(stem)
        if not title and moment_in(folder):
            # a folder made for this meeting, not one where all of them lie
            title = title_in(folder)
        day = f"{started:%Y-%m-%d}" if started else stem
        return _Meeting(
            turns=tuple(joined(transcript.cues)),
            fingerprint=fingerprint(transcript.cues),
            started=started,
            title=shorten(clean_text(title)) or f"Meeting {day}",
            name=file_key(member.name),
        )

    def _meeting(self, meeting: _Meeting) -> Iterator[Item]:
        document, unit = self._document_of(meeting)
        # a copy under another name must not rename the note back and forth
        retitles = unit.stamp in {"", meeting.name}
        template = self._template(meeting, document, meeting.title if retitles else "")
        if retitles:
            unit.mark(meeting.name)
        counter, news = PartCounter(), False
        for utterance in self._utterances(meeting, document):
            unit.add(template, utterance, counter)
        unit.withdraw_missing(template)
        for item in self._units.close(unit):
            news = True
            yield item
        if news:
            known = {"document": document, "sketch": sketch(meeting.turns)}
            yield Checkpoint(_name_key(meeting), known)

    def _document_of(self, meeting: _Meeting) -> tuple[str, Unit]:
        """Return the name of the meeting's document and what was sent of it.

        Where the words of an earlier file of this name are for the most part in this one, this one
        is its corrected version.
        """
        own = meeting.fingerprint
        unit = self._units.open(f"{SOURCE}:{own}")
        state = {} if unit.stamp else self._ledger.checkpoint(_name_key(meeting)) or {}
        earlier, known = state.get("document"), state.get("sketch")
        if isinstance(earlier, str) and isinstance(known, list) and alike(known, meeting.turns):
            return earlier, self._units.open(f"{SOURCE}:{earlier}")
        return own, unit

    def _template(self, meeting: _Meeting, document: str, title: str) -> SourceDocument:
        speakers = dict.fromkeys(turn.speaker for turn in meeting.turns if turn.speaker)
        return SourceDocument(
            source=SOURCE,
            native_id=document,
            scope=self._options.scope_of(None),
            project=self._options.project,
            title=title,
            utterances=(),
            started=meeting.started,
            meta={
                "kind": "meeting",
                "file": meeting.name,
                **({"speakers": ", ".join(list(speakers)[:_SPEAKERS])} if speakers else {}),
            },
        )

    def _utterances(self, meeting: _Meeting, document: str) -> Iterator[Utterance]:
        starts = [turn.start for turn in meeting.turns if turn.start is not None]
        base = starts[0] if starts and starts[0] > _LATE else 0
        ids = utterance_ids(meeting.turns, document)
        for native_id, turn in zip(ids, meeting.turns, strict=True):
            owner = is_owner(turn.speaker or "", self._options.owner_name)
            yield Utterance(
                native_id=native_id,
                author=self._options.owner_name if owner else turn.speaker or _UNKNOWN,
                role=Role.OWNER if owner else Role.OTHER,
                at=_at(meeting.started, turn.start, base),
                text=turn.text,
            )


def _is_spoken(head: bytes) -> bool:
    """Say whether most of a text's beginning is what named persons say."""
    text = decode(head[: head.rfind(b"\n") + 1] or head)
    if text is None:
        return False
    cues = parse_transcript(clean_text(split_front(text)[1])).cues
    by_persons = sum(cue.speaker is not None for cue in cues)
    timed = any(cue.start is not None for cue in cues)
    return by_persons >= (_TIMED_TURNS if timed else _TURNS) and 2 * by_persons > len(cues)


def _name_key(meeting: _Meeting) -> str:
    return f"{SOURCE}:name:{meeting.name}"


def _at(started: datetime | None, start: int | None, base: int) -> datetime | None:
    if started is None:
        return None
    # text from a clock that was set back belongs to the beginning
    return started + timedelta(milliseconds=max(0, (start or base) - base))


def named(cues: Sequence[Cue]) -> list[Cue]:
    """Return cues with the speakers that their text names (`Kim: hello`), where most do."""
    if any(cue.speaker for cue in cues):
        return list(cues)
    found = parse_transcript("\n\n".join(cue.text for cue in cues))
    speakers = {cue.speaker for cue in found.cues if cue.speaker}
    result: list[Cue] = []
    speaker: str | None = None
    for cue in cues if speakers else ():
        for turn in parse_transcript(cue.text).cues:
            known = turn.speaker in speakers
            speaker = turn.speaker if known else speaker
            text = turn.text if known or not turn.speaker else f"{turn.speaker}: {turn.text}"
            result.append(replace(cue, speaker=speaker, text=text))
    return result or list(cues)


def joined(cues: Sequence[Cue]) -> Iterator[Cue]:
    """Yield cues with neighbours of one speaker put together, as far as one passage goes."""
    current: list[Cue] = []
    length = 0
    for cue in cues:
        if current and not _goes_on(current[0], cue, length):
            yield _one(current)
            current, length = [], 0
        current.append(cue)
        length += len(cue.text)
    if current:
        yield _one(current)


def _goes_on(first: Cue, cue: Cue, length: int) -> bool:
    if first.speaker != cue.speaker:
        return False
    if first.start is None or cue.start is None:
        return length < LENGTH
    # by time alone: corrected words do not move the cuts
    return 0 <= cue.start - first.start < SPAN


def _one(cues: Sequence[Cue]) -> Cue:
    separator = "\n\n" if cues[0].start is None else "\n"
    return replace(cues[0], text=separator.join(cue.text for cue in cues))


def fingerprint(cues: Sequence[Cue]) -> str:
    """Return a name for what was recorded: when cues begin, their words where times say little."""
    starts = [str(cue.start) for cue in cues]
    words = [] if _tells(cues) else [cue.text for cue in cues]
    return short_id(SOURCE, *starts, *words)


def _tells(cues: Sequence[Cue]) -> bool:
    return len({cue.start for cue in cues}) >= _FEW


def utterance_ids(turns: Sequence[Cue], document: str) -> Iterator[str]:
    """Yield an id for each turn: where it begins, or what it says where no time is known."""
    met: dict[str, int] = {}
    for turn in turns:
        place = str(turn.start) if turn.start is not None else short_id("turn", turn.text)
        met[place] = met.get(place, 0) + 1
        again = f"+{met[place]}" if met[place] > 1 else ""
        yield f"{document}@{place}{again}"


def sketch(turns: Sequence[Cue]) -> list[str]:
    """Return a sample of the lines said, the same lines for the same words."""
    lines = {short_id("line", line) for turn in turns for line in turn.text.split("\n")}
    return sorted(lines)[:_SKETCH]


def alike(known: Sequence[str], turns: Sequence[Cue]) -> bool:
    """Say whether most lines of a sketch are among the lines of `turns`."""
    lines = {short_id("line", line) for turn in turns for line in turn.text.split("\n")}
    return sum(line in lines for line in known) >= _SIMILAR * max(len(known), 1)


def _folder_of(member: Member) -> str:
    folders = member.place.replace("!", "/").split("/")[:-1]
    return folders[-1] if folders else ""


def _not_ours(member: Member) -> BadRecord | UnknownRecord:
    if member.named:
        return BadRecord(member.place, f"not a transcript ({', '.join((*CAPTIONS, *TEXTS))})")
    return UnknownRecord(member.place, f"file .{member.name.rsplit('.', 1)[-1].lower()[:20]}")


CONNECTOR = MeetingConnector()

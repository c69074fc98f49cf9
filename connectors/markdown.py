"""Notes and worklogs: folders of Markdown and text files.

A file is a document, each of its sections (at the first two levels of headings) a message that
keeps its name while its text is edited. Notes are taken for their owner's words unless their
front matter says whose they are.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from connectors.archive import Member
from connectors.base import Item, Ledger, ReadOptions
from connectors.decoding import read_text
from connectors.front_matter import Front, split_front
from connectors.look import Guess, Look
from connectors.markdown_sections import Section, first_heading, headings_alone, sections
from connectors.meeting_names import moment_in, title_in
from connectors.owners import is_owner
from connectors.pieces import PartCounter
from connectors.reports import read_members
from connectors.revisions import Units
from connectors.text import clean_text, parse_time, shorten, show_path
from connectors.walk import existing_roots
from context_engine.clock import Clock, SystemClock
from context_engine.errors import BadInputError
from context_engine.events import BadRecord, Role, SourceDocument, UnknownRecord, Utterance
from context_engine.home import Home
from context_engine.ids import short_id
from context_engine.markers import strip_injected
from context_engine.scopes import Scope

SOURCE = "markdown"
TEXTS = (".md", ".markdown", ".mdown", ".txt")

NOT_NOTES = frozenset(
    {"node_modules", "bower_components", "vendor", "site-packages", "__pycache__", "venv"}
)
"""Folders of other people's packages, whose texts are nobody's notes."""

_MOSTLY = 0.5
"""Share of texts among the files of a folder of notes: there are pictures beside them."""

_CLIPPED = ("source", "url", "source_url", "origin", "clipped")
_AUTHORS = ("author", "authors", "by")
_STARTS_WITH_DATE = re.compile(r"^\W{0,2}20\d{2}")
_DATE_LENGTH = 16
_WORDS = 300


class MarkdownConnector:
    """The source `markdown`."""

    name = SOURCE
    accepts = "notes and worklogs: folders, zips or files of Markdown and text"
    default_paths: tuple[Path, ...] = ()

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()

    def recognise(self, look: Look) -> Guess | None:
        """Return what `look` shows, None when it is nothing of this source's."""
        notes = look.named(*TEXTS)
        if not notes or len(notes) < len(look.files) * _MOSTLY:
            return None
        return Guess(f"notes ({look.counted(len(notes), 'file')})", sure=False)

    def read(self, paths: Sequence[Path], ledger: Ledger, options: ReadOptions) -> Iterator[Item]:
        """Yield the sections that are new or changed.

        Raises UsageError when no path is given or none exists.
        """
        roots = existing_roots(paths, "name a folder of notes, or a Markdown file")
        run = _Run(ledger, options, self._clock)
        yield from read_members(roots, options, run.file)


@dataclass(frozen=True, slots=True)
class _File:
    """Where a note lies. `disk` is its absolute path, None in an archive."""

    member: Member
    disk: str | None

    @property
    def native_id(self) -> str:
        """The same from wherever it is read: below the home folder without that folder's name."""
        if self.disk is None:
            archive = self.member.place.removesuffix(self.member.path).rstrip("!")
            return f"{archive.rsplit('/', 1)[-1]}!{self.member.path}"
        home = os.path.join(show_path(Path.home()), "")  # noqa: PTH118 - text, not a path
        return f"~/{self.disk.removeprefix(home)}" if self.disk.startswith(home) else self.disk

    @property
    def stem(self) -> str:
        """The name without its extension."""
        return self.member.name.rsplit(".", 1)[0]

    @property
    def folders(self) -> list[str]:
        """Names of the folders around it, outermost first."""
        return (self.disk or self.member.path).split("/")[:-1]


@dataclass
class _Run:
    _ledger: Ledger
    _options: ReadOptions
    _clock: Clock
    _homes: dict[Path, bool] = field(default_factory=dict)
    _units: Units = field(init=False)

    def __post_init__(self) -> None:
        self._units = Units(self._ledger)

    def file(self, member: Member) -> Iterator[Item]:
        """Read one file."""
        disk = os.path.abspath(member.place) if _on_disk(member) else None  # noqa: PTH100 - `..` goes, links stay
        file = _File(member, disk)
        passed_over = self._passed_over(file)
        if passed_over:
            yield passed_over
            return
        try:
            text = clean_text(strip_injected(read_text(member)))
        except BadInputError as error:
            yield BadRecord(error.place, error.reason)
            return
        front, body = split_front(text)
        if front.problem:
            yield BadRecord(member.place, f"front matter left out: {front.problem}")
        if front.is_own_note:
            yield UnknownRecord(member.place, "own note")
        else:
            yield from self._note(file, front, body)

    def _passed_over(self, file: _File) -> BadRecord | UnknownRecord | None:
        """Return why a file is not opened, or None."""
        member = file.member
        place = member.place
        if not member.name.lower().endswith(TEXTS):
            reason = f"not a note ({', '.join(TEXTS)})"
            kind = member.name.rpartition(".")[2].lower()[:20]
            return (
                BadRecord(place, reason) if member.named else UnknownRecord(place, f"file .{kind}")
            )
        if member.name.startswith(".") and not member.named:
            return UnknownRecord(place, "hidden file")
        package = next((part for part in member.path.split("/")[:-1] if part in NOT_NOTES), None)
        if package:
            return UnknownRecord(place, f"below {package}")
        if file.disk and self._in_a_home(Path(file.disk).parent):
            return UnknownRecord(place, "own note")
        return None

    def _in_a_home(self, folder: Path) -> bool:
        """Say whether a folder lies in an engine's home: its notes are indexed where they are."""
        return any(self._is_home(each) for each in (folder, *folder.parents))

    def _is_home(self, folder: Path) -> bool:
        if folder not in self._homes:
            home = Home(folder)
            self._homes[folder] = home.state.is_dir() and home.vault(Scope.PERSONAL).is_dir()
        return self._homes[folder]

    def _note(self, file: _File, front: Front, body: str) -> Iterator[Item]:
        template = self._template(file, front, body)
        author, role = self._author(front)
        unit = self._units.open(f"{SOURCE}:{template.native_id}")
        counter = PartCounter()
        met: dict[str, int] = {}
        found = list(sections(body)) or list(headings_alone(body))
        if not found:
            yield UnknownRecord(file.member.place, "note without text")
        for section in found:
            key = short_id("section", *section.path)
            met[key] = met.get(key, 0) + 1
            again = f"+{met[key]}" if met[key] > 1 else ""
            native_id = f"{template.native_id}#{key}{again}"
            at = self._section_date(section) or template.started
            text = _section_text(section, template.title)
            unit.add(template, Utterance(native_id, author, role, at, text), counter)
        unit.withdraw_missing(template)
        yield from self._units.close(unit)

    def _template(self, file: _File, front: Front, body: str) -> SourceDocument:
        folder = file.disk.rpartition("/")[0] if file.disk else None
        tags = front.lists.get("tags") or front.words.get("tags", "").split(",")
        named = {
            "file": file.native_id,
            "tags": ", ".join(tag.strip() for tag in tags if tag.strip())[:_WORDS],
        }
        project = self._options.project or front.words.get("project")
        return SourceDocument(
            source=SOURCE,
            native_id=file.native_id,
            scope=self._options.scope_of(folder),
            project=clean_text(project)[:_WORDS] if project else None,
            title=self._title(file, front, body),
            utterances=(),
            started=self._date(file, front),
            url=_url(front),
            meta={"kind": "note", **{key: value for key, value in named.items() if value}},
        )

    def _title(self, file: _File, front: Front, body: str) -> str:
        given = shorten(clean_text(front.words.get("title") or first_heading(body)))
        if given or title_in(file.stem):
            return given or title_in(file.stem)
        # `2026-11-02.md` says when; the folder says what
        what = next((name for name in reversed(file.folders) if title_in(name)), "")
        return shorten(f"{title_in(what)} {file.stem}".strip())

    def _date(self, file: _File, front: Front) -> datetime | None:
        for key in ("date", "created"):
            moment = parse_time(front.words.get(key), self._clock)
            if moment:
                return moment
        path = "/".join([*file.folders[-2:], file.stem])
        return self._not_ahead(moment_in(file.stem, path))

    def _section_date(self, section: Section) -> datetime | None:
        for title in reversed(section.path):
            if _STARTS_WITH_DATE.match(title):
                return self._not_ahead(moment_in(title[:_DATE_LENGTH]))
        return None

    def _not_ahead(self, moment: datetime | None) -> datetime | None:
        """Return `moment` unless it lies ahead: that is what a note is about, not its date."""
        ahead = moment is not None and moment > self._clock.now() + timedelta(days=1)
        return None if ahead else moment

    def _author(self, front: Front) -> tuple[str, Role]:
        """Return who wrote a note: its owner, unless it says otherwise or came from the web."""
        owner = self._options.owner_name
        names = [front.words[key] for key in _AUTHORS if key in front.words]
        names += [name for key in _AUTHORS for name in front.lists.get(key, [])]
        if names and not all(is_owner(name, owner) for name in names):
            return shorten(clean_text(", ".join(names))) or "unknown", Role.OTHER
        if not names and _url(front):
            return "clipping", Role.OTHER
        return owner, Role.OWNER


def _on_disk(member: Member) -> bool:
    return "!" not in member.place or Path(member.place).is_file()


def _url(front: Front) -> str | None:
    for key in _CLIPPED:
        value = front.words.get(key, "").strip()
        if value.startswith(("https://", "http://")):
            return value
    return None


def _section_text(section: Section, title: str) -> str:
    heading = section.path[-1] if section.path else ""
    # the note has its title already
    return section.text if not heading or heading == title else f"**{heading}**\n\n{section.text}"


CONNECTOR = MarkdownConnector()

"""GitHub: reviews and comments, from files of webhook deliveries or of API replies.

A pull request, issue, discussion or commit is a document, each comment a message of it, known by
its node id. The same comment may come from many files and in any order: the newest version stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from connectors.archive import Member
from connectors.base import Item, Ledger, ReadOptions
from connectors.github_comments import SOURCE, Comments
from connectors.json_stream import elements
from connectors.look import Guess, Look
from connectors.reports import read_members
from connectors.walk import existing_roots
from context_engine.clock import Clock, SystemClock
from context_engine.errors import BadInputError
from context_engine.events import BadRecord, UnknownRecord

FILES = (".json", ".jsonl", ".ndjson")


_TELLING = (
    *(b'"comment"', b'"comments"', b'"review"', b'"diff_hunk"', b'"pull_request_url"'),
    *(b'"issue_url"', b'"commit_id"'),
)
"""Fields of which a comment or a delivery has one."""


class GitHubConnector:
    """The source `github`."""

    name = SOURCE
    accepts = "GitHub reviews and comments: webhook or REST JSON (.json, .jsonl), folders, zips"
    default_paths: tuple[Path, ...] = ()

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()

    def recognise(self, look: Look) -> Guess | None:
        """Return what `look` shows, None when it is nothing of this source's."""
        found = look.holding(FILES, b'"html_url"', b"github", b'"user"')
        found = tuple(file for file in found if any(word in file.head for word in _TELLING))
        files = look.counted(len(found), "file")
        return Guess(f"GitHub reviews and comments ({files})") if found else None

    def read(self, paths: Sequence[Path], ledger: Ledger, options: ReadOptions) -> Iterator[Item]:
        """Yield the comments that are new or changed.

        Raises UsageError when no path is given or none exists.
        """
        roots = existing_roots(
            paths, "name a file or folder of GitHub webhook deliveries or API replies"
        )
        run = Comments(ledger, options, self._clock)
        yield from read_members(roots, options, lambda member: _file(member, run))


def _file(member: Member, run: Comments) -> Iterator[Item]:
    """Read one file: a record, a list of records, or a record a line."""
    if not member.name.lower().endswith(FILES):
        reason = f"not JSON ({', '.join(FILES)})"
        kind = f"file .{member.name.rpartition('.')[2].lower()[:20]}"
        named = member.named
        yield BadRecord(member.place, reason) if named else UnknownRecord(member.place, kind)
        return
    try:
        with member.open() as stream:
            for element in elements(stream):
                record = element.parse()
                place = f"{member.place}#{element.number}"
                if isinstance(record, dict):
                    yield from run.take(record, place)
                else:
                    yield BadRecord(place, record)
    except BadInputError as error:
        yield BadRecord(error.place, error.reason)


CONNECTOR = GitHubConnector()

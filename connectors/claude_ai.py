"""claude.ai data exports: conversations, design chats, projects, memory.

Taken are the words of persons and of Claude, on every branch, and the text of attachments. Left
out are tool calls and their results, thinking, artifacts, images, and account data.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from connectors.archive import Member, walk_members
from connectors.base import Item, Ledger, ReadOptions
from connectors.claude_ai_records import parse_record
from connectors.conversation_records import Context, key_field, text_field
from connectors.conversations import Reader
from connectors.json_stream import elements
from connectors.look import Guess, Look
from connectors.walk import existing_roots
from context_engine.clock import Clock, SystemClock
from context_engine.errors import BadInputError

SOURCE = "claude-ai"
_OURS = ("conversations", "design_chats", "projects", "memories")
_PROJECTS = "projects"


class ClaudeAiConnector:
    """The source `claude-ai`."""

    name = SOURCE
    accepts = "claude.ai: the zips of a data export, a folder of them, or conversations.json"
    default_paths: tuple[Path, ...] = ()

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()

    def recognise(self, look: Look) -> Guess | None:
        """Return what `look` shows, None when it is nothing of this source's."""
        found = look.holding((".json",), b'"chat_messages"')
        found += tuple(
            file
            for file in look.holding((".json",), b'"uuid"')
            if file.name.lower().startswith(_OURS) and file not in found
        )
        files = look.counted(len(found), "file")
        return Guess(f"a claude.ai data export ({files})") if found else None

    def read(self, paths: Sequence[Path], ledger: Ledger, options: ReadOptions) -> Iterator[Item]:
        """Yield what is new or changed below `paths`.

        Raises UsageError when none of the paths exists.
        """
        roots = existing_roots(paths, "name a claude.ai export: its zips, or a folder of them")
        context = Context(options, self._clock, _project_names(roots))
        reader = Reader(SOURCE, ledger, options)
        yield from reader.exports(
            roots, _is_ours, lambda record, place: parse_record(record, place, context)
        )


def _is_ours(member: Member) -> bool:
    if not member.name.lower().endswith(".json"):
        return False
    parts = member.path.lower().split("/")
    return member.named or any(part.startswith(_OURS) for part in parts)


def _project_names(roots: Sequence[Path]) -> dict[str, str]:
    """Return the names of all projects by uuid: conversations only hold the latter."""
    names: dict[str, str] = {}
    for item in walk_members(roots):
        if not isinstance(item, Member) or not _is_ours(item):
            continue
        if not any(part.startswith(_PROJECTS) for part in item.path.lower().split("/")):
            continue
        try:
            with item.open() as stream:
                for element in elements(stream):
                    record = element.parse()
                    if isinstance(record, dict) and (name := text_field(record, "name")):
                        names[key_field(record, "uuid")] = name
        except BadInputError:
            continue  # the reading proper reports it
    return names


CONNECTOR = ClaudeAiConnector()

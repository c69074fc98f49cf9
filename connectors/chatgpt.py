"""ChatGPT data exports: `conversations.json`, whole or in numbered shards.

Taken are the words of the person and of ChatGPT, on every branch, and transcripts of what was
spoken. Left out are hidden messages, custom instructions, thoughts, code for tools, and results.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from connectors.archive import Member
from connectors.base import Item, Ledger, ReadOptions
from connectors.chatgpt_records import parse_record
from connectors.conversation_records import Context
from connectors.conversations import Reader
from connectors.look import Guess, Look
from connectors.walk import existing_roots
from context_engine.clock import Clock, SystemClock

SOURCE = "chatgpt"
_CONVERSATIONS = re.compile(r"(?:group_)?conversations?\b.*\.json\Z")
_OTHERS = re.compile(r"shared_conversations\.json\Z")


class ChatGptConnector:
    """The source `chatgpt`."""

    name = SOURCE
    accepts = "ChatGPT: the zip of a data export, its folder, or conversations.json and its shards"
    default_paths: tuple[Path, ...] = ()

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()

    def recognise(self, look: Look) -> Guess | None:
        """Return what `look` shows, None when it is nothing of this source's."""
        found = look.holding((".json",), b'"mapping"', b'"create_time"')
        files = look.counted(len(found), "file")
        return Guess(f"a ChatGPT data export ({files} of conversations)") if found else None

    def read(self, paths: Sequence[Path], ledger: Ledger, options: ReadOptions) -> Iterator[Item]:
        """Yield what is new or changed below `paths`.

        Raises UsageError when none of the paths exists.
        """
        roots = existing_roots(
            paths, "name a ChatGPT export: its zip, its folder, or conversations.json"
        )
        context = Context(options, self._clock)
        reader = Reader(SOURCE, ledger, options)
        yield from reader.exports(
            roots, _is_ours, lambda record, place: parse_record(record, place, context)
        )


def _is_ours(member: Member) -> bool:
    name = member.name.lower()
    if not name.endswith(".json") or _OTHERS.match(name):
        return False
    return member.named or bool(_CONVERSATIONS.match(name))


CONNECTOR = ChatGptConnector()

"""Cutting a document into events: bounded parts, bounded pieces, nothing twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from connectors.base import EVENT_LIMIT, PART_LIMIT, Ledger
from connectors.text import split_text
from context_engine.events import Utterance

REMEMBERED = 200_000
"""Utterance ids of this run kept at hand; older ones the ledger has committed by then."""


@dataclass(slots=True)
class PartCounter:
    """Numbers the parts of one document by the text that streams by.

    The count is over what the source holds, sent before or not, so that the same stream always
    falls into the same parts.
    """

    part: int = 1
    characters: int = 0

    def place(self, length: int) -> int:
        """Return the part that the next `length` characters belong to."""
        if self.characters and self.characters + length > PART_LIMIT:
            self.part += 1
            self.characters = 0
        self.characters += length
        return self.part


def split_utterance(utterance: Utterance, limit: int = EVENT_LIMIT) -> Iterator[Utterance]:
    """Yield `utterance`, or pieces of it that fit an event, named `<id>`, `<id>~2`, `<id>~3`."""
    if len(utterance.text) <= limit:
        yield utterance
        return
    for number, text in enumerate(split_text(utterance.text, limit), 1):
        native_id = utterance.native_id if number == 1 else f"{utterance.native_id}~{number}"
        yield replace(utterance, native_id=native_id, text=text)


class Unseen:
    """Lets every utterance through once: within the run, and against the ledger in batches."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._recent: dict[str, None] = {}

    def claim(self, native_id: str) -> bool:
        """Say whether this run meets `native_id` for the first time."""
        if native_id in self._recent:
            return False
        self._recent[native_id] = None
        if len(self._recent) > REMEMBERED:
            del self._recent[next(iter(self._recent))]
        return True

    def new(self, utterances: Sequence[Utterance]) -> tuple[Utterance, ...]:
        """Return those of `utterances` that no earlier commit holds."""
        if not utterances:
            return ()
        seen = self._ledger.seen([utterance.native_id for utterance in utterances])
        return tuple(item for item in utterances if item.native_id not in seen)

"""Events of bounded size out of the messages of a document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from connectors.base import EVENT_LIMIT
from context_engine.events import SourceDocument, Utterance
from context_engine.ids import long_id, short_id

EVENT_UTTERANCES = 500
"""Utterances of one event: thousands of one-word messages are bounded too."""


def pack(
    template: SourceDocument, placed: Iterable[tuple[int, Utterance]]
) -> Iterator[SourceDocument]:
    """Yield `template` with these messages, each with its part, in events of bounded size."""
    by_part: dict[int, list[Utterance]] = {}
    for part, utterance in placed:
        by_part.setdefault(part, []).append(utterance)
    for part, utterances in by_part.items():
        for group in _groups(utterances):
            yield replace(
                template,
                utterances=tuple(group),
                part=part,
                version=_content(template, group),
            )


def _groups(utterances: Sequence[Utterance]) -> Iterator[list[Utterance]]:
    group: list[Utterance] = []
    characters = 0
    for utterance in utterances:
        length = len(utterance.text)
        if group and (characters + length > EVENT_LIMIT or len(group) >= EVENT_UTTERANCES):
            yield group
            group, characters = [], 0
        group.append(utterance)
        characters += length
    if group:
        yield group


def _content(template: SourceDocument, group: Sequence[Utterance]) -> str:
    messages = (piece for u in group for piece in (u.native_id, u.role, u.author, u.text))
    return long_id(front_of(template), *messages)


def front_of(document: SourceDocument) -> str:
    """Return a digest over the title, the project and the metadata of a document."""
    meta = [word for item in sorted(document.meta.items()) for word in item]
    return short_id("front", document.title, document.project or "", *meta)

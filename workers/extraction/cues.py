"""Extraction without a model: rules over the owner's own sentences, verbatim, always raw."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from context_engine.events import Role, Utterance
from context_engine.insights import Kind
from workers.extraction.cue_patterns import REASON, STRONG, WEAK
from workers.extraction.sentences import Sentence, own_sentences, without_quotations
from workers.extraction.trust import is_hearsay, is_question, is_unsure, safe_length

NAME = "cues"

MIN_UNITS = 8
"""A shorter sentence says too little to stand alone (see `_units`)."""

MAX_PER_UTTERANCE = 12


@dataclass(frozen=True)
class Finding:
    """`evidence == utterance.text[start:end]`, one sentence and perhaps its reason."""

    utterance: Utterance
    kind: Kind
    start: int
    end: int
    head: str
    """The sentence that holds the cue."""
    hearsay: bool
    strong: bool

    @property
    def evidence(self) -> str:
        """The verbatim slice."""
        return self.utterance.text[self.start : self.end]


def find_cues(messages: Sequence[Utterance]) -> Iterator[Finding]:
    """Yield what the owner said with a cue, in order; texts are stripped of injected context."""
    for message in messages:
        if message.role is Role.OWNER:
            yield from _in_message(message)


def _in_message(message: Utterance) -> Iterator[Finding]:
    limit = safe_length(message.text, owner=True)
    sentences = [s for s in own_sentences(message.text) if s.end <= limit]
    found, position = 0, 0
    while position < len(sentences) and found < MAX_PER_UTTERANCE:
        sentence = sentences[position]
        position += 1
        classified = classify(sentence.text)
        if classified is None:
            continue
        kind, strong = classified
        end = sentence.end
        if position < len(sentences) and _gives_reason(sentence, sentences[position]):
            end = sentences[position].end
            position += 1
        found += 1
        yield Finding(
            message, kind, sentence.start, end, sentence.text, is_hearsay(sentence.text), strong
        )


def classify(sentence: str) -> tuple[Kind, bool] | None:
    """Return the kind that the sentence's cue announces and whether it is a strong one."""
    said = without_quotations(sentence)
    if _units(said) < MIN_UNITS or is_question(said) or is_unsure(said):
        return None
    for strong, table in ((True, STRONG), (False, WEAK)):
        for kind, pattern in table:
            if pattern.search(said):
                return kind, strong
    return None


def _units(text: str) -> int:
    """Weigh length across scripts: a Latin letter counts a half, any other a whole."""
    halves = sum(1 if char.isascii() else 2 for char in text if char.isalnum())
    return halves // 2


def _gives_reason(first: Sentence, then: Sentence) -> bool:
    near = then.paragraph == first.paragraph and then.start - first.end <= 2  # noqa: PLR2004 -- a gap
    said = without_quotations(then.text)
    return near and REASON.search(said) is not None and not is_question(said)

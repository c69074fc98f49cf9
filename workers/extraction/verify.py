"""From a quotation to evidence: where it stands, who said it, how far it is trusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from context_engine.events import Role, Utterance
from context_engine.insights import Confidence
from workers.extraction.outcomes import Outcome
from workers.extraction.sentences import Sentence, own_sentences, without_quotations
from workers.extraction.textmatch import Folded, fold
from workers.extraction.trust import is_hearsay, is_question, is_unsure, overrides, safe_length

MAX_EVIDENCE = 600
_LEAST_UNITS = 4
"""「はい」 or "ok" stands everywhere and proves nothing."""

HEARSAY_TAGS = ("hearsay", "他者情報")


@dataclass(frozen=True)
class Source:
    """A message prepared for verification. Its text is free of injected context."""

    utterance: Utterance

    @cached_property
    def folded(self) -> Folded:
        """The text in comparable form."""
        return fold(self.utterance.text)

    @cached_property
    def said(self) -> list[Sentence]:
        """What its author said in own words."""
        return own_sentences(self.utterance.text)

    @cached_property
    def safe(self) -> int:
        """Length before anything that tries to command its reader."""
        return safe_length(self.utterance.text, owner=self.utterance.role is Role.OWNER)

    def around(self, start: int, end: int) -> list[Sentence]:
        """Return the own sentences that [start, end) touches."""
        return [s for s in self.said if s.start < end and start < s.end]

    def before(self, start: int) -> Sentence | None:
        """Return the own sentence before `start` in the same paragraph."""
        here = self.around(start, start + 1)
        earlier = [s for s in self.said if s.end <= start and s not in here]
        if not earlier or not here or earlier[-1].paragraph != here[0].paragraph:
            return None
        return earlier[-1]


@dataclass(frozen=True)
class Evidence:
    """`text` is the verbatim slice [start, end) of the utterance."""

    utterance: Utterance
    start: int
    end: int
    text: str
    ceiling: Confidence
    hearsay: bool


def verify(quote: str, sources: Sequence[Source]) -> Evidence | Outcome:
    """Return the evidence for `quote`, or why there is none.

    The one who said it first counts: an owner who repeats an assistant's sentence has not
    stated it.
    """
    if _units(quote) < _LEAST_UNITS:
        return Outcome.UNVERIFIED_QUOTE
    for source in sources:
        span = source.folded.find(quote)
        if span is not None:
            return _judge(source, *span)
    return Outcome.UNVERIFIED_QUOTE


def _judge(source: Source, start: int, end: int) -> Evidence | Outcome:
    text = source.utterance.text[start:end]
    if end > source.safe or overrides(text) is not None:
        return Outcome.POISONED
    if len(text) > MAX_EVIDENCE:
        return Outcome.OUT_OF_SCHEMA
    hearsay = source.utterance.role is Role.OTHER or _reported(source, start, end)
    stated = not hearsay and _stated_by_owner(source, start, end)
    return Evidence(
        utterance=source.utterance,
        start=start,
        end=end,
        text=text,
        ceiling=Confidence.VALIDATED if stated else Confidence.RAW,
        hearsay=hearsay,
    )


def _reported(source: Source, start: int, end: int) -> bool:
    """Look at the whole sentence, and the one before: a quotation may leave "X said" out."""
    if source.utterance.role is not Role.OWNER:
        return False
    sentences = source.around(start, end)
    before = source.before(sentences[0].start) if sentences else None
    texts = [sentence.text for sentence in (*sentences, *([before] if before else []))]
    return any(is_hearsay(text) for text in texts)


def _stated_by_owner(source: Source, start: int, end: int) -> bool:
    if source.utterance.role is not Role.OWNER or source.safe < len(source.utterance.text):
        return False
    sentences = source.around(start, end)
    covered = sum(min(end, s.end) - max(start, s.start) for s in sentences)
    if not sentences or covered < 0.9 * (end - start):
        return False
    said = [without_quotations(sentence.text) for sentence in sentences]
    if any(is_question(text) or is_unsure(text) for text in said):
        return False
    # what stands inside quotation marks is somebody else's wording
    parts = (
        text[max(0, start - s.start) : max(0, end - s.start)]
        for s, text in zip(sentences, said, strict=True)
    )
    return _units("".join(parts)) >= _LEAST_UNITS


def _units(text: str) -> int:
    halves = sum(1 if char.isascii() else 2 for char in text if char.isalnum())
    return halves // 2

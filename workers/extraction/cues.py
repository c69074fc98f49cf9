"""Extraction without a model: rules over the owner's own sentences, verbatim, always raw."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from context_engine.events import Role, Utterance
from context_engine.insights import Kind
from workers.extraction.cue_words.table import REASON, STRONG, WEAK, language_of_sentence
from workers.extraction.sentences import Sentence, own_sentences, without_quotations
from workers.extraction.trust import is_hearsay, is_question, is_unsure, safe_length

NAME = "cues"

MIN_UNITS = 8
"""A shorter sentence says too little to stand alone (see `_units`)."""

MIN_UNITS_STRONG = 5
MAX_SENTENCES = 3
_GAP = 2

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
    for first, last, kind, strong in islice(_groups(sentences), MAX_PER_UTTERANCE):
        said = sentences[first : last + 1]
        before = sentences[first - 1] if first > 0 else None
        yield Finding(
            message,
            kind,
            said[0].start,
            said[-1].end,
            head=said[0].text,
            hearsay=any(is_hearsay(s.text) for s in said)
            or (before is not None and _follows(before, said[0]) and is_hearsay(before.text)),
            strong=strong,
        )


def _groups(sentences: Sequence[Sentence]) -> Iterator[tuple[int, int, Kind, bool]]:
    """Yield (first, last, kind, strong): a cue's sentence, its reason, more of the same kind."""
    position = 0
    while position < len(sentences):
        first = position
        found = _at(sentences, position)
        position += 1
        if found is None:
            continue
        while position < len(sentences) and position - first < MAX_SENTENCES:
            if not _follows(sentences[position - 1], sentences[position]):
                break
            more = _at(sentences, position)
            same = more is not None and more[0] is found[0]
            if not same and not _gives_reason(sentences[position]):
                break
            position += 1
        yield first, position - 1, *found


def _at(sentences: Sequence[Sentence], position: int) -> tuple[Kind, bool] | None:
    here = sentences[position]
    then = sentences[position + 1] if position + 1 < len(sentences) else None
    reason = then is not None and _follows(here, then) and _gives_reason(then)
    return classify(here.text, reason=reason)


def classify(sentence: str, *, reason: bool = False) -> tuple[Kind, bool] | None:
    """Return the kind that the sentence's cue announces and whether it is a strong one.

    reason: the next sentence is one. Who gives reasons for what he says has mostly decided it.
    """
    said = _plain(sentence)
    units = _units(said)
    if units < MIN_UNITS_STRONG or is_question(said) or is_unsure(said):
        return None
    language = language_of_sentence(said)
    for strong, table in ((True, STRONG), (False, WEAK)):
        if not strong and units < MIN_UNITS:
            return None
        for kind, pattern in table[language]:
            if pattern.search(said):
                return kind, strong
    return (Kind.DECISION, False) if reason else None


def _plain(sentence: str) -> str:
    """Return the sentence as the patterns expect it; see `cue_words`."""
    return " ".join(without_quotations(sentence).replace("’", "'").split())


def _units(text: str) -> int:
    """Weigh length across scripts: a Latin letter counts a half, any other a whole."""
    halves = sum(1 if char.isascii() else 2 for char in text if char.isalnum())
    return halves // 2


def _follows(first: Sentence, then: Sentence) -> bool:
    return then.paragraph == first.paragraph and then.start - first.end <= _GAP


def _gives_reason(sentence: Sentence) -> bool:
    said = _plain(sentence.text)
    return REASON[language_of_sentence(said)].search(said) is not None and not is_question(said)

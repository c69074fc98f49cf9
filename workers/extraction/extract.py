"""The pipeline: messages in, insights and counted outcomes out. Pure but for the model it is given.

The model proposes; what decides where an insight goes and how far it is trusted comes from the
context that the caller gives, and from rules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from context_engine.errors import ConfigError, DependencyDownError
from context_engine.events import Utterance
from context_engine.insights import Confidence, Insight
from context_engine.markers import strip_injected
from workers.extraction import cues
from workers.extraction.build import ExtractionContext, from_finding, from_proposal
from workers.extraction.language import owner_language
from workers.extraction.outcomes import Outcome
from workers.extraction.prompts import prompt_tokens
from workers.extraction.protocol import ChatModel
from workers.extraction.reading import Reader
from workers.extraction.schema import Proposal
from workers.extraction.textmatch import fold
from workers.extraction.verify import Source, verify
from workers.extraction.windows import Window, split_windows

MAX_WINDOW_TOKENS = 4_000
"""Small models lose what stands in the middle of a longer text."""
_MIN_WINDOW_TOKENS = 200
_MARGIN_TOKENS = 64


@dataclass(frozen=True)
class ExtractionResult:
    """What came out. `outcomes` counts by the values of `Outcome`.

    `down` says why the model was away; the insights are then those of the rules, to be replaced
    when it comes back. `complete` is False when part of the text was not read.
    """

    insights: tuple[Insight, ...]
    outcomes: Mapping[str, int]
    extractor: str
    down: str | None = None

    @property
    def complete(self) -> bool:
        """Whether every window of the text was read."""
        unread = (
            Outcome.DEADLINE,
            Outcome.SKIPPED,
            Outcome.SERVER_ERROR,
            Outcome.WRONG_MODEL,
            Outcome.LLM_DOWN,
        )
        return not any(self.outcomes.get(outcome) for outcome in unread)


def extract(
    messages: Sequence[Utterance], context: ExtractionContext, llm: ChatModel | None = None
) -> ExtractionResult:
    """Return the insights of `messages`, by `llm` when it is given and answers, else by rules."""
    if llm is None:
        return extract_with_cues(messages, context)
    try:
        return extract_with_model(messages, context, llm)
    except DependencyDownError as error:
        result = extract_with_cues(messages, context)
        outcomes = Counter(result.outcomes) + Counter({Outcome.LLM_DOWN.value: 1})
        return replace(result, outcomes=outcomes, down=str(error))


def extract_with_cues(
    messages: Sequence[Utterance], context: ExtractionContext
) -> ExtractionResult:
    """Return what the owner's own sentences say by rule: verbatim, raw, needing no model."""
    collected, own = _Collected(), _without_injected(messages)
    collected.outcomes[Outcome.INJECTED] = _injected(messages, own)
    for finding in cues.find_cues(own):
        collected.add(from_finding(finding, context), finding.start, finding.end)
    return collected.result(cues.NAME)


def extract_with_model(
    messages: Sequence[Utterance], context: ExtractionContext, llm: ChatModel
) -> ExtractionResult:
    """Return what the model proposes and the source confirms.

    Raises DependencyDownError when the model is away (nothing is lost by asking again), and
    ConfigError when its context is too small to read anything.
    """
    given, messages = messages, _without_injected(messages)
    preceding = _without_injected(context.preceding)
    language = owner_language(messages)
    budget = min(
        MAX_WINDOW_TOKENS,
        llm.num_ctx - llm.num_predict - prompt_tokens(language) - _MARGIN_TOKENS,
    )
    if budget < _MIN_WINDOW_TOKENS:
        raise ConfigError(f"llm.num_ctx {llm.num_ctx} leaves no room for text; raise it")
    collected = _Collected()
    collected.outcomes[Outcome.INJECTED] = _injected(given, messages)
    reader = Reader(llm, language, collected.outcomes)
    for window in split_windows(messages, budget, preceding):
        read = _Read(window)
        for proposal in reader.read(window):
            collected.take(proposal, read, llm.model, context)
    return collected.result(f"ollama:{llm.model}")


def _without_injected(messages: Sequence[Utterance]) -> list[Utterance]:
    """Return the messages without what we ourselves had put into the conversation."""
    return [
        message
        if (text := strip_injected(message.text)) == message.text
        else replace(message, text=text)
        for message in messages
    ]


def _injected(given: Sequence[Utterance], own: Sequence[Utterance]) -> int:
    """Return of how many messages some was ours."""
    return sum(one is not two for one, two in zip(given, own, strict=True))


@dataclass(frozen=True)
class _Read:
    """A window prepared for verification."""

    window: Window

    @cached_property
    def earlier(self) -> list[Utterance]:
        """The messages that only explained the window."""
        own = self.window.messages
        shown = dict.fromkeys(piece.utterance for piece in self.window.context)
        return [message for message in shown if message not in own]

    @cached_property
    def sources(self) -> list[Source]:
        """All messages that the model saw, in order."""
        return [Source(message) for message in (*self.earlier, *self.window.messages)]

    @cached_property
    def seen(self) -> str:
        """Their text, folded."""
        return " ".join(source.folded.text for source in self.sources)


@dataclass
class _Collected:
    """Insights so far, without repetition."""

    insights: dict[str, Insight] = field(default_factory=dict)
    spans: dict[str | None, list[tuple[int, int]]] = field(default_factory=dict)
    outcomes: Counter[str] = field(default_factory=Counter)

    def add(self, insight: Insight, start: int, end: int) -> None:
        """Take an insight whose evidence is [start, end) of its message, unless it is known."""
        spans = self.spans.setdefault(insight.utterance, [])
        folded = fold(insight.evidence).text
        overlap = any(min(end, e) - max(start, s) > (end - start) // 2 for s, e in spans)
        if overlap or folded in self.insights:
            self.outcomes[Outcome.DUPLICATE] += 1
            return
        spans.append((start, end))
        self.insights[folded] = insight
        self.outcomes[Outcome.ACCEPTED] += 1

    def take(self, proposal: Proposal, read: _Read, model: str, context: ExtractionContext) -> None:
        """Verify a proposal and take it, or count why not."""
        evidence = verify(proposal.quote, read.sources)
        if isinstance(evidence, Outcome):
            self.outcomes[evidence] += 1
            return
        if evidence.utterance in read.earlier:
            # its own window has read it before
            self.outcomes[Outcome.DUPLICATE] += 1
            return
        insight = from_proposal(proposal, evidence, read.seen, model, context)
        if proposal.stated and insight.confidence is Confidence.RAW:
            self.outcomes[Outcome.DOWNGRADED] += 1
        self.add(insight, evidence.start, evidence.end)

    def result(self, extractor: str) -> ExtractionResult:
        """Return what was collected."""
        counted = {key: count for key, count in sorted(self.outcomes.items()) if count}
        return ExtractionResult(tuple(self.insights.values()), counted, extractor)

"""The extract job: messages of a source note become insight notes.

The local model distils when it answers. Until then the rules (`cues`) do, and the job waits for
the model, which replaces what the rules wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

from context_engine.clock import SystemClock
from context_engine.errors import (
    ContextEngineError,
    DeadlineExceededError,
    DependencyDownError,
    LLMOutputError,
    NotFoundError,
)
from context_engine.events import Utterance
from context_engine.home import Home
from context_engine.scopes import Scope
from context_engine.settings import Settings
from index.embedding.factory import make_embedder
from index.search import Searcher
from vault.insights import remove_provisional
from vault.marks import Standing
from vault.notes import Note, read_note
from workers.consolidation.intake import Memory, take_in
from workers.consolidation.judge import ModelJudge
from workers.extraction.build import ExtractionContext
from workers.extraction.client import OllamaModel
from workers.extraction.extract import ExtractionResult, extract_with_cues, extract_with_model
from workers.extraction.outcomes import Outcome as Outcomes
from workers.indexer_jobs import index_job
from workers.outbox import Outbox
from workers.outbox_model import Job, Outcome
from workers.standing import check_insights

PRECEDING = 4
"""Older messages that the model is shown to understand the new ones."""

_UNUSABLE = (
    Outcomes.BAD_JSON,
    Outcomes.CONTEXT_OVERFLOW,
    Outcomes.ECHOED_SCHEMA,
    Outcomes.REPETITION,
    Outcomes.TOO_LARGE,
    Outcomes.TRUNCATED,
)

_LLM_DOWN = f"extract.{Outcomes.LLM_DOWN}"

OLLAMA = "ollama"
"""Dependency name of the local model."""


def extract_work(
    settings: Settings, outbox: Outbox | None = None
) -> Callable[[Job, str | None], Outcome]:
    """Return the work of the extract queue. `outbox` keeps the counts of what failed."""
    model = None if settings.llm.mode == "cues" else OllamaModel.from_settings(settings)
    clock = SystemClock()
    home = settings.paths
    # words alone: a bulk import by rules must not wait for vectors
    by_rules = Memory(home, Searcher(home, None))
    embedder = make_embedder(settings.embedding, settings.models_dir, settings.ollama_url)
    by_meaning = Searcher(home, embedder)

    def extract(job: Job, _event: str | None) -> Outcome:
        scope = Scope(job.arguments["scope"])
        note = read_note(settings.paths, scope, job.arguments["path"])
        earlier, messages = _split(note, frozenset(job.arguments["markers"]))
        context = ExtractionContext(
            scope=scope,
            source=note.source or "unknown",
            extracted_at=clock.now(),
            event_id=job.event_id,
            source_path=note.path,
            project=note.project,
            refs=note.refs,
            preceding=earlier[-PRECEDING:],
        )
        if model is None:
            return _checked(home, note, _save(by_rules, job, extract_with_cues(messages, context)))
        memories = (by_rules, Memory(home, by_meaning, ModelJudge(model)))
        done, failure = _with_model(settings, model, job, _Read(messages, context), memories)
        outcome = _checked(home, note, done)
        if failure is None:
            return outcome
        if outbox is not None:
            outbox.note(job, outcome)
        raise failure

    return extract


def _checked(home: Home, note: Note, outcome: Outcome) -> Outcome:
    """Follow what its source changed while a model read: minutes, now and then."""
    with suppress(NotFoundError):
        if read_note(home, note.scope, note.path).digest == note.digest:
            return outcome
    scope = note.scope.value
    changed = [(scope, path) for path in check_insights(home, note.scope, [note.path])]
    jobs = tuple(index_job(*place) for place in changed)
    return replace(
        outcome, follow_ups=(*outcome.follow_ups, *jobs), paths=(*outcome.paths, *changed)
    )


@dataclass(frozen=True)
class _Read:
    messages: Sequence[Utterance]
    context: ExtractionContext

    def by_rules(self) -> ExtractionResult:
        """Return what rules find."""
        return extract_with_cues(self.messages, self.context)


class _Stored(Utterance):
    """An utterance read back from the vault, which keeps its marker but not its native id."""

    @cached_property
    def marker(self) -> str:
        return self.native_id


def _split(note: Note, markers: frozenset[str]) -> tuple[tuple[Utterance, ...], list[Utterance]]:
    """Return the messages before the wanted ones, and the wanted ones.

    One that a person edited is nobody's speech any more, nor is one that its source deleted.
    """
    said: list[Utterance] = [
        _Stored(m.marker, m.author, m.role, m.at, m.text)
        for m in note.messages
        if not m.edited and not m.withdrawn and note.standing is not Standing.WITHDRAWN
    ]
    wanted = [message for message in said if message.marker in markers]
    first = said.index(wanted[0]) if wanted else 0
    return tuple(said[:first]), wanted


def _with_model(
    settings: Settings,
    model: OllamaModel,
    job: Job,
    read: _Read,
    memories: tuple[Memory, Memory],
) -> tuple[Outcome, ContextEngineError | None]:
    """Return what was done, and why it is not enough."""
    by_rules, by_model = memories
    try:
        result = extract_with_model(read.messages, read.context, model)
    except DependencyDownError as down:
        away = {_LLM_DOWN: 1}
        if settings.llm.mode == "ollama":
            return Outcome(waits_for=down, outcomes=away), None
        # provisional: the job waits, and the model replaces this when it is there
        provisional = _save(by_rules, job, read.by_rules(), waits_for=down)
        return replace(provisional, outcomes={**provisional.outcomes, **away}), None
    if not _read_all(result) and settings.llm.mode == "auto":
        _save(by_rules, job, read.by_rules())
    outcome = _save(by_model, job, result, replaces=_read_all(result))
    return outcome, None if result.complete else _failure(result, settings)


def _failure(result: ExtractionResult, settings: Settings) -> ContextEngineError:
    """Return why part of the text was not read, under its counted name."""
    if result.outcomes.get(Outcomes.DEADLINE):
        return DeadlineExceededError("a call of the local model", settings.llm.deadline_seconds)
    causes = (*_UNUSABLE, Outcomes.WRONG_MODEL, Outcomes.SERVER_ERROR, Outcomes.SKIPPED)
    cause = next(name for name in causes if result.outcomes.get(name))
    counted = ", ".join(f"{count} {name}" for name, count in result.outcomes.items())
    return LLMOutputError(cause.value, f"the local model's answers cannot be used ({counted})")


def _read_all(result: ExtractionResult) -> bool:
    """Return whether the model gave a usable answer to all of the text.

    What the rules wrote is taken out only then: a model that talks nonsense must not empty a
    memory.
    """
    return result.complete and not any(result.outcomes.get(name) for name in _UNUSABLE)


def _save(
    memory: Memory,
    job: Job,
    result: ExtractionResult,
    *,
    replaces: bool = False,
    waits_for: DependencyDownError | None = None,
) -> Outcome:
    changed: dict[tuple[str, str], None] = {}
    if replaces and job.event_id is not None:
        keep = {insight.insight_id for insight in result.insights}
        for removed in remove_provisional(memory.home, _scope(job), job.event_id, keep=keep):
            changed[job.arguments["scope"], removed] = None
    taken = take_in(memory, result.insights)
    changed |= taken.changed
    return Outcome(
        result={
            "insights": taken.kinds,
            "rejected": taken.rejected,
            "memory": taken.counts,
            "outcomes": {str(name): count for name, count in result.outcomes.items()},
            "extractor": result.extractor,
        },
        follow_ups=tuple(index_job(scope, path) for scope, path in changed),
        paths=tuple(changed),
        outcomes=_prefixed("extract", result.outcomes) | _prefixed("memory", taken.counts),
        waits_for=waits_for,
    )


def _prefixed(prefix: str, outcomes: Mapping[str, int]) -> dict[str, int]:
    return {f"{prefix}.{name}": count for name, count in outcomes.items()}


def _scope(job: Job) -> Scope:
    return Scope(job.arguments["scope"])


def llm_is_up(settings: Settings) -> bool:
    """Return whether the local model finished a real one-token generation just now."""
    return OllamaModel.from_settings(settings).health(max_age=0.0).ok

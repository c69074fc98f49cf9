"""Save something worth keeping. Whatever a client says, it is raw until a person confirms it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from api.caller import Caller
from api.operations.base import Answer, Operation, Request, Services, Word, Words
from api.operations.earlier import first_saved
from api.operations.found import Found, clip, found
from api.operations.quoting import Label
from api.problems import problem_of
from context_engine.errors import ContextEngineError, UsageError
from context_engine.insights import Confidence, Insight, Kind
from context_engine.logs import get_logger
from context_engine.markers import strip_injected
from index.model import SearchRequest

if TYPE_CHECKING:
    from context_engine.redaction import RedactionOptions
    from workers.consolidation.consolidate import Consolidated

MAX_TITLE = 200
MAX_CONTENT = 8_000
MAX_EVIDENCE = 2_000
_SIMILAR = 3
_MAX_TITLE_SHOWN = 120
_CANDIDATES = 10
_COMPARED = 500
"""Characters of the content that are looked for in what is known already."""

log = get_logger(__name__)


class SaveInsightRequest(Request):
    """One statement, understandable by itself years later."""

    kind: Annotated[
        Kind,
        Field(
            description="value: principle or preference. decision: a choice and its reason. "
            "learning: cause and fix, fact, technique. project: goal, status or next step of a "
            "project (give project). person: how to work with someone (give people)."
        ),
    ]
    title: Annotated[
        str, Field(min_length=1, max_length=MAX_TITLE, description="The statement in one line.")
    ]
    content: Annotated[
        str,
        Field(
            min_length=1,
            max_length=MAX_CONTENT,
            description="The whole statement with its reason, in the owner's language.",
        ),
    ]
    evidence: Annotated[
        str | None,
        Field(min_length=1, max_length=MAX_EVIDENCE, description="What was said, word for word."),
    ] = None
    project: Annotated[Word | None, Field(description="The project it belongs to.")] = None
    people: Annotated[Words, Field(description="People it is about, by name.")] = ()
    tags: Annotated[Words, Field(description="A few words to find it by.")] = ()

    @model_validator(mode="after")
    def _has_subject(self) -> Self:
        if self.kind is Kind.PROJECT and self.project is None:
            raise ValueError("kind 'project' needs project: which one it is about")
        if self.kind is Kind.PERSON and not self.people:
            raise ValueError("kind 'person' needs people: whom it is about")
        return self


class Resembles(BaseModel):
    """A known insight that the new one was held against."""

    model_config = ConfigDict(frozen=True)

    path: Annotated[str, Field(description="Its note; read_memory takes it.")]
    title: str
    similarity: Annotated[float, Field(description="Of the words, 0 to 1.")]
    relation: Annotated[
        str,
        Field(
            description="duplicate; supersedes: the new replaced it; superseded_by: it is newer; "
            "contradicts: it counts for more and stays, tell the owner; separate."
        ),
    ]


class SaveInsightAnswer(Answer):
    """Where it went."""

    path: Annotated[str, Field(description="Its note; read_memory takes it. Empty: rejected.")]
    insight_id: str
    outcome: Annotated[
        str,
        Field(
            description="created; updated or unchanged: it was known already, path is that note; "
            "kept: the owner edited that note, which stays as it is; rejected: the owner turned "
            "it down before, nothing was written."
        ),
    ]
    relation: Annotated[
        str,
        Field(
            description="separate: new. duplicate: merged as evidence into path. supersedes: it "
            "replaced older notes, which stay and say so."
        ),
    ]
    resembles: Annotated[
        tuple[Resembles, ...], Field(description="Known insights like it, the nearest first.")
    ]
    confidence: Label
    redacted: Annotated[
        dict[str, int], Field(description="Secrets that were taken out before saving, by kind.")
    ]
    similar: Annotated[
        tuple[Found, ...],
        Field(description="What was known before and resembles it: check for contradictions."),
    ]
    warnings: tuple[str, ...]

    def result_ids(self) -> tuple[str, ...]:
        """Return the note written."""
        return (self.path,) if self.path else ()


def save_insight(
    services: Services, caller: Caller, given: SaveInsightRequest
) -> SaveInsightAnswer:
    """Write the insight into the caller's own vault, durable when this returns.

    What is known already gains evidence instead; what contradicts it is replaced.

    Raises UsageError when nothing of it is the client's own words, NoteConflictError when a
    person keeps saving the same note.
    """
    from workers.consolidation.consolidate import consolidate

    request, redacted = _redacted(given, services.redaction)
    insight = _insight(caller, request, services.clock.now())
    earlier = first_saved(services.home, insight)
    insight = replace(insight, created=earlier) if earlier else insight
    written = consolidate(services.home, insight, services.index)
    path = f"{caller.scope.value}/{written.path}" if written.path else ""
    warnings: list[str] = []
    for changed in written.changed:
        _tell_indexer(services, caller, changed, warnings)
    return SaveInsightAnswer(
        path=path,
        insight_id=written.insight_id,
        outcome=written.outcome,
        relation=written.relation,
        resembles=_resembles(caller, written),
        confidence=Confidence.RAW,
        redacted=redacted,
        similar=_similar(services, caller, insight, path, warnings),
        warnings=tuple(warnings),
    )


def _insight(caller: Caller, request: SaveInsightRequest, now: datetime) -> Insight:
    title = strip_injected(request.title).strip()
    content = strip_injected(request.content).strip()
    if not title or not content:
        raise UsageError("title and content must say something that this memory did not tell you")
    return Insight(
        scope=caller.scope,
        kind=request.kind,
        title=title,
        content=content + _quoted(request.evidence),
        confidence=Confidence.RAW,
        # nobody can check a client's quotation: it is part of what the client says
        evidence="",
        source=caller.client,
        source_path=None,
        event_id=None,
        utterance=None,
        extractor=f"client:{caller.client}",
        created=now,
        project=request.project,
        subject=_subject(request),
        people=request.people,
        tags=request.tags,
    )


def _subject(request: SaveInsightRequest) -> str | None:
    if request.kind is Kind.PROJECT:
        return request.project
    return request.people[0] if request.kind is Kind.PERSON else None


def _quoted(evidence: str | None) -> str:
    text = strip_injected(evidence or "").strip()
    if not text:
        return ""
    return "\n\n" + "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def _redacted(
    request: SaveInsightRequest, options: RedactionOptions | None
) -> tuple[SaveInsightRequest, dict[str, int]]:
    """Return the request without secrets and what else the owner wants out, counted by kind.

    Before anything is made of it: an insight's id must not be one of a secret either.
    """
    from context_engine.redaction import RedactionOptions, redact

    counts: Counter[str] = Counter()

    def clean(text: str) -> str:
        found = redact(text, options or RedactionOptions())
        counts.update(found.counts)
        return found.text

    changes = {
        "title": clean(request.title),
        "content": clean(request.content),
        "evidence": request.evidence and clean(request.evidence),
        "project": request.project and clean(request.project),
        "people": tuple(map(clean, request.people)),
        "tags": tuple(map(clean, request.tags)),
    }
    return request.model_copy(update=changes), dict(counts)


def _tell_indexer(services: Services, caller: Caller, path: str, warnings: list[str]) -> None:
    try:
        services.notify(caller.scope, path)
    except Exception as error:  # noqa: BLE001 - it is saved; the indexer's scan finds it anyway
        log.warning("indexer_not_told", path=path, reason=str(error))
        warnings.append("saved; it becomes searchable with the next scan")


def _resembles(caller: Caller, written: Consolidated) -> tuple[Resembles, ...]:
    return tuple(
        Resembles(
            path=f"{caller.scope.value}/{item.path}",
            title=clip(item.title, _MAX_TITLE_SHOWN),
            similarity=item.similarity,
            relation=item.relation,
        )
        for item in written.resembled
    )


def _similar(
    services: Services, caller: Caller, insight: Insight, path: str, warnings: list[str]
) -> tuple[Found, ...]:
    text = f"{insight.title} {insight.content[:_COMPARED]}"
    try:
        result = services.index.search(caller.scope, SearchRequest(text, limit=_CANDIDATES))
    except ContextEngineError as error:
        warnings.append(f"saved, but not compared: {problem_of(error).message}")
        return ()
    # by meaning alone everything resembles everything a little
    hits = [found(hit) for hit in result.hits if hit.bm25_rank and hit.vector_rank]
    return tuple(hit for hit in hits if hit.path != path)[:_SIMILAR]


SAVE_INSIGHT = Operation(
    name="save_insight",
    title="Save an insight",
    description=(
        "Save one decision, learning, value, project news or fact about a person, when the owner "
        "states it or asks you to. It is kept as raw until they confirm it. Saving the same again "
        "only adds evidence. Look at resembles in the answer, tell the owner of contradictions."
    ),
    request=SaveInsightRequest,
    answer=SaveInsightAnswer,
    run=save_insight,
    writes=True,
)

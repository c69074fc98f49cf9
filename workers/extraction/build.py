"""From what was found or proposed to an `Insight`; scope and source come from the caller."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from context_engine.events import Ref, Role, Utterance
from context_engine.insights import Confidence, Insight, Kind
from context_engine.scopes import Scope
from workers.extraction.clean import clean, clean_tag, clean_title, title_from
from workers.extraction.cues import NAME, Finding
from workers.extraction.grounding import known_name, ungrounded
from workers.extraction.names import people_in, subject_of
from workers.extraction.schema import MAX_CONTENT, MAX_TITLE, Proposal
from workers.extraction.verify import HEARSAY_TAGS, Evidence

_RESERVED = frozenset({*HEARSAY_TAGS, NAME, "raw", "validated", "identity", "owner"})


@dataclass(frozen=True)
class ExtractionContext:
    """What the caller fixed; no model and no text can change it."""

    scope: Scope
    source: str
    extracted_at: datetime
    """UTC; the date of an insight whose message has none."""
    event_id: str | None = None
    source_path: str | None = None
    project: str | None = None
    refs: tuple[Ref, ...] = ()
    preceding: tuple[Utterance, ...] = ()
    """Older messages of the conversation: shown to the model, never a source of evidence."""


def from_finding(finding: Finding, context: ExtractionContext) -> Insight:
    """Return the raw, verbatim insight of one cue."""
    evidence = finding.evidence
    tags = (NAME, *HEARSAY_TAGS) if finding.hearsay else (NAME,)
    about = subject_of(evidence) if finding.kind is Kind.PERSON else None
    return _insight(
        context,
        finding.utterance,
        kind=finding.kind,
        title=title_from(finding.head),
        content=evidence,
        confidence=Confidence.RAW,
        evidence=evidence,
        extractor=NAME,
        subject=context.project if finding.kind is Kind.PROJECT else about,
        people=people_in(evidence),
        tags=tags,
        owner_said=not finding.hearsay,
    )


def from_proposal(
    proposal: Proposal, evidence: Evidence, seen: str, model: str, context: ExtractionContext
) -> Insight:
    """Return the insight of one verified proposal; `seen` is the folded text the model read."""
    invented = ungrounded(proposal.content, seen)
    content = evidence.text if invented else clean(proposal.content, MAX_CONTENT)
    title = clean_title(proposal.title, MAX_TITLE)
    if not title or ungrounded(title, seen):
        title = title_from(evidence.text)
    validated = proposal.stated and not invented and evidence.ceiling is Confidence.VALIDATED
    return _insight(
        context,
        evidence.utterance,
        kind=proposal.kind,
        title=title,
        content=content or evidence.text,
        confidence=Confidence.VALIDATED if validated else Confidence.RAW,
        evidence=evidence.text,
        extractor=f"ollama:{model}",
        subject=_subject(proposal, seen, context),
        people=_people(proposal.people, seen),
        tags=_tags(proposal.tags, hearsay=evidence.hearsay),
        owner_said=evidence.utterance.role is Role.OWNER and not evidence.hearsay,
    )


def _subject(proposal: Proposal, seen: str, context: ExtractionContext) -> str | None:
    if proposal.kind is Kind.PROJECT and context.project is not None:
        return context.project
    if proposal.kind not in (Kind.PROJECT, Kind.PERSON):
        return None
    return known_name(clean(proposal.subject, 40), seen)


def _people(names: tuple[str, ...], seen: str) -> tuple[str, ...]:
    known = (known_name(clean(name, 40), seen) for name in names)
    return tuple(dict.fromkeys(name for name in known if name is not None))[:4]


def _tags(tags: tuple[str, ...], *, hearsay: bool) -> tuple[str, ...]:
    own = HEARSAY_TAGS if hearsay else ()
    proposed = (clean_tag(tag) for tag in tags)
    return (*own, *dict.fromkeys(tag for tag in proposed if tag and tag not in _RESERVED))[:6]


def _insight(  # noqa: PLR0913 -- one place that names every field
    context: ExtractionContext,
    utterance: Utterance,
    *,
    kind: Kind,
    title: str,
    content: str,
    confidence: Confidence,
    evidence: str,
    extractor: str,
    subject: str | None,
    people: tuple[str, ...],
    tags: tuple[str, ...],
    owner_said: bool,
) -> Insight:
    created = utterance.at or context.extracted_at
    return Insight(
        scope=context.scope,
        kind=kind,
        title=title,
        content=content,
        confidence=confidence,
        evidence=evidence,
        source=context.source,
        source_path=context.source_path,
        event_id=context.event_id,
        utterance=utterance.marker,
        extractor=extractor,
        created=created,
        verified=created if confidence is Confidence.VALIDATED else None,
        project=context.project,
        subject=subject,
        people=people,
        tags=tags,
        refs=context.refs,
        owner_said=owner_said,
    )
